//! Values in PostgreSQL's own types, both ways.
//!
//! The server says what type a parameter or a column has; here is how each of ours reads in it.
//! Only pairs that keep the value exactly are allowed, so that a statement that does not fit the
//! schema fails instead of changing what it stores.

use std::error::Error;

use jiff::Timestamp;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::Value;

/// 2000-01-01, from which PostgreSQL counts its microseconds.
const EPOCH_MICROSECONDS: i64 = 946_684_800_000_000;
/// The name of pgvector's type, which has another number in every database.
const VECTOR: &str = "vector";

type Sql<T> = Result<T, Box<dyn Error + Sync + Send>>;

/// A parameter.
#[derive(Debug)]
pub(super) struct Bound<'a>(pub(super) &'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self, to: &Type, out: &mut BytesMut) -> Sql<IsNull> {
        match (self.0, to) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Bool(bool), &Type::BOOL) => return bool.to_sql(to, out),
            (Value::Int(int), &Type::INT8) => return int.to_sql(to, out),
            (Value::Int(int), &Type::INT4) => return i32::try_from(*int)?.to_sql(to, out),
            (Value::Int(int), &Type::INT2) => return i16::try_from(*int)?.to_sql(to, out),
            (Value::Float(float), &Type::FLOAT8) => return float.to_sql(to, out),
            (Value::Text(text), &Type::TEXT) => return text.to_sql(to, out),
            (Value::Uuid(uuid), &Type::UUID) => return uuid.to_sql(to, out),
            (Value::Json(json), &Type::JSONB) => return json.to_sql(to, out),
            (Value::Bytes(bytes), &Type::BYTEA) => return bytes.to_sql(to, out),
            (Value::Time(time), &Type::TIMESTAMPTZ) => {
                // Rounded down on both sides of 1970, so that order is kept.
                let microseconds = i64::try_from(time.as_nanosecond().div_euclid(1_000))?;
                out.extend_from_slice(&(microseconds - EPOCH_MICROSECONDS).to_be_bytes());
            }
            (Value::Vector(vector), _) if to.name() == VECTOR => write_vector(vector, out)?,
            (_, _) => return Err(format!("a value does not fit a parameter of type {to}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A cell of a result.
pub(super) struct Read(pub(super) Value);

impl<'a> FromSql<'a> for Read {
    fn from_sql(from: &Type, raw: &'a [u8]) -> Sql<Self> {
        let value = match *from {
            Type::BOOL => Value::Bool(bool::from_sql(from, raw)?),
            Type::INT8 => Value::Int(i64::from_sql(from, raw)?),
            Type::INT4 => Value::Int(i32::from_sql(from, raw)?.into()),
            Type::INT2 => Value::Int(i16::from_sql(from, raw)?.into()),
            Type::FLOAT8 => Value::Float(f64::from_sql(from, raw)?),
            Type::FLOAT4 => Value::Float(f32::from_sql(from, raw)?.into()),
            Type::TEXT | Type::VARCHAR | Type::NAME => Value::Text(String::from_sql(from, raw)?),
            Type::UUID => Value::Uuid(Uuid::from_sql(from, raw)?),
            Type::JSONB => Value::Json(serde_json::Value::from_sql(from, raw)?),
            Type::BYTEA => Value::Bytes(raw.to_vec()),
            Type::TIMESTAMPTZ => {
                let microseconds = i64::from_be_bytes(raw.try_into()?);
                let microseconds = microseconds.checked_add(EPOCH_MICROSECONDS);
                let time = microseconds.and_then(|it| Timestamp::from_microsecond(it).ok());
                Value::Time(time.ok_or("a stored time is out of bounds")?)
            }
            _ if from.name() == VECTOR => Value::Vector(read_vector(raw)?),
            _ => return Err(format!("a column has the unexpected type {from}").into()),
        };
        Ok(Self(value))
    }

    fn from_sql_null(_: &Type) -> Sql<Self> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// pgvector's binary form: the number of dimensions, two bytes without meaning, the numbers.
fn write_vector(vector: &[f32], out: &mut BytesMut) -> Sql<()> {
    out.extend_from_slice(&u16::try_from(vector.len())?.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    for number in vector {
        out.extend_from_slice(&number.to_be_bytes());
    }
    Ok(())
}

fn read_vector(raw: &[u8]) -> Sql<Vec<f32>> {
    let (_, numbers) = raw.split_at_checked(4).ok_or("a stored vector is cut short")?;
    let (numbers, rest) = numbers.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("a stored vector is cut short".into());
    }
    Ok(numbers.iter().map(|number| f32::from_be_bytes(*number)).collect())
}
