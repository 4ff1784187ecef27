//! How far something is, for who watches; nothing is drawn where nobody does.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mnemic_store::transfer::{Progress, Step};

pub struct Bar(ProgressBar);

impl Bar {
    /// Counts rows or records.
    pub fn new() -> Self {
        Self::with_template("{msg} {wide_bar} {human_pos}/{human_len}")
    }

    /// Counts bytes.
    pub fn of_bytes() -> Self {
        Self::with_template("{msg} {wide_bar} {binary_bytes}/{binary_total_bytes}")
    }

    fn with_template(template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub fn show(&self, progress: &Progress<'_>) {
        let verb = match progress.step {
            Step::Compare => "comparing",
            Step::Copy => "copying",
            Step::Derive => "listing",
            Step::Verify => "verifying",
            Step::Export => "writing",
            Step::Import => "reading",
        };
        if !self.0.is_hidden() {
            self.set(format!("{verb} {}", progress.table), progress.done, progress.total);
        }
    }

    pub fn set(&self, message: String, done: u64, total: u64) {
        if self.0.is_hidden() {
            return;
        }
        if self.0.message() != message {
            self.0.set_message(message);
        }
        self.0.set_length(total.max(done));
        self.0.set_position(done);
    }

    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
