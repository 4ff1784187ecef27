//! What a caller of the index may rely on.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use mnemic_recall::{Clause, Code, Document, Error, Filter, Index, Key, cosine, quantise};

fn key(n: u32) -> Key {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&n.to_be_bytes());
    key
}

fn text(key: Key, text: &str) -> Document<'_> {
    Document { key, text, tags: &[], numbers: [0; 4], vector: None, pieces: &[] }
}

fn index(texts: &[&str]) -> Index {
    let mut index = Index::new(None);
    for (n, words) in (1..).zip(texts) {
        index.put(&text(key(n), words)).unwrap();
    }
    index
}

fn found(index: &Index, query: &str) -> Vec<u32> {
    let hits = index.words(query, &Filter::all(), 10);
    hits.iter().map(|hit| u32::from_be_bytes(*hit.key.first_chunk().unwrap())).collect()
}

#[test]
fn finds_by_stem_accent_and_case() {
    let index = index(&["We deployed the Café server", "nothing to see", "Größe in Ørsted"]);
    assert_eq!(found(&index, "deploying"), [1]);
    assert_eq!(found(&index, "CAFE"), [1]);
    assert_eq!(found(&index, "ｓｅｒｖｅｒｓ"), [1]);
    assert_eq!(found(&index, "grosse orsted"), [3]);
    assert_eq!(found(&index, "absent"), Vec::<u32>::new());
}

#[test]
fn finds_identifiers_by_parts_and_as_a_whole() {
    let index = index(&[
        "call getUserName() in src/http_client/mod.rs",
        "upgrade to v1.24.3 of kebab-case-lib",
        "write to jane.roe@example.org",
        "HTTPServer speaks C++",
    ]);
    for query in
        ["getUserName", "get_user_name", "getusername", "user name", "http_client", "mod.rs"]
    {
        assert_eq!(found(&index, query)[0], 1, "{query}");
    }
    for query in ["1.24.3", "v1.24.3", "kebab-case-lib", "kebabCaseLib", "kebab"] {
        assert_eq!(found(&index, query)[0], 2, "{query}");
    }
    for query in ["jane.roe@example.org", "example.org", "jane", "jane.roe"] {
        assert_eq!(found(&index, query)[0], 3, "{query}");
    }
    for query in ["httpserver", "server", "c++"] {
        assert_eq!(found(&index, query)[0], 4, "{query}");
    }
}

#[test]
fn finds_scripts_without_spaces() {
    let index = index(&["東京都は日本の首都です", "我喜欢猫", "고양이를 좋아해요", "สวัสดีครับ"]);
    assert_eq!(found(&index, "東京"), [1]);
    assert_eq!(found(&index, "首"), [1]);
    assert_eq!(found(&index, "猫"), [2]);
    assert_eq!(found(&index, "喜欢"), [2]);
    assert_eq!(found(&index, "고양이"), [3]);
    assert_eq!(found(&index, "สวัสดี"), [4]);
}

#[test]
fn stop_words_count_only_when_there_is_nothing_else() {
    let index = index(&["to be or not to be", "a rocket to the moon"]);
    assert_eq!(found(&index, "to the rocket"), [2]);
    assert_eq!(found(&index, "to be"), [1, 2]);
}

#[test]
fn ties_go_to_the_greater_key() {
    let index = index(&["same words"; 5]);
    assert_eq!(found(&index, "same words"), [5, 4, 3, 2, 1]);
    assert_eq!(index.words("same", &Filter::all(), 2).len(), 2);
}

#[test]
fn changes_are_visible_at_once() {
    let mut index = index(&["old text", "other text"]);
    index.put(&text(key(1), "new words")).unwrap();
    assert_eq!(found(&index, "old"), Vec::<u32>::new());
    assert_eq!(found(&index, "new"), [1]);
    assert!(index.remove(&key(1)) && !index.remove(&key(1)));
    assert_eq!(found(&index, "new"), Vec::<u32>::new());
    assert_eq!(found(&index, "text"), [2]);
    assert_eq!((index.len(), index.contains(&key(2))), (1, true));
}

#[test]
fn matched_terms_are_as_the_user_wrote_them() {
    let index = index(&["The user_name of Café Deployments in 東京都", "other"]);
    let matched = |query: &str| index.matched_terms(query, &key(1));
    assert_eq!(matched("the Deploying of CAFES, absent"), ["Deploying", "CAFES"]);
    assert_eq!(matched("userName name"), ["userName", "name"]);
    assert_eq!(matched("東京都庁"), ["東京都"]);
    assert_eq!(matched("the"), ["the"]);
    assert!(index.matched_terms("user", &key(9)).is_empty());
}

