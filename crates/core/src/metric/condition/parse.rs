//! Reading a condition. Whatever is wrong is told with its place: the character, counted from 1,
//! what could stand there, and what does.

use super::{ACTIONS_MAX, Condition, DEPTH_MAX, FIELD, Order};
use crate::action::Outcome;
use crate::error::{Error, Result};
use crate::ids::shorten;

pub(super) fn parse(text: &str) -> Result<Condition> {
    let mut parser = Parser { tokens: tokens(text), next: 0, depth: 0 };
    let condition = parser.any()?;
    match parser.peek() {
        Token::End => Ok(condition),
        _ => Err(parser.wrong("`and`, `or` or the end")),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Quoted(String),
    /// A quotation that never ends.
    Open(char),
    Number(String),
    Order(Order),
    Begin,
    Close,
    Stray(char),
    End,
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Word(text) | Self::Number(text) => format!("`{}`", shorten(text)),
            Self::Quoted(text) => format!("'{}'", shorten(text)),
            Self::Open(quote) => format!("a text whose closing {quote} is missing"),
            Self::Order(order) => format!("`{}`", order.as_str()),
            Self::Begin => "`(`".to_owned(),
            Self::Close => "`)`".to_owned(),
            Self::Stray(found) => format!("`{}`", found.escape_debug()),
            Self::End => "the end".to_owned(),
        }
    }

    fn is_word(&self, wanted: &str) -> bool {
        matches!(self, Self::Word(word) if word == wanted)
    }
}

/// A token and the character that it begins at, counted from 1.
struct Placed {
    token: Token,
    at: usize,
}

/// What cannot be a token is one of its own, so that the first mistake is the one that is told.
fn tokens(text: &str) -> Vec<Placed> {
    let characters: Vec<_> = text.chars().collect();
    let (mut tokens, mut place) = (Vec::new(), 0);
    while let Some(first) = characters.get(place) {
        if first.is_whitespace() {
            place += 1;
            continue;
        }
        let (token, length) = token(*first, characters.get(place..).unwrap_or_default());
        tokens.push(Placed { token, at: place + 1 });
        place += length;
    }
    tokens.push(Placed { token: Token::End, at: characters.len() + 1 });
    tokens
}

/// The token at the beginning of `rest`, which is `first` and what follows, and how long it is.
fn token(first: char, rest: &[char]) -> (Token, usize) {
    let run = |of: fn(&char) -> bool| -> String { rest.iter().copied().take_while(of).collect() };
    let order = |single: Token, double: Order| match rest.get(1) {
        Some('=') => (Token::Order(double), 2),
        _ => (single, 1),
    };
    match first {
        '(' => (Token::Begin, 1),
        ')' => (Token::Close, 1),
        '<' => order(Token::Order(Order::Less), Order::AtMost),
        '>' => order(Token::Order(Order::More), Order::AtLeast),
        '=' => order(Token::Stray('='), Order::Equal),
        '!' => order(Token::Stray('!'), Order::Unequal),
        '\'' | '"' => {
            let inner: String = rest.iter().skip(1).take_while(|c| **c != first).collect();
            let length = inner.chars().count() + 2;
            if length > rest.len() {
                (Token::Open(first), rest.len())
            } else {
                (Token::Quoted(inner), length)
            }
        }
        '0'..='9' => {
            let number = run(char::is_ascii_digit);
            let length = number.len();
            (Token::Number(number), length)
        }
        _ if first.is_alphabetic() || first == '_' => {
            let word = run(|c| c.is_alphanumeric() || *c == '_');
            let length = word.chars().count();
            (Token::Word(word), length)
        }
        _ => (Token::Stray(first), 1),
    }
}

struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    depth: usize,
}

impl Parser {
    /// `or` binds least.
    fn any(&mut self) -> Result<Condition> {
        let mut left = self.all()?;
        while self.take_word("or") {
            left = Condition::Or(Box::new(left), Box::new(self.all()?));
        }
        Ok(left)
    }

    fn all(&mut self) -> Result<Condition> {
        let mut left = self.one()?;
        while self.take_word("and") {
            left = Condition::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Condition> {
        if self.take_word("not") {
            return self.deeper(|parser| Ok(Condition::Not(Box::new(parser.one()?))));
        }
        if self.take_word("outcome") {
            return self.outcome();
        }
        if self.take_word("action_count") {
            return self.action_count();
        }
        if *self.peek() != Token::Begin {
            return Err(self.wrong("`outcome`, `action_count`, `not` or `(`"));
        }
        self.next += 1;
        self.deeper(|parser| {
            let inner = parser.any()?;
            if *parser.peek() != Token::Close {
                return Err(parser.wrong("`and`, `or` or `)`"));
            }
            parser.next += 1;
            Ok(inner)
        })
    }

    fn outcome(&mut self) -> Result<Condition> {
        let is = match self.peek() {
            Token::Order(Order::Equal) => true,
            Token::Order(Order::Unequal) => false,
            _ => return Err(self.wrong("`==` or `!=`")),
        };
        self.next += 1;
        let outcome = match self.peek() {
            Token::Quoted(text) if text == "success" => Outcome::Success,
            Token::Quoted(text) if text == "failure" => Outcome::Failure,
            _ => return Err(self.wrong("'success' or 'failure', in quotes")),
        };
        self.next += 1;
        Ok(Condition::Outcome { is, outcome })
    }

    fn action_count(&mut self) -> Result<Condition> {
        let Token::Order(order) = *self.peek() else {
            return Err(self.wrong("one of `<`, `<=`, `>`, `>=`, `==`, `!=`"));
        };
        self.next += 1;
        let count = match self.peek() {
            Token::Number(digits) => digits.parse().ok().filter(|count| *count <= ACTIONS_MAX),
            _ => None,
        };
        let Some(count) = count else {
            return Err(self.wrong(&format!("a whole number from 0 to {ACTIONS_MAX}")));
        };
        self.next += 1;
        Ok(Condition::ActionCount { order, count })
    }

    /// The parser calls itself, so depth has an end.
    fn deeper(&mut self, inner: impl Fn(&mut Self) -> Result<Condition>) -> Result<Condition> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let problem = format!(
                "at character {}: nested more than {DEPTH_MAX} deep; write it flatter",
                self.place()
            );
            return Err(Error::invalid(FIELD, problem));
        }
        let condition = inner(self)?;
        self.depth -= 1;
        Ok(condition)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek().is_word(word);
        self.next += usize::from(found);
        found
    }

    /// The end stays where it is.
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |placed| &placed.token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.next).map_or(0, |placed| placed.at)
    }

    fn wrong(&self, expected: &str) -> Error {
        let (at, found) = (self.place(), self.peek().shown());
        Error::invalid(FIELD, format!("at character {at}: expected {expected}, found {found}"))
    }
}
