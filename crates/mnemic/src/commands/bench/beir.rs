//! How well recall ranks the documents of a collection in BEIR's form, stored as memories, against
//! the two lists that it is made from: words alone, and both fused as everybody fuses them.
//!
//! The lists come from the same store, so that what is compared is the ranking alone.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use mnemic_core::embed::{Embedder, Purpose};
use mnemic_core::ids::MemoryId;
use mnemic_core::memory::{Memory, MemoryFilter, NewMemory};
use mnemic_core::page::PageRequest;
use mnemic_core::principal::Caller;
use mnemic_core::recall::{
    FOUND_PER_TECHNIQUE, Feature, Hit, ItemKind, LIMIT_MAX, Part, RecallRequest, SearchFilter,
};
use mnemic_core::text::{CONTENT_BYTES_MAX, QUERY_BYTES_MAX};
use serde::Deserialize;

use super::lab::Lab;
use super::ranking::{Dump, Ranking, Rankings, Told, score_files};
use super::report::{Report, Table};
use super::score::{Scores, ndcg, recall};
use super::source::{cut, read, read_lines};
use super::stage::Opened;
use super::{AblationArgs, BeirArgs};
use crate::config::CommonArgs;
use crate::output;

/// What rankings are compared by.
const COMPARED: [&str; 2] = ["ndcg@10", "recall@10"];
/// Reciprocal rank fusion as it was first described.
const RRF_K: f64 = 60.0;
/// How many documents are stored together.
const BATCH: usize = 500;
/// How many memories are listed at once.
const PAGE: usize = 100;

#[derive(Debug, Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct Query {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

pub async fn run(common: &CommonArgs, args: &BeirArgs) -> Result<Report> {
    let data = Data::read(&args.data, args.queries, args.documents)?;
    let (documents, queries) = (data.documents.len(), data.queries.len());
    let subject = format!("{documents} documents, {queries} queries, in percent");
    let mut report = Report::new("beir", subject);
    if !args.ranking.rankings.is_empty() {
        let qids: Vec<_> = data.queries.iter().map(|query| query.id.as_str()).collect();
        let score = |rankings: &Rankings| {
            let mut scores = scores();
            for query in &data.queries {
                data.score(query, rankings.of(&query.id), &mut scores);
            }
            scores
        };
        let told = Told { qids: &qids, of: "all", measures: &COMPARED };
        score_files(&args.ranking.rankings, &told, score, &mut report)?;
        return Ok(report);
    }
    let lab = Lab::new(common, &args.ranking.search, args.ranking.dump.is_some())?;
    let opened = lab.stage.open().await?;
    let measured = measure(&lab, &opened, &data, args).await;
    opened.mnemic.close().await;
    let Measured { own, rivals, left } = measured?;
    let mut rows = vec![own.row("recall", None)];
    rows.extend(rivals.iter().map(|(name, scores)| scores.row(name, None)));
    let columns = own.measures().to_vec();
    report.table(Table { title: "ranking".to_owned(), columns, rows, decimals: 1 });
    for measure in COMPARED {
        report.estimate(format!("recall: {measure}"), own.interval(measure));
    }
    for (name, scores) in rivals {
        for measure in COMPARED {
            report.estimate(format!("{name}: {measure}"), scores.interval(measure));
            let better = own.better_by(&scores, measure);
            report.estimate(format!("recall, {measure}, better than {name} by"), better);
        }
    }
    for (names, scores) in left {
        own.compare(&scores, &format!("without {names}"), &COMPARED, &mut report);
    }
    Ok(report)
}

fn scores() -> Scores {
    Scores::new(["ndcg@10", "recall@10", "recall@100"].map(str::to_owned).to_vec())
}

struct Data {
    documents: Vec<Document>,
    queries: Vec<Query>,
    /// How relevant documents are to each query.
    gains: HashMap<String, HashMap<String, f64>>,
}

