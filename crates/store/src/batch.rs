//! A batch: everything one operation writes, decided before the engine sees it.
//!
//! There are no interactive transactions. What a writer must be sure of while it writes, it
//! states as an expectation on a step, and the engine aborts the whole batch where it is unmet.

use std::borrow::Cow;

use mnemic_core::recall::ItemKind;
use mnemic_core::{Code, Error, Result};
use uuid::Uuid;

use crate::{Statement, Value};

/// How many rows a step must return, or change where it returns none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Any,
    Rows(u64),
    AtLeast(u64),
}

impl Expect {
    const fn is_met_by(self, rows: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Rows(wanted) => rows == wanted,
            Self::AtLeast(wanted) => rows >= wanted,
        }
    }
}

/// One statement of a batch, with what it must achieve.
#[derive(Debug)]
pub struct Step {
    pub(crate) statement: &'static Statement,
    pub(crate) params: Vec<Value>,
    expect: Expect,
    code: Code,
    detail: Cow<'static, str>,
}

impl Step {
    /// A step that expects nothing.
    pub fn new(statement: &'static Statement, params: Vec<Value>) -> Self {
        Self {
            statement,
            params,
            expect: Expect::Any,
            code: Code::Conflict,
            detail: Cow::Borrowed("the record was changed or removed meanwhile"),
        }
    }

    /// Aborts the batch unless the step returns, or changes, this many rows.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    /// The error of an unmet expectation; [`Code::Conflict`] unless said otherwise.
    #[must_use]
    pub fn otherwise(mut self, code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        self.code = code;
        self.detail = detail.into();
        self
    }

    /// For engines: judges the number of rows that the step returned or changed.
    pub(crate) fn judge(&self, rows: u64) -> Result<()> {
        if self.expect.is_met_by(rows) {
            return Ok(());
        }
        tracing::debug!(
            statement = self.statement.name, expect = ?self.expect, rows, "expectation unmet"
        );
        Err(Error::new(self.code, self.detail.clone()))
    }
}

/// A record whose search entry may have changed; without an id, any of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Touched {
    pub kind: ItemKind,
    pub id: Option<Uuid>,
}

/// Steps that are applied in order, all or none.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) steps: Vec<Step>,
    pub(crate) touched: Vec<Touched>,
}

impl Batch {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step; its rows have the same position in the answer.
    pub fn push(&mut self, step: Step) -> &mut Self {
        self.steps.push(step);
        self
    }

    /// Adds a step that expects nothing.
    pub fn run(&mut self, statement: &'static Statement, params: Vec<Value>) -> &mut Self {
        self.push(Step::new(statement, params))
    }

    /// Notes a record whose search entry may change with this batch.
    pub fn touch(&mut self, kind: ItemKind, id: Uuid) -> &mut Self {
        self.touched.push(Touched { kind, id: Some(id) });
        self
    }

    /// Notes that nodes which the batch does not name change with it: whatever is kept of nodes
    /// outside of their rows is made anew.
    pub fn touch_nodes(&mut self) -> &mut Self {
        self.touched.push(Touched { kind: ItemKind::Node, id: None });
        self
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }
}

impl From<Step> for Batch {
    fn from(step: Step) -> Self {
        Self { steps: vec![step], touched: Vec::new() }
    }
}
