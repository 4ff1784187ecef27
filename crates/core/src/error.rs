//! One error for the whole product, classed by what a caller can do about it.
//!
//! Every surface maps [`Kind`] and [`Code`] to its own form (HTTP status, MCP error, exit
//! code); nothing else may invent codes. Messages are lower-case, say what is wrong and, where
//! it is not obvious, what to do.

use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing of that name is visible to the caller.
    NotFound,
    /// The state does not allow it, or somebody else was faster: read again, then retry.
    Conflict,
    /// The request itself is wrong: correct it.
    Invalid,
    /// No valid credentials were given.
    Unauthenticated,
    /// The credentials do not allow it.
    Denied,
    /// More than a stated limit.
    TooLarge,
    /// Too many requests: wait, then retry.
    Limited,
    /// A part is away or out of room: retry later, unchanged.
    Unavailable,
    /// Stored data is damaged: run `mnemic doctor`.
    Corrupt,
    /// A fault of ours.
    Internal,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $kind:ident, $title:literal;)*) => {
        /// The stable words that clients may match on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            pub const fn word(self) -> &'static str {
                match self { $(Code::$name => $word,)* }
            }

            pub const fn kind(self) -> Kind {
                match self { $(Code::$name => Kind::$kind,)* }
            }

            /// A short sentence that is the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    NotFound = "not_found", NotFound, "Nothing was found under that name";
    MethodNotAllowed = "method_not_allowed", Invalid, "This address does not take that method";
    InvalidBody = "invalid_body", Invalid, "The request body could not be read";
    InvalidField = "invalid_field", Invalid, "A field has a value that is not allowed";
    InvalidCursor = "invalid_cursor", Invalid, "The cursor is not one that this list gave out";
    UnsupportedMediaType = "unsupported_media_type", Invalid, "The body must be JSON";
    KeyReused = "idempotency_key_reused", Invalid, "The idempotency key was used for another request";
    Unauthenticated = "unauthenticated", Unauthenticated, "A valid bearer token is needed";
    Denied = "denied", Denied, "The token's role does not allow this";
    ForbiddenOrigin = "forbidden_origin", Denied, "Requests from that origin or host are refused";
    Conflict = "conflict", Conflict, "The state does not allow this";
    /// What a decision was based on has changed: take it again. Core does so by itself.
    Stale = "changed_meanwhile", Conflict, "Somebody else changed it at the same moment";
    /// It was erased, and does not come back unless it is revived.
    Erased = "erased", Conflict, "The same was erased before";
    /// Nothing is captured while the master toggle is off.
    MemoryDisabled = "memory_disabled", Conflict, "Memory is switched off in this workspace";
    /// A paused worker finds that its job went to another: it must commit nothing more.
    ClaimLost = "claim_lost", Conflict, "Another server took the job over";
    TooLarge = "too_large", TooLarge, "The request is larger than the limit";
    RateLimited = "rate_limited", Limited, "Too many requests";
    Overloaded = "overloaded", Unavailable, "The server is at its limit of concurrent requests";
    Timeout = "timeout", Unavailable, "The request took too long";
    StoreUnavailable = "store_unavailable", Unavailable, "The store cannot be written or read right now";
    ModelUnavailable = "model_unavailable", Unavailable, "The model is not available right now";
    /// A model answered, but with nothing that can be used.
    ModelAnswer = "model_answer_unusable", Unavailable, "The model's answer cannot be used";
    NoModel = "no_model", Conflict, "No language model is configured";
    SlotsUnavailable = "slots_unavailable", Unavailable, "Slots cannot be written or read right now";
    Corrupt = "corrupt", Corrupt, "Stored data is damaged";
    Internal = "internal", Internal, "Something went wrong inside Mnemic";
}

/// An error with a stable code and a detail for people.
#[derive(Debug, thiserror::Error)]
pub struct Error {
    code: Code,
    detail: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl Error {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), source: None }
    }

    /// Keeps the cause for the log; it is never shown to a client.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The one answer for anything that is absent, foreign or hidden, so that the three
    /// cannot be told apart.
    pub fn not_found(noun: &str) -> Self {
        Self::new(Code::NotFound, format!("no such {noun}"))
    }

    pub fn invalid(field: &str, problem: impl fmt::Display) -> Self {
        Self::new(Code::InvalidField, format!("{field}: {problem}"))
    }

    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(Code::Conflict, detail)
    }

    pub fn denied(detail: impl Into<String>) -> Self {
        Self::new(Code::Denied, detail)
    }

    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new(Code::Internal, detail)
    }

    pub const fn code(&self) -> Code {
        self.code
    }

    pub const fn kind(&self) -> Kind {
        self.code.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn words_are_unique() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