impl Data {
    /// The first so many queries that anything is relevant to, all that is relevant to them, and
    /// as many other documents as there is room for.
    fn read(
        folder: &Path,
        queries_max: Option<usize>,
        documents_max: Option<usize>,
    ) -> Result<Self> {
        let gains = read_gains(&folder.join("qrels").join("test.tsv"))?;
        let mut queries: Vec<Query> = read_lines(&folder.join("queries.jsonl"))?;
        queries.retain(|query| {
            gains.get(&query.id).is_some_and(|it| it.values().any(|gain| *gain > 0.0))
        });
        queries.truncate(queries_max.unwrap_or(usize::MAX));
        if queries.is_empty() {
            bail!("{} has no query with a relevant document", folder.display());
        }
        let mut documents: Vec<Document> = read_lines(&folder.join("corpus.jsonl"))?;
        documents.retain(|document| !document.content().trim().is_empty());
        if let Some(max) = documents_max {
            let judged = queries.iter().filter_map(|query| gains.get(&query.id));
            let judged: HashSet<_> = judged.flat_map(HashMap::keys).map(String::as_str).collect();
            let named = documents.iter().filter(|it| judged.contains(it.id.as_str())).count();
            let mut room = max.saturating_sub(named);
            documents.retain(|document| {
                judged.contains(document.id.as_str()) || {
                    let fits = room > 0;
                    room = room.saturating_sub(1);
                    fits
                }
            });
        }
        Ok(Self { documents, queries, gains })
    }

    fn score(&self, query: &Query, ranked: &[String], scores: &mut Scores) {
        if let Some(gains) = self.gains.get(&query.id) {
            let values = vec![
                ndcg(gains, ranked, 10),
                recall(gains, ranked, 10),
                recall(gains, ranked, 100),
            ];
            scores.add("all", values);
        }
    }
}

/// Lines of a query, a document and how relevant it is, below one line of headings.
fn read_gains(path: &Path) -> Result<HashMap<String, HashMap<String, f64>>> {
    let mut gains: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for (place, line) in read(path)?.lines().enumerate().skip(1) {
        let wrong = || {
            format!("{}, line {}: not a query, a document and a number", path.display(), place + 1)
        };
        let mut fields = line.split('\t').map(str::trim);
        let (query, document, gain) = (fields.next(), fields.next(), fields.next());
        let (Some(query), Some(document), Some(gain)) = (query, document, gain) else {
            bail!(wrong());
        };
        let gain = gain.parse().with_context(wrong)?;
        gains.entry(query.to_owned()).or_default().insert(document.to_owned(), gain);
    }
    Ok(gains)
}

impl Document {
    fn content(&self) -> String {
        let content = format!("{}\n{}", self.title.trim(), self.text.trim());
        cut(content.trim(), CONTENT_BYTES_MAX)
    }

    fn to_new(&self) -> NewMemory {
        let source_ids = vec![self.id.clone()];
        NewMemory { content: self.content(), source_ids, ..NewMemory::default() }
    }
}

