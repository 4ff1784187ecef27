//! What other programs exported: memories, and conversations with their turns.
//!
//! It goes the way of every other write: through the server of the store, in batches. What came
//! in once under its source's id, and was forgotten since or not, does not come in again. A file
//! is read to its end, and every record checked, before the first is sent.

mod chatgpt;
mod claude;
mod graphiti;
mod mem0;
mod record;
mod server_memory;
#[cfg(test)]
mod tests;
mod transcript;

use std::collections::HashSet;
use std::io::BufRead;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::memory::MemoryResponse;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::OWN;
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;
use crate::progress::Bar;

use record::{Document, Record};
use transcript::Transcript;

/// A request carries so many records, and about so many bytes, which is well below the limits.
const BATCH_RECORDS: usize = 200;
const BATCH_BYTES: usize = 512 * 1024;
const PAGE: usize = 200;

/// Whose export it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Mnemic,
    Mem0,
    Graphiti,
    ServerMemory,
    Chatgpt,
    Claude,
}

impl Format {
    /// What its memories say they come from.
    fn source(self) -> &'static str {
        match self {
            Self::Mnemic => "mnemic",
            Self::Mem0 => "mem0",
            Self::Graphiti => "graphiti",
            Self::ServerMemory => "server-memory",
            Self::Chatgpt => "chatgpt",
            Self::Claude => "claude",
        }
    }

    fn contents(self, document: &Document) -> Result<Contents> {
        let records = match self {
            Self::Mnemic => bail!("an export of mnemic is not read record by record"),
            Self::Mem0 => mem0::records(document)?,
            Self::Graphiti => graphiti::records(document)?,
            Self::ServerMemory => server_memory::records(document)?,
            Self::Chatgpt => return chatgpt::transcripts(document).map(Contents::Transcripts),
            Self::Claude => return claude::transcripts(document).map(Contents::Transcripts),
        };
        records.iter().try_for_each(Record::check)?;
        Ok(Contents::Records(records))
    }
}

/// What is in a file, all checked.
pub struct Foreign {
    format: Format,
    contents: Contents,
}

enum Contents {
    Records(Vec<Record>),
    Transcripts(Vec<Transcript>),
}

pub fn read(format: Option<Format>, mut input: Box<dyn BufRead + Send>) -> Result<Foreign> {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut input, &mut text)
        .context("the file is no text in UTF-8, so no export of anything known")?;
    let document = Document::parse(&text)?;
    let format = match format {
        Some(format) => format,
        None => detect(&document)?,
    };
    Ok(Foreign { format, contents: format.contents(&document)? })
}

fn detect(document: &Document) -> Result<Format> {
    if server_memory::looks_like(document) {
        Ok(Format::ServerMemory)
    } else if graphiti::looks_like(document) {
        Ok(Format::Graphiti)
    } else if mem0::looks_like(document) {
        Ok(Format::Mem0)
    } else if chatgpt::looks_like(document) {
        Ok(Format::Chatgpt)
    } else if claude::looks_like(document) {
        Ok(Format::Claude)
    } else {
        let known = [
            server_memory::EXPECTED,
            mem0::EXPECTED,
            graphiti::EXPECTED,
            chatgpt::EXPECTED,
            claude::EXPECTED,
        ];
        bail!(
            "this is no export that is known. Expected is one of: an export of mnemic; {}",
            known.join("; ")
        )
    }
}

pub async fn import(client: &Client, common: &CommonArgs, all: Foreign) -> Result<()> {
    match all.contents {
        Contents::Records(records) => import_records(client, common, all.format, records).await,
        Contents::Transcripts(all_told) => {
            transcript::import(client, common, all.format, &all_told).await
        }
    }
}

async fn import_records(
    client: &Client,
    common: &CommonArgs,
    format: Format,
    records: Vec<Record>,
) -> Result<()> {
    let total = records.len();
    let known = known(client, format).await?;
    let mut seen = HashSet::new();
    let is_new = |record: &Record| !known.contains(&record.id) && seen.insert(record.id.clone());
    let records: Vec<_> = records.into_iter().filter(is_new).collect();
    let bar = Bar::new();
    let (mut made, mut erased) = (0, 0);
    for batch in batches(&records) {
        let requests: Vec<_> = batch.iter().map(|it| it.request(format.source())).collect();
        let key = key(format, &requests)?;
        let sent: Result<Value> = client
            .post_once(
                &format!("{OWN}/memories?erased=skip"),
                &serde_json::to_value(&requests)?,
                &key,
            )
            .await;
        let sent = match sent {
            Ok(sent) => sent,
            Err(error) => {
                bar.clear();
                let again = "run it again to go on from there";
                return Err(error.context(format!("after {made} of {total} records ({again})")));
            }
        };
        let skipped = sent["skipped"].as_array().map_or(0, Vec::len);
        erased += skipped;
        made += batch.len() - skipped;
        bar.set("importing".to_owned(), (made + erased) as u64, records.len() as u64);
    }
    bar.clear();
    let skipped = total - made - erased;
    let source = format.source();
    if common.json {
        output::json(&json!({
            "format": source, "records": total, "imported": made, "known": skipped,
            "erased": erased,
        }));
    } else {
        let known =
            if skipped > 0 { format!("; {skipped} were there already") } else { String::new() };
        let gone = if erased > 0 { format!("; {erased} had been erased") } else { String::new() };
        output::line(&format!("imported {made} memories from {source}{known}{gone}"));
    }
    Ok(())
}

/// The ids under which this source's records came in before.
async fn known(client: &Client, format: Format) -> Result<HashSet<String>> {
    let mut known = HashSet::new();
    for deleted in [false, true] {
        let mut cursor = String::new();
        loop {
            let path = format!(
                "{OWN}/memories?limit={PAGE}&include_superseded=true&deleted={deleted}{cursor}"
            );
            let page: PageResponse<MemoryResponse> = client.get(&path).await?;
            let ours =
                page.items.into_iter().filter(|it| it.source.as_deref() == Some(format.source()));
            known.extend(ours.flat_map(|it| it.source_ids));
            match page.next_cursor {
                Some(next) => cursor = format!("&cursor={}", super::encoded(&next)),
                None => break,
            }
        }
    }
    Ok(known)
}

fn batches(records: &[Record]) -> Vec<&[Record]> {
    let (mut batches, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (at, record) in records.iter().enumerate() {
        if at - start == BATCH_RECORDS || (at > start && bytes + record.content.len() > BATCH_BYTES)
        {
            batches.push(&records[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += record.content.len();
    }
    if start < records.len() {
        batches.push(&records[start..]);
    }
    batches
}

/// The same records get the same key, so that a batch whose answer was lost is not made twice.
fn key(format: Format, requests: &impl Serialize) -> Result<String> {
    let digest = Sha256::digest(serde_json::to_vec(requests)?);
    Ok(format!("import-{}-{}", format.source(), record::hex(&digest)))
}
