//! What a sequence was about, in types alone: never a word of what was said or given.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Key;
use crate::ids::IntentId;

/// Actions that are read for it.
pub(super) const ACTIONS_MAX: usize = 100;
/// Steps that it tells of; the same action again and again is one.
const STEPS_MAX: usize = 20;

/// Shared by all sequences that read the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    pub id: IntentId,
    /// A digest of the text.
    pub key: String,
    pub text: String,
    pub created_at: Timestamp,
}

/// `get_user, search_flight ×2, book on seat failed with PaymentError`.
pub(super) fn summarise(actions: &[Key]) -> String {
    let mut steps: Vec<(&Key, usize)> = Vec::new();
    for key in actions {
        match steps.last_mut() {
            Some((last, times)) if *last == key => *times += 1,
            _ => steps.push((key, 1)),
        }
    }
    let cut = actions.len() >= ACTIONS_MAX || steps.len() > STEPS_MAX;
    let mut text = String::new();
    for (key, times) in steps.into_iter().take(STEPS_MAX) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        tell(&mut text, key, times);
    }
    if cut {
        text.push_str(", …");
    }
    text
}

fn tell(text: &mut String, key: &Key, times: usize) {
    text.push_str(&key.action_type);
    if !key.node_type.is_empty() {
        let _ = write!(text, " on {}", key.node_type);
    }
    if times > 1 {
        let _ = write!(text, " ×{times}");
    }
    if !key.error_code.is_empty() {
        let _ = write!(text, " failed with {}", key.error_code);
    }
}

pub(super) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(action_type: &str, node_type: &str, error_code: &str) -> Key {
        let [action_type, node_type, error_code] =
            [action_type, node_type, error_code].map(str::to_owned);
        Key { action_type, node_type, error_code }
    }

    #[test]
    fn a_summary_tells_steps_and_their_failures() {
        let steps = [
            key("get_user_details", "", ""),
            key("search_flight", "", ""),
            key("search_flight", "", ""),
            key("book_reservation", "seat", "PaymentError"),
        ];
        assert_eq!(
            summarise(&steps),
            "get_user_details, search_flight ×2, book_reservation on seat failed with PaymentError"
        );
    }

    #[test]
    fn a_long_run_is_cut() {
        let steps: Vec<_> = (0..50).map(|n| key(&format!("step{n}"), "", "")).collect();
        let text = summarise(&steps);
        assert_eq!(text.matches("step").count(), STEPS_MAX);
        assert!(text.ends_with("step19, …"));
        assert!(summarise(&steps[..STEPS_MAX]).ends_with("step19"));
    }
}