struct Measured {
    own: Scores,
    rivals: Vec<(&'static str, Scores)>,
    /// Recall without some of its features, by their names.
    left: Vec<(String, Scores)>,
}

async fn measure(lab: &Lab<'_>, opened: &Opened, data: &Data, args: &BeirArgs) -> Result<Measured> {
    store(opened, &data.documents).await?;
    let model = lab.embed(opened).await?;
    let own = rank(lab, opened, data, &[], args.ranking.dump.as_deref()).await?;
    let AblationArgs { without, ablate } = &args.ablation;
    let single = Feature::OF_MEMORIES.iter().filter(|_| *ablate).map(std::slice::from_ref);
    let mut left = Vec::new();
    for without in single.chain((!without.is_empty()).then_some(without.as_slice())) {
        let names: Vec<_> = without.iter().map(|it| it.as_str()).collect();
        left.push((names.join(", "), rank(lab, opened, data, without, None).await?));
    }
    let (mut words, mut vectors, mut fused) = (scores(), scores(), scores());
    for query in &data.queries {
        let text = &cut(&query.text, QUERY_BYTES_MAX);
        let lists = Lists::search(opened, model.as_ref(), text).await?;
        data.score(query, &lists.words, &mut words);
        data.score(query, &lists.vectors, &mut vectors);
        data.score(query, &fuse(&[&lists.words, &lists.vectors]), &mut fused);
    }
    let mut rivals = vec![("words alone", words)];
    if model.is_some() {
        rivals.extend([("vectors alone", vectors), ("plain RRF", fused)]);
    }
    Ok(Measured { own, rivals, left })
}

/// Asks every query of recall itself.
async fn rank(
    lab: &Lab<'_>,
    opened: &Opened,
    data: &Data,
    without: &[Feature],
    dump: Option<&Path>,
) -> Result<Scores> {
    let (mut dump, mut scores) = (Dump::create(dump)?, scores());
    for query in &data.queries {
        let request = RecallRequest {
            include: Some(vec![Part::Memories]),
            without: without.to_vec(),
            ..lab.request(&cut(&query.text, QUERY_BYTES_MAX), LIMIT_MAX)
        };
        let bundle = opened.recall(&request).await?;
        let ranked = bundle.items.iter().filter_map(|item| document_of(&item.memory)).collect();
        let ranking = Ranking::of_memories(&query.id, ranked, &bundle);
        dump.write(&ranking)?;
        data.score(query, &ranking.ranked, &mut scores);
    }
    dump.finish()?;
    Ok(scores)
}

fn document_of(memory: &Memory) -> Option<String> {
    memory.source_ids.first().cloned()
}

/// Stores what is not there yet.
async fn store(opened: &Opened, documents: &[Document]) -> Result<()> {
    let there = stored(opened).await?;
    let known: HashSet<_> = documents.iter().map(|document| document.id.as_str()).collect();
    if there.iter().any(|id| !known.contains(id.as_str())) {
        bail!(
            "--dir holds other documents than these, which would be found, too: name an empty directory"
        );
    }
    let caller = Caller::new(opened.principal.clone());
    let missing: Vec<_> = documents.iter().filter(|it| !there.contains(&it.id)).collect();
    if !missing.is_empty() {
        output::note(&format!("Storing {} documents", missing.len()));
    }
    for batch in missing.chunks(BATCH) {
        let news = batch.iter().map(|document| document.to_new()).collect();
        opened.mnemic.create_memories(&caller, news).await?;
    }
    Ok(())
}

async fn stored(opened: &Opened) -> Result<HashSet<String>> {
    let (mnemic, who, filter) = (&opened.mnemic, &opened.principal, MemoryFilter::default());
    let mut there = HashSet::new();
    let mut page = PageRequest { limit: Some(PAGE), cursor: None };
    loop {
        let listed = mnemic.list_memories(who, &filter, None, &page).await?;
        there.extend(listed.items.iter().filter_map(document_of));
        if listed.next_cursor.is_none() {
            return Ok(there);
        }
        page.cursor = listed.next_cursor;
    }
}

/// What each technique finds by itself, best first.
struct Lists {
    words: Vec<String>,
    vectors: Vec<String>,
}

impl Lists {
    /// No vectors are searched without a model.
    async fn search(
        opened: &Opened,
        model: Option<&Arc<dyn Embedder>>,
        query: &str,
    ) -> Result<Self> {
        let (store, scope, kind) = (&opened.store, opened.principal.scope(), ItemKind::Memory);
        let (filter, count) = (SearchFilter::default(), FOUND_PER_TECHNIQUE);
        let words = store.search_words(scope, kind, query, &filter, count).await?;
        let vectors = if let Some(model) = model {
            let embedded = model.embed(vec![query.to_owned()], Purpose::Query).await?;
            let vector = embedded.first().context("the model gave no vector")?;
            store.search_vectors(scope, kind, model.stamp(), vector, &filter, count).await?
        } else {
            vec![]
        };
        Ok(Self { words: named(opened, &words).await?, vectors: named(opened, &vectors).await? })
    }
}

/// The documents that were found, in the same order.
async fn named(opened: &Opened, hits: &[Hit]) -> Result<Vec<String>> {
    let ids: Vec<_> = hits.iter().map(|hit| MemoryId(hit.id)).collect();
    let memories = opened.store.lookup_memories(opened.principal.scope(), &ids).await?;
    let documents: HashMap<_, _> = memories.iter().map(|it| (it.id, document_of(it))).collect();
    Ok(ids.iter().filter_map(|id| documents.get(id).cloned().flatten()).collect())
}

/// Adds up 1 / (60 + rank) over the lists; of equal ones, the one with the lesser id.
fn fuse(lists: &[&[String]]) -> Vec<String> {
    let mut scores: HashMap<&String, f64> = HashMap::new();
    for list in lists {
        for (place, id) in list.iter().enumerate() {
            *scores.entry(id).or_default() += 1.0 / (RRF_K + (place + 1) as f64);
        }
    }
    let mut fused: Vec<_> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    fused.into_iter().map(|(id, _)| id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("qrels")).unwrap();
        write("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td3\t2\nq1\td1\t0\nq2\td2\t0\n");
        write(
            "queries.jsonl",
            "{\"_id\":\"q1\",\"text\":\"boats\"}\n{\"_id\":\"q2\",\"text\":\"rain\"}\n{\"_id\":\"q3\",\"text\":\"x\"}\n",
        );
        write(
            "corpus.jsonl",
            "{\"_id\":\"d0\",\"title\":\"\",\"text\":\" \"}\n{\"_id\":\"d1\",\"title\":\"One\",\"text\":\"two\"}\n\
             {\"_id\":\"d2\",\"text\":\"rain\"}\n{\"_id\":\"d3\",\"title\":\"Boats\",\"text\":\"\"}\n",
        );
        folder
    }

