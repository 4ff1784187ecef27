//! Settings that are wrong are named, never guessed.

use crate::support::{Ended, Home};

#[test]
fn a_wrong_settings_file_is_named_with_what_is_wrong() {
    for (text, words) in [
        ("listne = \"127.0.0.1:1\"", "listne"),
        ("[limits]\nwrites = 3", "writes"),
        ("[limits]\nwrites_per_second = \"many\"", "writes_per_second"),
        ("[limits]\nwrites_per_second = 0", "writes_per_second"),
        ("[embedding]\nprovider = \"magic\"", "magic"),
        ("[mcp]\nprofile = \"huge\"", "huge"),
        ("listen = ", "mnemic.toml"),
    ] {
        let home = Home::new();
        let file = home.around().join("mnemic.toml");
        std::fs::write(&file, text).unwrap();
        for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["recall", "x"], &["mcp"]] {
            let mut command = home.command(arguments);
            command.env_remove("MNEMIC_EMBEDDING_PROVIDER").env("MNEMIC_CONFIG", &file);
            let ended = Ended::of(command.output().unwrap());
            ended.failed(1, words);
            assert!(ended.stderr.contains("mnemic.toml") || text.contains("profile"), "{ended:?}");
        }
        assert!(!home.data().exists(), "nothing is made by wrong settings");
    }
}

#[test]
fn a_wrong_variable_is_named() {
    for (name, value) in [
        ("MNEMIC_WRITES_PER_SECOND", "many"),
        ("MNEMIC_READS_PER_SECOND", "0"),
        ("MNEMIC_BODY_BYTES_MAX", "-1"),
        ("MNEMIC_CONCURRENT_REQUESTS_MAX", "1e3"),
        ("MNEMIC_INDEX_BYTES_MAX", "12MB"),
        ("MNEMIC_EMBEDDING_PROVIDER", "magic"),
        ("MNEMIC_EMBEDDING_THREADS", "two"),
        ("MNEMIC_EMBEDDING_PRECISION", "int3"),
        ("MNEMIC_EMBEDDING_TIMEOUT_SECONDS", "soon"),
        ("MNEMIC_MCP_DOTTED_NAMES", "perhaps"),
        ("MNEMIC_MCP_PROFILE", "huge"),
        ("MNEMIC_LOG", "mnemic=loud"),
    ] {
        let home = Home::new();
        for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["recall", "x"]] {
            let ended = Ended::of(home.command(arguments).env(name, value).output().unwrap());
            ended.failed(1, name);
            assert!(ended.stderr.contains(value), "{ended:?}");
        }
        assert!(!home.data().exists());
    }
}

#[test]
fn a_settings_file_that_was_asked_for_must_be_there() {
    let home = Home::new();
    home.run(&["recall", "x", "--config", "absent.toml"]).failed(1, "absent.toml");
}

#[test]
fn a_file_in_the_working_directory_is_not_obeyed() {
    let home = Home::new();
    std::fs::write(home.around().join("mnemic.toml"), "data_dir = \"elsewhere\"").unwrap();
    let mut command = home.command(&["remember", "here"]);
    Ended::of(command.output().unwrap()).succeeded();
    assert!(!home.around().join("elsewhere").exists());
    assert!(home.data().exists());
}

#[test]
fn flags_win_over_variables_and_variables_over_the_file() {
    let home = Home::new();
    let dirs = ["by-file", "by-variable", "by-flag"];
    let file = home.around().join("mnemic.toml");
    std::fs::write(&file, "data_dir = \"by-file\"").unwrap();
    let run = |variable: bool, flag: bool| {
        let mut command = home.command(&["remember", "here"]);
        command.env_remove("MNEMIC_DATA_DIR").env("MNEMIC_CONFIG", &file);
        if variable {
            command.env("MNEMIC_DATA_DIR", "by-variable");
        }
        if flag {
            command.args(["--data-dir", "by-flag"]);
        }
        Ended::of(command.output().unwrap()).succeeded();
        dirs.map(|dir| home.around().join(dir).exists())
    };
    assert_eq!(run(false, false), [true, false, false]);
    assert_eq!(run(true, false), [true, true, false]);
    assert_eq!(run(true, true), [true, true, true]);
}
