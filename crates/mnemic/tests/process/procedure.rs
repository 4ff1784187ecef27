//! Goals, strategies, tools, profiles, scratchpads, sessions and the timeline from the command line, with
//! and without a server.

use crate::support::Home;
use crate::support::server::Server;

/// The same with nobody serving the directory, and with a server.
fn on_every_stage(test: fn(&Home)) {
    let home = Home::new();
    test(&home);
    let home = Home::new();
    let mut server = Server::start(&home);
    test(&home);
    assert!(server.terminate().success());
}

#[test]
fn a_goal_is_added_shown_and_completed() {
    on_every_stage(|home| {
        let ship = home.ok(&["goal", "add", "ship it", "--priority", "5"]);
        assert_eq!(ship.len(), 36, "the id alone: {ship}");
        let notes = home.ok(&["goal", "add", "tell all", "--parent", &ship, "--blocked-by", &ship]);
        let shown = home.ok(&["goal", "get", &notes]);
        assert!(shown.contains("blocked") && shown.contains("part of"), "{shown}");
        let ended = home.run(&["goal", "update", &ship, &format!(r#"{{"parent_id": "{notes}"}}"#)]);
        assert!(ended.stderr.contains("circle"), "{}", ended.stderr);
        let done = home.ok(&["goal", "complete", &ship, "--result", "shipped"]);
        assert!(done.contains(&format!("no longer blocked  {notes}")), "{done}");
        let active = home.json(&["goal", "list", "--status", "active"]);
        assert_eq!(active["items"][0]["id"], notes);
        let done = home.json(&["goal", "complete", &notes, "--abandoned"]);
        assert_eq!(done["status"], "abandoned");
    });
}

#[test]
fn a_strategy_is_learned_and_found() {
    on_every_stage(|home| {
        let learn = ["strategy", "learn", "bisect the commits", "--context", "a test broke"];
        let id = home.ok(&learn);
        assert_eq!(home.ok(&learn), id, "no twin");
        let found = home.ok(&["strategy", "find", "why did the test break"]);
        assert!(found.contains(&id) && found.contains("worked 2 of 2"), "{found}");
        let failed = home.json(&["strategy", "reinforce", &id, "--failed"]);
        assert_eq!(failed["failure_count"], 1);
        home.ok(&["strategy", "forget", &id]);
        let found = home.json(&["strategy", "find", "why did the test break"]);
        assert_eq!(found["items"].as_array().unwrap().len(), 0);
    });
}

#[test]
fn calls_of_tools_are_counted() {
    on_every_stage(|home| {
        let id = home.ok(&["tool", "record", "oven", "--latency", "20"]);
        assert_eq!(home.ok(&["tool", "record", "oven", "--latency", "20", "--id", &id]), id);
        home.ok(&["tool", "record", "oven", "--failed", "--error", "cold"]);
        let shown = home.ok(&["tool", "list"]);
        assert!(shown.contains("oven  worked 1 of 2  20 ms"), "{shown}");
        assert_eq!(home.json(&["tool", "list"])["items"][0]["usage_count"], 2);
    });
}

#[test]
fn a_profile_is_merged() {
    on_every_stage(|home| {
        home.ok(&["profile", "update", "ana", r#"{"preferences": {"a": 1, "b": 2}}"#]);
        let patch = r#"{"preferences": {"a": null}, "expertise": ["tea"]}"#;
        let merged = home.json(&["profile", "update", "ana", patch]);
        assert_eq!(merged["preferences"], serde_json::json!({"b": 2}));
        assert_eq!(home.json(&["profile", "get", "ana"]), merged);
        let ended = home.run(&["profile", "get", "bo"]);
        assert!(ended.stderr.contains("no such profile"), "{}", ended.stderr);
    });
}

#[test]
fn a_scratchpad_opens_to_its_agent_alone() {
    on_every_stage(|home| {
        for command in
            [&["scratchpad", "read", "scout"][..], &["scratchpad", "write", "scout", "x"]]
        {
            let ended = home.run(command);
            assert!(ended.stderr.contains("that very agent"), "{}", ended.stderr);
        }
        let token = home.ok(&["token", "create", "--role", "agent", "--agent", "scout"]);
        let own =
            |command: &[&str]| home.ok(&[&["--token", &token, "scratchpad"], command].concat());
        assert_eq!(own(&["write", "scout", "look there"]), "revision 1");
        assert_eq!(own(&["read", "scout"]), "look there");
    });
}

#[test]
fn the_timeline_is_shown() {
    on_every_stage(|home| {
        let id = home.ok(&["remember", "the harbour opens at six"]);
        home.ok(&["promote", &id]);
        let shown = home.ok(&["timeline"]);
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines.len(), 2, "{shown}");
        assert!(lines[0].contains("promoted  fact") && lines[0].contains(&id), "{shown}");
        let learned = home.json(&["timeline", "--type", "learned"]);
        assert_eq!(learned["items"][0]["summary"], "the harbour opens at six");
    });
}

#[test]
fn a_session_has_its_things_at_hand() {
    let home = Home::new();
    let alone = home.run(&["session", "think", "c-1", "perhaps"]);
    assert!(alone.stderr.contains("mnemic serve"), "{}", alone.stderr);
    let mut server = Server::start(&home);
    home.ok(&["session", "put", "c-1", "city", "\"Berlin\"", "--ttl", "60"]);
    home.ok(&["session", "think", "c-1", "perhaps by train"]);
    let goal = home.ok(&["goal", "add", "arrive in time"]);
    assert_eq!(home.ok(&["session", "goal", "c-1", &goal]), "pursues arrive in time");
    let shown = home.ok(&["session", "show", "c-1"]);
    for line in
        ["goal     arrive in time", "context  city  \"Berlin\"", "thought  perhaps by train"]
    {
        assert!(shown.contains(line), "{shown}");
    }
    assert_eq!(home.ok(&["session", "goal", "c-1"]), "pursues no goal");
    let wrong = home.run(&["session", "put", "c-1", "city", "Berlin"]);
    assert!(wrong.stderr.contains("must be JSON"), "{}", wrong.stderr);
    assert!(server.terminate().success());
}

#[test]
fn a_metric_is_tried_out_made_measured_and_compared() {
    on_every_stage(|home| {
        let condition = ["--condition", "outcome == 'success' and action_count < 12"];
        let tried = home.ok(&[&["metric", "preview"], &condition[..]].concat());
        assert_eq!(tried, "-  baseline -  delta -  sequences 0");
        let ended = home.run(&["metric", "preview", "--condition", "outcome == 'done'"]);
        assert!(ended.stderr.contains("at character 12: expected 'success'"), "{}", ended.stderr);
        let types = ["--action-type", "book", "--window-days", "14"];
        let id = home.ok(&[&["metric", "create", "short runs"], &condition[..], &types].concat());
        assert_eq!(id.len(), 36, "the id alone: {id}");
        let listed = home.json(&["metric", "list"]);
        assert_eq!(listed["items"].as_array().unwrap().len(), 4);
        let changed = home.json(&["metric", "update", "short runs", "--no-filter"]);
        assert_eq!(changed["event_filter"]["action_types"], serde_json::json!([]));
        assert_eq!(changed["window_days"], 14, "what is not given stays");
        home.ok(&["jobs", "run", "benchmarks"]);
        let trend = home.ok(&["benchmark", "list", "short runs"]);
        assert!(trend.ends_with("-  baseline -  delta -  sequences 0"), "{trend}");
        let compared = home.ok(&["benchmark", "compare", "short runs", "task_success_rate"]);
        assert!(compared.ends_with("difference -"), "{compared}");
        let window = "2026-01-01T00:00:00Z/2026-02-01T00:00:00Z";
        let two = ["--window", window, "--window", window];
        home.ok(&[&["benchmark", "compare", "task_success_rate"], &two[..]].concat());
        assert!(home.ok(&["metric", "delete", "short runs"]).contains(&id));
        home.ok(&["metric", "delete", "task_success_rate"]);
        let off = home.ok(&["metric", "list", "--active", "false"]);
        assert!(off.contains("inactive") && off.contains("task_success_rate"), "{off}");
        let ended = home.run(&["benchmark", "list", "short runs"]);
        assert!(ended.stderr.contains("no metric is called `short runs`"), "{}", ended.stderr);
    });
}

#[test]
fn past_runs_are_found_by_what_they_did() {
    on_every_stage(|home| {
        for (session, failed) in [("run-1", true), ("run-2", false), ("run-3", false)] {
            let mut report = vec!["action", "add", "book_flight", "--session", session];
            report.extend(["--node-type", "reservation", "--at", "2026-01-01T10:00:00Z"]);
            if failed {
                report.extend(["--failed", "PaymentError: 12.50"]);
            }
            home.ok(&report);
        }
        home.ok(&["action", "add", "send_mail", "--session", "x", "--at", "2026-01-01T10:00:00Z"]);
        home.ok(&["jobs", "run", "sequences"]);
        let found = home.ok(&["sequence", "search", "book_flight", "--limit", "2"]);
        let lines: Vec<_> = found.lines().collect();
        assert_eq!(lines.len(), 2, "{found}");
        for (telling, summary) in [
            ("succeeded 2 of 2  last in run-", "book_flight on reservation"),
            ("succeeded 0 of 1  last in run-1", "failed with PaymentError"),
        ] {
            let fits = |line: &&&str| line.contains(telling) && line.ends_with(summary);
            assert!(lines.iter().any(|line| fits(&line)), "{telling}: {found}");
        }
        let found = home.json(&["sequence", "search", "mail"]);
        assert_eq!(found["items"][0]["intent_summary"], "send_mail", "{found}");
        let ended = home.run(&["sequence", "search", "mail", "--limit", "51"]);
        assert!(ended.stderr.contains("limit"), "{}", ended.stderr);
    });
}
