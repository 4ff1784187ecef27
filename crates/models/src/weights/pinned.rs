//! The exact files that make the model, by name, size and hash.
//!
//! The hash is what is trusted, never the carrier.

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

pub(super) const REPOSITORY: &str = "sentence-transformers/all-MiniLM-L6-v2";
pub(super) const REVISION: &str = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41";

pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
    pub(super) sha256: &'static str,
}

pub(super) const MODEL: File = File {
    name: "model.safetensors",
    bytes: 90_868_376,
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};

pub(super) const VOCABULARY: File = File {
    name: "vocab.txt",
    bytes: 231_508,
    sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
};

/// Carries the same vocabulary; accepted beside weights that the user brings.
pub(super) const TOKENIZER: File = File {
    name: "tokenizer.json",
    bytes: 466_247,
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};

/// What is fetched.
pub(super) const FETCHED: [&File; 2] = [&MODEL, &VOCABULARY];

/// The bytes of a file, if they are the pinned ones; otherwise why not.
pub(super) fn read(path: &Path, file: &File) -> Result<Vec<u8>, String> {
    let handle = fs::File::open(path).map_err(|e| e.to_string())?;
    let size = handle.metadata().map_err(|e| e.to_string())?.len();
    if size != file.bytes {
        return Err(format!("{} has {size} bytes instead of {}", file.name, file.bytes));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    handle.take(file.bytes).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    check(file, Sha256::digest(&bytes).as_ref())?;
    Ok(bytes)
}

/// Whether a digest is the pinned one.
pub(super) fn check(file: &File, digest: &[u8]) -> Result<(), String> {
    let found = hex(digest);
    if found == file.sha256 {
        Ok(())
    } else {
        Err(format!("{} has the wrong sha256 {found}", file.name))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: File = File {
        name: "small",
        bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    };

    #[test]
    fn only_the_pinned_bytes_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("small");
        assert!(read(&path, &SMALL).is_err());
        for (content, problem) in [("abcd", "4 bytes"), ("abd", "wrong sha256")] {
            fs::write(&path, content).unwrap();
            assert!(read(&path, &SMALL).unwrap_err().contains(problem));
        }
        fs::write(&path, "abc").unwrap();
        assert_eq!(read(&path, &SMALL).unwrap(), b"abc");
    }
}
