//! What the tests share: the real weights, through the same chain as the product.

use std::sync::Arc;

use mnemic_models::{ModelFiles, WeightsSource, default_cache, obtain};

pub(crate) async fn model_files() -> ModelFiles {
    let source = WeightsSource { path: None, cache: default_cache(), offline: false };
    obtain(&source, Arc::new(|_| {})).await.expect("the weights can be had")
}
