//! A batch: everything one operation writes, decided before the engine sees it.
//!
//! There are no interactive transactions. What a writer must be sure of while it writes, it
//! states as an expectation on a step, and the engine aborts the whole batch where it is unmet.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

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
    counted: Option<&'static str>,
}

impl Step {
    /// A step that expects nothing, or the row that its statement adds or requires.
    pub fn new(statement: &'static Statement, params: Vec<Value>) -> Self {
        let step = Self {
            statement,
            params,
            expect: Expect::Any,
            code: Code::Conflict,
            detail: Cow::Borrowed("the record was changed or removed meanwhile"),
            counted: None,
        };
        if statement.adds || statement.requires { step.expect(Expect::Rows(1)) } else { step }
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

    /// Adds the rows that the step returns, or changes, to what the batch's [`Tally`] has of this.
    #[must_use]
    pub fn counted(mut self, noun: &'static str) -> Self {
        self.counted = Some(noun);
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

/// What the counted steps of a batch have done, by noun; what they found nothing of is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    /// For engines: adds what a step did.
    pub(crate) fn add(&mut self, step: &Step, rows: u64) {
        if let (Some(noun), true) = (step.counted, rows > 0) {
            *self.0.entry(noun).or_default() += rows;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(noun, rows)| (*noun, *rows))
    }
}

type Follow = dyn Fn(&Tally) -> Result<Vec<Step>> + Send + Sync;

/// Steps that can be told only from what the others have done. Made while the transaction is
/// open: it must not wait for anything, and may be asked again if the batch is tried again.
pub(crate) struct Sequel(Box<Follow>);

impl Sequel {
    /// For engines: the steps that follow, or an error that undoes the batch.
    pub(crate) fn steps(&self, tally: &Tally) -> Result<Vec<Step>> {
        (self.0)(tally)
    }
}

impl fmt::Debug for Sequel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sequel(…)")
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
    pub(crate) sequel: Option<Sequel>,
    pub(crate) hasty: bool,
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

    /// Adds steps in their order.
    pub fn push_all(&mut self, steps: impl IntoIterator<Item = Step>) -> &mut Self {
        self.steps.extend(steps);
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

    /// Notes that items of a kind which the batch does not name change with it: whatever is kept of
    /// them outside of their rows is made anew.
    pub fn touch_all(&mut self, kind: ItemKind) -> &mut Self {
        self.touched.push(Touched { kind, id: None });
        self
    }

    /// Ends the batch with steps that are made of what the others have done. Their rows are not
    /// part of the answer.
    pub fn then(
        &mut self,
        follow: impl Fn(&Tally) -> Result<Vec<Step>> + Send + Sync + 'static,
    ) -> &mut Self {
        self.sequel = Some(Sequel(Box::new(follow)));
        self
    }

    /// Spares the batch the wait for the disk: it outlives the process, though not the machine
    /// until the next batch that waits.
    pub fn hasty(&mut self) -> &mut Self {
        self.hasty = true;
        self
    }

    /// Whether the database finds out by itself, step by step, all that could undo the batch.
    pub(crate) fn is_self_contained(&self) -> bool {
        let judges_itself = |step: &Step| {
            step.statement.adds || step.statement.requires || step.expect == Expect::Any
        };
        self.sequel.is_none() && self.steps.iter().all(judges_itself)
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
        Self { steps: vec![step], ..Self::default() }
    }
}
