//! The benches of retrieval on made-up data, by words alone: what they read, what they find, and
//! that their own rankings score as they said.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::Home;

fn write(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.around().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn write_lines(home: &Home, name: &str, lines: &[Value]) {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    write(home, name, &lines.join("\n"));
}

fn figure(report: &Value, name: &str) -> Value {
    let figures = report["figures"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("no figure {name}: {report}")).clone()
}

/// Two talks; who speaks decides one question, and words the other.
fn write_talks(home: &Home) {
    let turn = |conv: &str, place: usize, speaker: &str, text: &str| {
        json!({
            "conv": conv, "id": format!("D1:{place}"), "session": 1, "speaker": speaker,
            "date": "1:56 pm on 8 May, 2023", "text": text, "caption": null,
        })
    };
    let turns = [
        turn("harbour", 1, "Ana", "I sail every week, on a sloop of my own."),
        turn("harbour", 2, "Bo", "I sail every week, on a ferry that I steer."),
        turn("garden", 1, "Cy", "The tomatoes are ripe."),
        turn("garden", 2, "Di", "Then the soup is settled."),
    ];
    write_lines(home, "talks/turns.jsonl", &turns);
    let question = |conv: &str, qid: &str, category: u8, text: &str, gold: &[&str]| {
        json!({
            "conv": conv, "qid": qid, "category": category, "question": text, "answer": "x",
            "gold": gold, "gold_audited": gold,
        })
    };
    let questions = [
        question("harbour", "q1", 4, "On what does Bo sail every week?", &["D1:2"]),
        question(
            "garden",
            "q2",
            1,
            "Which tomatoes are ripe, and what of the soup?",
            &["D1:1", "D1:2"],
        ),
        question("garden", "q3", 5, "Which melons are ripe?", &[]),
    ];
    write_lines(home, "talks/questions.jsonl", &questions);
}

#[test]
fn evidence_of_talks_is_found_with_and_without_features() {
    let home = Home::new();
    write_talks(&home);
    let bench = ["bench", "locomo", "--data", "talks"];
    let words =
        ["--techniques", "words", "--without", "speaker,date", "--ablate", "--dump", "own.jsonl"];
    let report = home.json(&[&bench[..], &words].concat());
    assert_eq!(figure(&report, "all, frac@10")["value"], 100.0);
    assert_eq!(figure(&report, "all, frac@10")["low"], 100.0);
    let rows = report["tables"][0]["rows"].as_array().unwrap();
    let counts: Vec<_> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), &row["count"])).collect();
    assert_eq!(counts, [("multi-hop", &json!(1)), ("single-hop", &json!(1)), ("all", &json!(2))]);
    assert_eq!(figure(&report, "without speaker, date: frac@10, better by")["value"], 0.0);
    assert_eq!(figure(&report, "without words_around: frac@10, better by")["value"], 0.0);

    let dump = std::fs::read_to_string(home.around().join("own.jsonl")).unwrap();
    let lines: Vec<Value> = dump.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "what has no answer is asked for the dump");
    assert_eq!((&lines[0]["qid"], &lines[0]["ranked"][0]), (&json!("q1"), &json!("D1:2")));
    assert!(lines[0]["shares"][0]["speaker"].is_number(), "{dump}");

    let rival = [json!({"qid": "q1", "ranked": ["D1:1", "D1:2"]})];
    write_lines(&home, "rival.jsonl", &rival);
    let files = ["--rankings", "own.jsonl", "--rankings", "rival.jsonl"];
    let report = home.json(&[&bench[..], &files].concat());
    assert_eq!(figure(&report, "own.jsonl, all: frac@10")["value"], 100.0);
    assert_eq!(figure(&report, "rival.jsonl, all: frac@10, better by")["value"], -50.0);
}

#[test]
fn features_that_there_are_none_of_are_refused() {
    let home = Home::new();
    for command in [&["bench", "locomo", "--data", "x"][..], &["recall", "boats"]] {
        let refused = home.run(&[command, &["--without", "speaker,speakers"]].concat());
        assert_ne!(refused.code, Some(0));
        let said = &refused.stderr;
        assert!(said.contains("`speakers` is not one of words, words_around"), "{said}");
    }
}

#[test]
fn documents_are_ranked_and_kept_for_the_next_run() {
    let home = Home::new();
    let document = |id: &str, text: &str| json!({"_id": id, "title": "", "text": text});
    let documents = [
        document("d1", "A sloop has one mast."),
        document("d2", "A ketch has two masts, and sails slowly."),
        document("d3", "Tomato soup needs basil."),
    ];
    write_lines(&home, "beir/corpus.jsonl", &documents);
    write_lines(&home, "beir/queries.jsonl", &[json!({"_id": "q1", "text": "which ketch sails?"})]);
    write(&home, "beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td2\t1\n");
    let bench = ["bench", "beir", "--data", "beir", "--dir", "kept", "--techniques", "words"];
    for _ in 0..2 {
        let report = home.json(&[&bench[..], &["--dump", "own.jsonl"]].concat());
        assert_eq!(report["subject"], "3 documents, 1 queries, in percent");
        assert_eq!(figure(&report, "recall: ndcg@10")["value"], 100.0);
        assert_eq!(figure(&report, "recall, ndcg@10, better than words alone by")["value"], 0.0);
    }
    let scored = ["bench", "beir", "--data", "beir", "--rankings", "own.jsonl"];
    assert_eq!(figure(&home.json(&scored), "own.jsonl, all: recall@10")["value"], 100.0);
    let fewer = home.run(&[&bench[..], &["--documents", "1"]].concat());
    assert!(fewer.stderr.contains("--dir holds other documents"), "{}", fewer.stderr);
}

#[test]
fn sessions_and_turns_of_histories_are_found() {
    let home = Home::new();
    let said = |content: &str, has_answer: bool| json!({"role": "user", "content": content, "has_answer": has_answer});
    let question = |id: &str| {
        json!({
            "question_id": id, "question_type": "single-session-user",
            "question": "Which boat did I buy?", "answer": "a sloop",
            "question_date": "2024/05/01 (Wed) 10:00",
            "haystack_dates": ["2024/03/02 (Sat) 09:30", "2024/04/02 (Tue) 21:05"],
            "haystack_session_ids": ["soup", "boats"],
            "haystack_sessions": [
                [said("How is tomato soup made?", false)],
                [said("Hello!", false), said("I did buy a boat: a sloop.", true)],
            ],
            "answer_session_ids": ["boats"],
        })
    };
    let questions = json!([question("q1"), question("q2_abs")]);
    write(&home, "histories.json", &questions.to_string());
    let bench = ["bench", "longmemeval", "--data", "histories.json"];
    let words = ["--techniques", "words", "--dump", "own.jsonl"];
    let report = home.json(&[&bench[..], &words].concat());
    assert_eq!(report["subject"], "1 questions, in percent, and 1 without an answer");
    for level in ["sessions", "turns"] {
        assert_eq!(figure(&report, &format!("{level}, all@5"))["value"], 100.0);
    }
    let dump = std::fs::read_to_string(home.around().join("own.jsonl")).unwrap();
    assert!(dump.starts_with(r#"{"qid":"q1","ranked":["boats:1""#), "{dump}");
    assert_eq!(dump.lines().count(), 2);
    let report = home.json(&[&bench[..], &["--rankings", "own.jsonl"]].concat());
    assert_eq!(report["tables"][1]["rows"][0]["values"]["any@5"], 100.0);
}