#[test]
fn filters_combine() {
    let mut index = Index::new(None);
    for n in 0..300 {
        let even = if n % 2 == 0 { "even" } else { "odd" };
        let document = Document {
            tags: &[even, if n % 3 == 0 { "three" } else { "rest" }],
            numbers: [i64::from(n), 0, 0, i64::MAX],
            ..text(key(n), "word")
        };
        index.put(&document).unwrap();
    }
    let tags = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let filter = Filter::all()
        .and(Clause::AnyTag(tags(&["even", "unknown"])))
        .and(Clause::NoTag(tags(&["three"])))
        .and(Clause::Range { column: 0, min: 10, max: 100 });
    let expected = (10..=100).filter(|n| n % 2 == 0 && n % 3 != 0).count();
    assert_eq!(index.select(&filter).len(), expected);
    assert_eq!(index.words("word", &filter, 1000).len(), expected);
    for nothing in [
        Clause::AnyTag(Vec::new()),
        Clause::AnyTag(tags(&["unknown"])),
        Clause::Range { column: 4, min: i64::MIN, max: i64::MAX },
        Clause::Range { column: 0, min: 5, max: 4 },
    ] {
        assert!(index.words("word", &Filter::all().and(nothing), 10).is_empty());
    }
}

#[test]
fn odd_input_is_refused_or_finds_nothing() {
    let mut index = Index::new(Some(3));
    let code = quantise(&[1.0, 2.0, 3.0]);
    let vector = Code::new(&code).ok();
    index.put(&Document { vector, ..text(key(1), "word") }).unwrap();
    let all = Filter::all();
    for query in [&[][..], &[1.0], &[0.0; 3], &[f32::NAN, 1.0, 1.0], &[f32::INFINITY, 1.0, 1.0]] {
        assert!(index.nearest(query, &all, 10).is_empty());
    }
    assert_eq!(index.nearest(&[1e30, 2e30, 3e30], &all, 10).len(), 1);
    assert!(index.nearest(&[1.0, 2.0, 3.0], &all, 0).is_empty());
    assert!(index.words("word", &all, 0).is_empty() && index.words("", &all, 9).is_empty());
    assert_eq!(index.words("word", &all, usize::MAX).len(), 1);
    let short = quantise(&[1.0]);
    let refused = index.put(&Document { vector: Code::new(&short).ok(), ..text(key(2), "no") });
    assert_eq!(refused, Err(Error::Dimensions { expected: Some(3), got: 1 }));
    assert_eq!((index.len(), index.contains(&key(2))), (1, false));
    let mut wordless = Index::new(None);
    assert!(wordless.put(&Document { vector, ..text(key(1), "word") }).is_err());
    assert!(wordless.extend(&[Document { vector, ..text(key(1), "word") }]).is_err());
    assert_eq!((wordless.dimensions(), Index::new(Some(5000)).dimensions()), (None, None));
}

#[test]
fn memory_is_given_back() {
    let mut index = Index::new(Some(8));
    let empty = index.bytes();
    let code = quantise(&[0.5; 8]);
    for n in 0..5000 {
        let words = format!("shared words and unique{n} ones{}", n % 50);
        let document = Document { vector: Code::new(&code).ok(), ..text(key(n), &words) };
        index.put(&document).unwrap();
    }
    let full = index.bytes();
    assert!(full > empty + 5000 * 50);
    for n in 0..5000 {
        assert!(index.remove(&key(n)));
    }
    assert!(index.is_empty() && index.bytes() < full);
    assert!(index.words("shared unique7", &Filter::all(), 10).is_empty());
}

/// Pseudo-random values in -1..1 with a common offset, as embeddings have one.
fn vector(dimensions: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from(state.to_le_bytes()[4]) / 128.0 - 0.8
    };
    std::iter::repeat_with(next).take(dimensions).collect()
}

/// Beyond 50,000 rows, one-bit codes are used; they must survive growth, removal and filters.
#[test]
fn many_vectors_are_found_through_one_bit_codes() {
    const DIMENSIONS: usize = 70;
    const ITEMS: u32 = 60_000;
    let near = |n: u32| {
        // Twenty of a kind, each a little off.
        let (kind, own) = (vector(DIMENSIONS, u64::from(n / 20)), vector(DIMENSIONS, u64::from(n)));
        kind.iter().zip(own).map(|(kind, own)| kind + 0.3 * own).collect::<Vec<f32>>()
    };
    let codes: Vec<Vec<u8>> = (0..ITEMS).map(|n| quantise(&near(n))).collect();
    let documents: Vec<Document<'_>> = (0..)
        .zip(&codes)
        .map(|(n, code)| Document {
            tags: if n % 10 == 0 { &["gone"] } else { &["kept"] },
            vector: Code::new(code).ok(),
            ..text(key(n), "")
        })
        .collect();
    let mut index = Index::new(Some(DIMENSIONS));
    index.extend(&documents[..51_000]).unwrap();
    for document in &documents[51_000..] {
        index.put(document).unwrap();
    }
    for n in 0..500 {
        index.remove(&key(n * 7));
    }
    let filter = Filter::all().and(Clause::NoTag(vec!["gone".into()]));
    let (mut hit, mut wanted) = (0, 0);
    for n in (20_000..20_400).step_by(40) {
        let query = near(n);
        let mut exact: Vec<(f32, Key)> = (0..ITEMS)
            .filter(|n| n % 10 != 0 && index.contains(&key(*n)))
            .map(|n| (cosine(&query, &near(n)), key(n)))
            .collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let found = index.nearest(&query, &filter, 30);
        wanted += 10;
        hit += exact[..10].iter().filter(|(_, key)| found.iter().any(|f| f.key == *key)).count();
        assert!((found[0].score - exact[0].0).abs() < 0.01);
    }
    assert!(hit * 100 >= wanted * 99, "{hit} of {wanted}");
}
