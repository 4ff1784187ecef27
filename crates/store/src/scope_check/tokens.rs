//! SQL as a tree of words, in which a parenthesis is one node.
//!
//! The tree makes "at this level" easy to ask: what stands in a nested parenthesis is out of
//! sight. Nothing here knows what the words mean.

/// One piece of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A keyword or name, in lower case.
    Word(String),
    /// `$n`.
    Param(u32),
    /// An operator, comma, dot or semicolon.
    Symbol(String),
    /// A number or string.
    Literal,
    /// What stands between parentheses.
    Group(Vec<Node>),
}

impl Node {
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(it) if it == word)
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        matches!(self, Self::Word(it) if words.contains(&it.as_str()))
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self, Self::Symbol(it) if it == symbol)
    }

    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Every parameter number, however deep.
pub(super) fn parameters(nodes: &[Node], found: &mut Vec<u32>) {
    for node in nodes {
        match node {
            Node::Param(number) => found.push(*number),
            Node::Group(inner) => parameters(inner, found),
            _ => {}
        }
    }
}

pub(super) fn parse(sql: &str) -> Result<Vec<Node>, String> {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let node = match first {
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            _ if rest.starts_with("--") => {
                rest = rest.split_once('\n').map_or("", |it| it.1);
                continue;
            }
            _ if rest.starts_with("/*") => {
                rest = rest.split_once("*/").ok_or("a comment does not end")?.1;
                continue;
            }
            '(' => {
                open.push(Vec::new());
                rest = &rest[1..];
                continue;
            }
            ')' => {
                rest = &rest[1..];
                let inner = open.pop().unwrap_or_default();
                if open.is_empty() {
                    return Err("a parenthesis closes that was not opened".to_owned());
                }
                Node::Group(inner)
            }
            '\'' => quoted(&mut rest, '\'').map(|_| Node::Literal)?,
            '"' => Node::Word(quoted(&mut rest, '"')?.to_lowercase()),
            '$' => {
                rest = &rest[1..];
                let digits = take(&mut rest, |it| it.is_ascii_digit());
                Node::Param(digits.parse().map_err(|_| "parameters must be $1, $2, …")?)
            }
            '?' | '@' => return Err("parameters must be $1, $2, …".to_owned()),
            _ if first.is_ascii_digit() => {
                take(&mut rest, |it| it.is_alphanumeric() || it == '.');
                Node::Literal
            }
            _ if first.is_alphabetic() || first == '_' => {
                Node::Word(take(&mut rest, |it| it.is_alphanumeric() || it == '_').to_lowercase())
            }
            ',' | '.' | ';' | '[' | ']' => {
                rest = &rest[1..];
                Node::Symbol(first.to_string())
            }
            _ => match take(&mut rest, |it| "<>=!+-*/%|&~^#:".contains(it)) {
                "" => return Err(format!("{first} is not understood")),
                operator => Node::Symbol(operator.to_owned()),
            },
        };
        if let Some(level) = open.last_mut() {
            level.push(node);
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(nodes), true) => Ok(nodes),
        _ => Err("a parenthesis does not close".to_owned()),
    }
}

fn take<'a>(rest: &mut &'a str, fits: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|it| !fits(it)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
}

/// What stands between two quotes; a doubled quote stands for itself.
fn quoted(rest: &mut &str, quote: char) -> Result<String, String> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char != quote {
            text.push(char);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            *rest = &rest[at + 1..];
            return Ok(text);
        }
    }
    Err("a quote does not end".to_owned())
}
