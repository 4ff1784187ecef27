//! The shapes that go over the wire, shared by REST and MCP so that the two cannot drift.
//!
//! Apart from core's types on purpose: renaming a field inside must not change the contract,
//! and the contract's schemas (OpenAPI, MCP) hang on these types alone.

pub mod action;
pub mod ask;
pub mod audit;
pub mod benchmark;
pub mod context;
pub mod conversation;
pub mod domain;
pub mod edge;
pub mod entity;
pub mod erasure;
pub mod expansion;
pub mod goal;
pub mod grant;
pub mod health;
pub mod job;
pub mod memory;
pub mod metric;
pub(crate) mod misfit;
pub mod model;
pub mod node;
pub mod past;
pub mod pattern;
pub mod policy;
pub mod profile;
pub mod recall;
pub mod review;
pub mod run;
pub mod scratchpad;
pub mod sequence;
pub mod session;
pub mod slot;
pub mod strategy;
pub mod timeline;
pub mod token;
pub mod tool;
pub mod workspace;

use std::fmt;
use std::marker::PhantomData;

use mnemic_core::page::Page;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// One page of a list. `next_cursor` is null on the last.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct PageResponse<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}

impl<T> PageResponse<T> {
    pub fn of<U: Into<T>>(page: Page<U>) -> Self {
        let Page { items, next_cursor } = page.map(Into::into);
        Self { items, next_cursor }
    }
}

/// The schema of whatever JSON a client likes.
pub(crate) fn any(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// Tells a field that is null (`Some(None)`) from one that is absent (`None`); to be used
/// with `#[serde(default)]`.
#[expect(clippy::option_option, reason = "the two levels mean two things")]
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Takes JSON objects only. A derived reader would also take an array of the fields in their
/// order, which no client means and no schema says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// An object or null; to be used with `#[serde(default)]`.
pub(crate) fn optional_object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let object = Option::<Object<T>>::deserialize(deserializer)?;
    Ok(object.map(|Object(value)| value))
}
