//! What a store knows of a query's words in single items, for those who weigh items together with
//! what stands around them.

#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordEvidence {
    /// How many items of the kind there are.
    pub documents: u64,
    /// How many words they have on average.
    pub average_length: f64,
    /// In how many of them each word of the query is.
    pub held_by: Vec<u64>,
    /// Of each item that was asked for, in that order.
    pub items: Vec<Held>,
}

/// How often one item has each word of the query. One without words has no counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    pub counts: Vec<u32>,
    pub length: u32,
}
