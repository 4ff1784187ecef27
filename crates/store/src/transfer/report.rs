//! What a migration says while it runs and when it is done.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::Checksum;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Looking for rows that the target already has.
    Compare,
    Copy,
    /// Making what the target derives from its rows, such as its lists of words.
    Derive,
    /// Reading the target back.
    Verify,
    /// Writing an export.
    Export,
    /// Reading an export into a store of its own.
    Import,
}

/// How far a step is, in rows.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    pub step: Step,
    pub table: &'a str,
    pub done: u64,
    /// 0 where it is not known.
    pub total: u64,
}

/// One table of one workspace, or of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub workspace: Option<Uuid>,
    pub table: String,
    pub source: Checksum,
    pub target: Checksum,
    /// Rows that the target did not have, or had otherwise.
    pub written: u64,
    /// Rows that the source does not have.
    pub removed: u64,
}

impl Part {
    pub fn is_equal(&self) -> bool {
        self.source == self.target
    }
}

#[derive(Debug, Clone, Default)]
pub struct Report {
    pub parts: Vec<Part>,
    /// The source's workspaces, hidden ones too, and what they are called.
    pub workspaces: BTreeMap<Uuid, String>,
    /// Records for which the target derived something.
    pub derived: u64,
    /// How long each step took.
    pub compared_in: Duration,
    pub copied_in: Duration,
    pub derived_in: Duration,
    pub verified_in: Duration,
}

impl Report {
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.source.rows).sum()
    }

    pub fn written(&self) -> u64 {
        self.parts.iter().map(|part| part.written).sum()
    }

    pub fn removed(&self) -> u64 {
        self.parts.iter().map(|part| part.removed).sum()
    }

    /// Whatever is not the same at both ends.
    pub fn differences(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !part.is_equal())
    }
}
