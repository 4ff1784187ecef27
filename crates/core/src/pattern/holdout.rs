//! Which sessions are told nothing, so that what telling does can be measured.

use sha2::{Digest as _, Sha256};

use crate::ids::WorkspaceId;

/// Whether a session is one of the share that is held out. The same session always is or is not,
/// and whoever is held out at a share is held out at every greater one.
pub(super) fn is_held_out(workspace: WorkspaceId, session: &str, share: f64) -> bool {
    draw(workspace, session) < share
}

/// A number from 0 up to but not 1, which is the session's own.
fn draw(workspace: WorkspaceId, session: &str) -> f64 {
    let digest = Sha256::new()
        .chain_update("holdout")
        .chain_update(workspace.0.as_bytes())
        .chain_update(session)
        .finalize();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    // As many bits as a float has, so that no draw is rounded up to 1.
    (u64::from_be_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn held_out(share: f64) -> usize {
        let workspace = WorkspaceId(Uuid::from_u128(7));
        (0..10_000).filter(|n| is_held_out(workspace, &format!("run-{n}"), share)).count()
    }

    #[test]
    fn as_many_are_held_out_as_was_asked_for() {
        assert_eq!(held_out(0.0), 0);
        assert_eq!(held_out(1.0), 10_000);
        for share in [0.05, 0.2, 0.5] {
            let wanted = 10_000.0 * share;
            let found = held_out(share) as f64;
            assert!((found - wanted).abs() < 4.0 * (wanted * (1.0 - share)).sqrt(), "{found}");
        }
    }

    #[test]
    fn a_session_stays_where_it_is() {
        let (one, other) = (WorkspaceId(Uuid::from_u128(1)), WorkspaceId(Uuid::from_u128(2)));
        let draws: Vec<_> = (0..100).map(|n| draw(one, &format!("s{n}"))).collect();
        assert_eq!(draws, (0..100).map(|n| draw(one, &format!("s{n}"))).collect::<Vec<_>>());
        assert_ne!(draws, (0..100).map(|n| draw(other, &format!("s{n}"))).collect::<Vec<_>>());
        // So that another server, of any version, decides the same.
        assert!((draws[0] - 0.309_718_184_977_965_3).abs() < 1e-12, "{}", draws[0]);
    }
}
