//! Data that benches read from where it lies: lines of JSON, and texts that are cut to what a
//! record may hold.

use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// A value for each line that is not empty.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = read(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse = |(place, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| {
            format!("{}, line {}: not what was expected", path.display(), place + 1)
        })
    };
    lines.map(parse).collect()
}

pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

/// The beginning of a text, of at most so many bytes.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_line_that_is_not_as_expected_is_named() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "[1]\n\n[2, 3]").unwrap();
        let read: Vec<Vec<u8>> = read_lines(file.path()).unwrap();
        assert_eq!(read, [vec![1], vec![2, 3]]);
        writeln!(file, "{{}}").unwrap();
        let error = read_lines::<Vec<u8>>(file.path()).unwrap_err().to_string();
        assert!(error.ends_with("line 4: not what was expected"), "{error}");
        let error = read_lines::<Vec<u8>>(Path::new("nowhere.jsonl")).unwrap_err().to_string();
        assert_eq!(error, "nowhere.jsonl cannot be read");
    }

    #[test]
    fn no_character_is_cut_in_two() {
        assert_eq!((cut("né", 2), cut("né", 3), cut("né", 9)), ("n", "né", "né"));
    }
}
