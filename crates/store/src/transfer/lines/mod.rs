//! A whole store as one file of JSON Lines: a header, a line for each row, and a last line that
//! says how many there were and what they come to. `docs/archive.md` describes it.
//!
//! What is written follows the catalogue, like a migration. What is read is first put into a store
//! of its own, of the version that wrote it, and brought up to date there: so a file that is cut
//! off, damaged or not ours is known before anything of the target is touched, and an old file
//! takes the same way as an old store.

mod header;
mod read;
mod spell;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Staged, stage};
pub(crate) use write::hex;
pub use write::{Exported, export};

/// The version of the format. A file with a higher one is refused.
const VERSION: u64 = 1;
