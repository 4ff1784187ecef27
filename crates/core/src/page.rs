//! Lists are cut into pages; a cursor is opaque to clients and good for one kind of list only.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{Code, Error, Result};

pub const LIMIT_DEFAULT: usize = 50;
pub const LIMIT_MAX: usize = 200;

/// What a client asks of a list.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

impl PageRequest {
    pub fn limit(&self) -> Result<usize> {
        check_limit(self.limit, LIMIT_DEFAULT, LIMIT_MAX)
    }

    /// Where to go on, if this is not the first page of the list called `list`.
    pub fn position(&self, list: &str) -> Result<Option<Position>> {
        self.cursor.as_deref().map(|cursor| Position::decode(list, cursor)).transpose()
    }

    /// The name to go on behind, if this is not the first page of a list ordered by names.
    pub fn name(&self, list: &str) -> Result<Option<String>> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        match unseal(list, cursor)?.as_slice() {
            [NAME, name @ ..] => {
                String::from_utf8(name.to_vec()).map(Some).map_err(|_| unknown_cursor())
            }
            _ => Err(unknown_cursor()),
        }
    }

    /// The record to go on behind, if this is not the first page of a list ordered by time.
    pub fn dated(&self, list: &str) -> Result<Option<Dated>> {
        let name = self.name(list)?;
        name.map(|name| Dated::decode(&name).ok_or_else(unknown_cursor)).transpose()
    }

    /// The cursor for what comes behind `name` in a list ordered by names.
    pub fn after(list: &str, name: &str) -> String {
        seal(list, [&[NAME][..], name.as_bytes()].concat())
    }
}

/// Checks a wish for at most so many things.
pub fn check_limit(wish: Option<usize>, default: usize, max: usize) -> Result<usize> {
    match wish {
        None => Ok(default),
        Some(limit) if (1..=max).contains(&limit) => Ok(limit),
        Some(limit) => Err(Error::invalid("limit", format!("{limit} is not between 1 and {max}"))),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Cuts `items`, read with one more than `limit`, and points at the last one kept.
    pub fn cut(
        list: &str,
        mut items: Vec<T>,
        limit: usize,
        position: impl Fn(&T) -> Position,
    ) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor =
            if more { items.last().map(|last| position(last).encode(list)) } else { None };
        Self { items, next_cursor }
    }

    /// The same for a list ordered by time.
    pub fn cut_dated(
        list: &str,
        mut items: Vec<T>,
        limit: usize,
        dated: impl Fn(&T) -> Dated,
    ) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next_cursor = last.map(|last| PageRequest::after(list, &dated(last).encode()));
        Self { items, next_cursor }
    }

    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), next_cursor: self.next_cursor }
    }
}

/// A place in a list ordered by time: behind the record of this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dated {
    pub at: Timestamp,
    pub id: Uuid,
}

impl Dated {
    fn encode(self) -> String {
        format!("{}/{}", self.at.as_microsecond(), self.id)
    }

    fn decode(text: &str) -> Option<Self> {
        let (at, id) = text.split_once('/')?;
        let at = Timestamp::from_microsecond(at.parse().ok()?).ok()?;
        Some(Self { at, id: id.parse().ok()? })
    }
}

/// A place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Behind this record, in lists ordered by id.
    After(Uuid),
    /// Behind so many, in lists ordered by relevance.
    Skip(u64),
}

/// What kind of place a cursor points at.
const ID: u8 = 0;
const COUNT: u8 = 1;
const NAME: u8 = 2;

impl Position {
    fn encode(self, list: &str) -> String {
        let body = match self {
            Self::After(id) => [&[ID][..], id.as_bytes()].concat(),
            Self::Skip(count) => [&[COUNT][..], &count.to_be_bytes()].concat(),
        };
        seal(list, body)
    }

    fn decode(list: &str, cursor: &str) -> Result<Self> {
        match unseal(list, cursor)?.as_slice() {
            [ID, id @ ..] => Uuid::from_slice(id).map(Self::After).map_err(|_| unknown_cursor()),
            [COUNT, count @ ..] => {
                let count = count.try_into().map_err(|_| unknown_cursor())?;
                Ok(Self::Skip(u64::from_be_bytes(count)))
            }
            _ => Err(unknown_cursor()),
        }
    }
}

fn seal(list: &str, mut body: Vec<u8>) -> String {
    body.extend(checksum(list, &body));
    URL_SAFE_NO_PAD.encode(body)
}

fn unseal(list: &str, cursor: &str) -> Result<Vec<u8>> {
    let mut bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| unknown_cursor())?;
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(unknown_cursor)?;
    if *sum != checksum(list, body) {
        return Err(unknown_cursor());
    }
    bytes.truncate(body.len());
    Ok(bytes)
}

fn unknown_cursor() -> Error {
    let detail = "cursor: not one that this list gave out; start again without a cursor";
    Error::new(Code::InvalidCursor, detail)
}

/// Four bytes that tell a cursor of one list from noise and from cursors of other lists.
fn checksum(list: &str, body: &[u8]) -> [u8; 4] {
    let digest = Sha256::new().chain_update(list).chain_update([0]).chain_update(body).finalize();
    [digest[0], digest[1], digest[2], digest[3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_list_only() {
        for position in [Position::After(Uuid::from_u128(7)), Position::Skip(120)] {
            let cursor = position.encode("memories");
            assert_eq!(Position::decode("memories", &cursor).unwrap(), position);
            assert_eq!(
                Position::decode("tokens", &cursor).unwrap_err().code(),
                Code::InvalidCursor
            );
        }
        for noise in ["", "x", "AAAA", "💥", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            Position::decode("memories", noise).unwrap_err();
        }
    }

    #[test]
    fn a_name_goes_through_a_cursor_of_its_own_kind() {
        let named = |cursor: String| PageRequest { limit: None, cursor: Some(cursor) };
        let page = named(PageRequest::after("slots", "v1.2"));
        assert_eq!(page.name("slots").unwrap().as_deref(), Some("v1.2"));
        page.name("others").unwrap_err();
        page.position("slots").unwrap_err();
        named(Position::Skip(1).encode("slots")).name("slots").unwrap_err();
    }

    #[test]
    fn a_moment_goes_through_a_cursor() {
        let at = Timestamp::from_microsecond(1_234_567).unwrap();
        let dated = Dated { at, id: Uuid::from_u128(7) };
        let page = Page::cut_dated("l", vec![1, 2], 1, |_| dated);
        let next = PageRequest { limit: None, cursor: page.next_cursor };
        assert_eq!(next.dated("l").unwrap(), Some(dated));
        next.dated("others").unwrap_err();
        let noise = PageRequest { limit: None, cursor: Some(PageRequest::after("l", "x/y")) };
        noise.dated("l").unwrap_err();
    }

    #[test]
    fn the_last_page_has_no_cursor() {
        let position = |id: &u128| Position::After(Uuid::from_u128(*id));
        assert!(Page::cut("l", vec![1, 2], 2, position).next_cursor.is_none());
        let page = Page::cut("l", vec![1, 2, 3], 2, position);
        assert_eq!(page.items, [1, 2]);
        assert!(page.next_cursor.is_some());
    }
}
