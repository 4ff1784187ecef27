//! What a search by words takes, by the number of texts and by how common its words are.

use mnemic_core::recall::{FOUND_PER_TECHNIQUE, ItemKind, SearchFilter};
use mnemic_recall::synthetic::{Noise, Texts};
use mnemic_store::{Scope, SearchEngine as _};
use uuid::Uuid;

use super::{Place, load, median, timed};

const QUERIES: usize = 50;
const WARM_UP: usize = 5;

pub(super) async fn run(place: &Place, items: &[usize]) {
    println!("{:>9} {:<22} {:>10} {:>10}", "texts", "words", "ms p50", "ms worst");
    for size in items {
        let workspace = Uuid::from_u128(u128::try_from(*size).unwrap() << 64);
        load::workspace(place, workspace, *size).await;
        load::words(place, workspace).await;
        let sql = "VACUUM ANALYZE memories, word_documents, word_postings, word_terms";
        place.owner.batch_execute(sql).await.unwrap();
        let engine = place.open().await;
        let channel = Some(vec!["c7".to_owned()]);
        let narrow = SearchFilter { channels: channel, ..SearchFilter::default() };
        for (name, queries, filter) in [
            ("usual, 3 to 6", usual(), SearchFilter::default()),
            ("common, 4", common(), SearchFilter::default()),
            ("usual, in 1 %", usual(), narrow.clone()),
            ("common, in 1 %", common(), narrow),
        ] {
            let mut times = Vec::new();
            for (number, query) in queries.iter().enumerate() {
                let scope = Scope::Workspace(workspace);
                let search = engine.search_words(
                    scope,
                    ItemKind::Memory,
                    query,
                    &filter,
                    FOUND_PER_TECHNIQUE,
                );
                let (took, hits) = timed(search).await;
                let found = !hits.unwrap().is_empty();
                assert!(found || filter.channels.is_some(), "{query}");
                if number >= WARM_UP {
                    times.push(took);
                }
            }
            let worst = times.iter().copied().fold(0.0, f64::max);
            println!("{size:>9} {name:<22} {:>10.2} {worst:>10.2}", median(&mut times));
        }
    }
}

/// Questions in the words of the texts.
fn usual() -> Vec<String> {
    let (texts, mut noise) = (Texts::default(), Noise(8));
    (0..QUERIES + WARM_UP).map(|n| texts.query(3 + n % 4, &mut noise)).collect()
}

/// Questions in the words that most texts have: those of a text, without its rare ones.
fn common() -> Vec<String> {
    let (texts, mut noise) = (Texts::default(), Noise(9));
    let common: Vec<String> = {
        let mut counts = std::collections::BTreeMap::<String, usize>::new();
        for _ in 0..2_000 {
            for word in texts.text(25, &mut noise).split_whitespace() {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        // The very first are stop words, which no query asks for.
        counts.into_iter().skip(10).take(40).map(|(word, _)| word).collect()
    };
    let mut pick = || common[usize::try_from(noise.below(40)).unwrap()].clone();
    (0..QUERIES + WARM_UP).map(|_| [pick(), pick(), pick(), pick()].join(" ")).collect()
}