    #[test]
    fn a_collection_is_read_with_what_its_queries_need() {
        let folder = folder();
        let ids = |documents: Option<usize>| {
            let data = Data::read(folder.path(), None, documents).unwrap();
            assert_eq!(data.queries.len(), 1, "only q1 has anything relevant");
            data.documents.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(None), ["d1", "d2", "d3"]);
        assert_eq!(ids(Some(1)), ["d1", "d3"], "what is judged is always there");
        assert_eq!(ids(Some(3)), ["d1", "d2", "d3"]);
        let data = Data::read(folder.path(), Some(5), None).unwrap();
        assert_eq!(data.documents[0].content(), "One\ntwo");
        assert_eq!(data.documents[2].content(), "Boats");
        let mut scores = scores();
        data.score(&data.queries[0], &["d1".to_owned(), "d3".to_owned()], &mut scores);
        assert!((scores.interval("ndcg@10").mean - 63.093).abs() < 1e-3);
    }

    #[test]
    fn a_line_that_judges_nothing_is_named() {
        let folder = folder();
        let path = folder.path().join("qrels/test.tsv");
        std::fs::write(&path, "query-id\tcorpus-id\tscore\nq1\td3\n").unwrap();
        let error = read_gains(&path).unwrap_err().to_string();
        assert!(error.contains("test.tsv, line 2: not a query"), "{error}");
    }

    #[test]
    fn ranks_are_fused() {
        let list = |ids: &[&str]| ids.iter().map(|&id| id.to_owned()).collect::<Vec<_>>();
        let (words, vectors) = (list(&["a", "b", "c"]), list(&["c", "b", "d"]));
        assert_eq!(fuse(&[&words, &vectors]), ["c", "b", "a", "d"]);
    }
}
