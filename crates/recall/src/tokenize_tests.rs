use super::*;
use proptest::prelude::*;

fn tokens(text: &str, mode: Mode) -> Vec<String> {
    let text = fold::normalise(text);
    let mut found = Vec::new();
    Tokenizer::default().run(&text, mode, &mut |token, span| {
        assert!(!text[span].is_empty());
        found.push(token.to_owned());
    });
    found
}

fn document(text: &str) -> Vec<String> {
    tokens(text, Mode::Document)
}

#[test]
fn splits_plain_words() {
    assert_eq!(document("Hello, wide WORLD! 42"), ["hello", "wide", "world", "42"]);
    assert_eq!(document("end. Start - here"), ["end", "start", "here"]);
    assert_eq!(document(""), Vec::<String>::new());
    assert_eq!(document(" .-_' "), Vec::<String>::new());
}

#[test]
fn folds_accents_case_and_forms() {
    assert_eq!(document("Café cafe\u{301} CAFÉ"), ["cafe", "cafe", "cafe"]);
    assert_eq!(
        document("Straße Ærø Łódź Þór œuvre"),
        ["strasse", "aero", "lodz", "thor", "oeuvre"]
    );
    assert_eq!(document("İstanbul ısı ISI"), ["istanbul", "isi", "isi"]);
    assert_eq!(document("Ｆｕｌｌ ﬁne"), ["full", "fine"]);
    assert_eq!(document("ΟΔΟΣ οδός Ёлка"), ["οδοσ", "οδοσ", "елка"]);
    assert_eq!(document("हिन्दी"), ["हिन्दी"]);
    assert_eq!(document("co\u{ad}operate"), ["cooperate"]);
}

#[test]
fn handles_apostrophes() {
    assert_eq!(document("Alice's cat don’t we'll"), ["alice", "cat", "dont", "well"]);
    assert_eq!(document("O'Reilly l'homme"), ["o", "reilly", "oreilly", "l", "homme", "lhomme"]);
}

#[test]
fn splits_identifiers_and_keeps_the_whole() {
    for text in ["user_name", "user-name", "userName", "UserName", "user.name"] {
        assert_eq!(document(text), ["user", "name", "username"], "{text}");
    }
    assert_eq!(document("HTTPServer"), ["http", "server", "httpserver"]);
    assert_eq!(document("URLs APIs"), ["urls", "apis"]);
    assert_eq!(document("iphone15"), ["iphone", "15", "iphone15"]);
    assert_eq!(document("S3Bucket"), ["s", "3", "bucket", "s3bucket"]);
    assert_eq!(document("a1b2c3"), ["a1b2c3"]);
    assert_eq!(document("U.S.A. AT&T"), ["u", "s", "a", "usa", "at", "t", "att"]);
}

#[test]
fn splits_paths_versions_and_addresses() {
    assert_eq!(document("/src/main_loop.rs"), ["src", "main", "loop", "rs", "mainlooprs"]);
    assert_eq!(document("1.2.3"), ["1", "2", "3", "1.2.3"]);
    assert_eq!(document("v1.2.3"), ["v", "1", "2", "3", "1.2.3"]);
    assert_eq!(document("v2"), ["v", "2", "v2"]);
    assert_eq!(
        document("john.doe@example.com"),
        ["john", "doe", "johndoe", "example", "com", "examplecom"]
    );
    assert_eq!(document("C++, C# or F#."), ["c", "c++", "c", "c#", "or", "f", "f#"]);
    assert_eq!(document("C#x"), ["c", "x"]);
}

#[test]
fn pairs_characters_of_unspaced_scripts() {
    assert_eq!(document("東京都"), ["東", "東京", "京", "京都", "都"]);
    assert_eq!(tokens("東京都", Mode::Query), ["東京", "京都"]);
    assert_eq!(tokens("猫", Mode::Query), ["猫"]);
    assert_eq!(tokens("猫が好き", Mode::Query), ["猫", "猫が", "が好", "好", "好き"]);
    assert_eq!(tokens("ｶﾞｲﾄﾞ", Mode::Query), ["ガイ", "イド"]);
    assert_eq!(tokens("한국어", Mode::Query), ["한국", "국어"]);
    assert_eq!(tokens("iPhoneケース", Mode::Query), ["i", "phone", "iphone", "ケー", "ース"]);
}

#[test]
fn cuts_what_is_too_long() {
    let found = document(&"é".repeat(1000));
    assert_eq!(found, ["e".repeat(64)]);
    assert!(document(&"ж".repeat(1000))[0].len() <= 64);
}

proptest! {
    #[test]
    fn never_panics_and_spans_are_valid(text in any::<String>()) {
        for mode in [Mode::Document, Mode::Query] {
            for token in tokens(&text, mode) {
                prop_assert!(!token.is_empty() && token.len() <= 64);
            }
        }
    }

    #[test]
    fn survives_dense_identifiers(text in "[a-cA-C0-9_.'&#+\u{2019}é東ー -]{0,60}") {
        for mode in [Mode::Document, Mode::Query] {
            tokens(&text, mode);
        }
    }

    #[test]
    fn a_query_asks_only_for_what_a_document_offers(text in "[a-cA-C0-9_.'é東京カタ -]{0,40}") {
        let offered = document(&text);
        for token in tokens(&text, Mode::Query) {
            prop_assert!(offered.contains(&token));
        }
    }
}
