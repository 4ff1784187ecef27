//! The port for slots, in process and on Redis. Neither knows anything of the store of records.

#[cfg(test)]
mod conformance;
mod in_process;
mod redis;

pub use self::redis::RedisSlots;
pub use in_process::{BYTES_MAX_DEFAULT, CONVERSATION_SLOTS_MAX, InProcessSlots};
