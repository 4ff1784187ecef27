//! Reads what the endpoint sent, and trusts none of it before it is checked.

use mnemic_core::error::{Code, Error, Result};
use serde::Deserialize;

use super::DIMENSIONS_MAX;

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    /// Some servers leave it out and answer in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors in the order of the texts, at unit length.
pub(super) fn parse(body: &[u8], texts: usize, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>> {
    let response: EmbeddingResponse = serde_json::from_slice(body)
        .map_err(|e| broken("it is not a list of embeddings").caused_by(e))?;
    if response.data.len() != texts {
        return Err(broken(&format!("{} vectors for {texts} texts", response.data.len())));
    }
    let dimensions =
        dimensions.or_else(|| response.data.first().map(|first| first.embedding.len()));
    let mut vectors = vec![Vec::new(); texts];
    for (position, Embedding { index, embedding }) in response.data.into_iter().enumerate() {
        let slot = vectors
            .get_mut(index.unwrap_or(position))
            .filter(|slot| slot.is_empty())
            .ok_or_else(|| broken("its indices do not fit the texts"))?;
        if embedding.is_empty() || embedding.len() > DIMENSIONS_MAX {
            return Err(broken(&format!("a vector has {} dimensions", embedding.len())));
        }
        if Some(embedding.len()) != dimensions {
            return Err(broken("its vectors differ in dimension"));
        }
        *slot = unit(embedding)?;
    }
    Ok(vectors)
}

fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>> {
    // In double precision, in which no finite f32 overflows when squared.
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if !norm.is_finite() || norm == 0.0 {
        return Err(broken("a vector is zero or not finite"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a quotient of at most one")]
    for x in &mut vector {
        *x = (f64::from(*x) / norm) as f32;
    }
    Ok(vector)
}

fn broken(what: &str) -> Error {
    Error::new(
        Code::ModelUnavailable,
        format!("the embedding endpoint's answer is unusable: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(body: &str, texts: usize) -> String {
        parse(body.as_bytes(), texts, None).unwrap_err().to_string()
    }

    #[test]
    fn orders_by_index_and_normalises() {
        let body = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;
        assert_eq!(parse(body.as_bytes(), 2, Some(2)).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let in_order = r#"{"data":[{"embedding":[3,4]},{"embedding":[0,2]}]}"#;
        assert_eq!(parse(in_order.as_bytes(), 2, None).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        let uneven = r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}"#;
        assert!(problem(twice, 2).contains("indices"));
        assert!(problem(twice, 3).contains("2 vectors for 3 texts"));
        assert!(problem(uneven, 2).contains("differ"));
        assert!(problem(r#"{"data":[{"index":7,"embedding":[1]}]}"#, 1).contains("indices"));
        assert!(problem(r#"{"data":[{"index":0,"embedding":[]}]}"#, 1).contains("0 dimensions"));
        assert!(problem(r#"{"data":[{"index":0,"embedding":[0,0]}]}"#, 1).contains("zero"));
        assert!(problem(r#"{"data":[{"index":0,"embedding":[1e39]}]}"#, 1).contains("not a list"));
        assert!(problem(r#"{"data":[{"index":0,"embedding":[NaN]}]}"#, 1).contains("not a list"));
        let wide = format!(r#"{{"data":[{{"index":0,"embedding":[1{}]}}]}}"#, ",1".repeat(4096));
        assert!(problem(&wide, 1).contains("4097 dimensions"));
    }
}
