//! Where slots are kept: in Redis, if one is named, or in this process. The only file that names
//! a concrete keeper of slots.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use mnemic_core::slot::{SlotSpace, Slots, Ttl};
use mnemic_store::slots::{InProcessSlots, RedisSlots};

use crate::config::SlotConfig;
use crate::home::Home;

pub fn open(config: &SlotConfig, home: &Home) -> Result<SlotSpace> {
    let ttl_default =
        Ttl::new(config.ttl_seconds).context("the time that slots live by default is wrong")?;
    let slots: Arc<dyn Slots> = if let Some(url) = &config.redis {
        Arc::new(RedisSlots::new(url)?)
    } else {
        if let Home::Database(_) = home {
            tracing::warn!(
                "slots are kept in this server alone: give all servers of the database the same \
                 --redis to share them"
            );
        }
        Arc::new(InProcessSlots::new(config.bytes_max))
    };
    Ok(SlotSpace { slots, ttl_default })
}
