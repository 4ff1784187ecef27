//! Who runs a server: PostgreSQL refuses to run as root, so root hands over to `nobody`.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

const NOBODY_DEFAULT: u32 = 65_534;

/// An unprivileged user to hand over to, or nobody in particular where we are not root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct User(Option<(u32, u32)>);

impl User {
    pub(crate) fn unprivileged() -> Self {
        let root = std::fs::metadata("/proc/self").is_ok_and(|us| us.uid() == 0);
        Self(root.then(nobody))
    }

    pub(crate) fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Self(Some((user, group))) = self {
            command.uid(user).gid(group);
        }
        command
    }

    pub(crate) fn give(self, path: &Path) {
        if let Self(Some((user, group))) = self {
            chown(path, Some(user), Some(group)).expect("a directory of ours can be handed over");
        }
    }
}

fn nobody() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    users
        .lines()
        .filter_map(|line| line.strip_prefix("nobody:")?.split_once(':'))
        .find_map(|(_, rest)| {
            let mut ids = rest.split(':').map(|id| id.parse().ok());
            Some((ids.next()??, ids.next()??))
        })
        .unwrap_or((NOBODY_DEFAULT, NOBODY_DEFAULT))
}
