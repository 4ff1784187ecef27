//! Data that benches read from where it lies: lines of JSON, and texts that are cut to what a
//! record may hold.

use std::path::Path;

use anyhow::{Context, Result};
use mnemic_core::text::check_content;
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

/// The beginning of a text, of at most so many bytes, with spaces for what no record takes:
/// collections are full of control characters that nobody meant.
pub fn cut(text: &str, bytes_max: usize) -> String {
    let first = &text[..text.floor_char_boundary(bytes_max)];
    if check_content("text", first, bytes_max).is_ok() {
        return first.to_owned();
    }
    let is_taken = |c: char| check_content("text", &format!("x{c}"), bytes_max).is_ok();
    first.chars().map(|c| if is_taken(c) { c } else { ' ' }).collect()
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
    fn what_is_cut_is_what_a_record_takes() {
        for (bytes_max, expected) in [(2, "n"), (3, "né"), (99, "né")] {
            assert_eq!(cut("né", bytes_max), expected);
        }
        assert_eq!(cut("one\u{19}two\nthree", 99), "one two\nthree");
    }
}
