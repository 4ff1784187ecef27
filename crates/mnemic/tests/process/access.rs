//! Domains, grants and policies as people type them, and what each role gets by its commands.

use crate::support::server::Server;
use crate::support::{Ended, Home};

/// Runs a command with a token of its own.
fn as_role(home: &Home, token: &str, arguments: &[&str]) -> Ended {
    Ended::of(home.command(arguments).env("MNEMIC_TOKEN", token).output().unwrap())
}

#[test]
fn commands_make_list_and_change() {
    let home = Home::new();
    assert_eq!(home.ok(&["domain", "create", "security", "--description", "keys"]), "security");
    assert_eq!(home.ok(&["domain", "list"]), "security  write  keys");
    assert_eq!(home.ok(&["grant", "set", "agent", "security", "read"]), "agent  security  read");
    let two = "agent  security  read\n*  security  none";
    assert_eq!(home.ok(&["grant", "set", "*", "security", "none"]), two);
    assert_eq!(home.ok(&["grant", "list"]), two);
    assert_eq!(home.ok(&["grant", "remove", "agent", "security"]), "*  security  none");
    home.run(&["grant", "remove", "agent", "security"]).failed(1, "there is no grant");
    home.run(&["grant", "set", "nobody", "security", "none"]).failed(1, "`nobody`");
    home.run(&["grant", "set", "agent", "security", "all"]).failed(2, "none, read, write");
    let id = home.ok(&[
        "policy",
        "create",
        "rotate keys",
        "--domain",
        "security",
        "--required-role",
        "member",
    ]);
    let shown = format!("{id}  security  active  member  rotate keys");
    assert_eq!(home.ok(&["policy", "list"]), shown);
    let changed = home.ok(&["policy", "update", &id, "--no-required-role", "--active", "false"]);
    assert_eq!(changed, format!("{id}  security  inactive  -  rotate keys"));
    assert_eq!(home.ok(&["policy", "list", "--active", "true"]), "");
    let page = home.json(&["policy", "list", "--domain", "security", "--limit", "1"]);
    assert_eq!(page["items"][0]["required_role"], serde_json::Value::Null);
}

/// Role by permission by command, through the program itself.
#[test]
fn each_role_gets_exactly_what_is_permitted() {
    let home = Home::new();
    let _server = Server::start(&home);
    let mut cases = 0;
    for role in ["admin", "member", "agent", "intern"] {
        let token = home.ok(&["token", "create", "--role", role]);
        for permission in ["none", "read", "write"] {
            let domain = format!("burrow-{role}-{permission}");
            let to = if role == "admin" { "*" } else { role };
            home.ok(&["grant", "set", to, &domain, permission]);
            let content = format!("the quokka of {domain}");
            let id = home.ok(&["remember", &content, "--domain", &domain]);
            let reads = role == "admin" || permission != "none";
            let writes = role == "admin" || permission == "write";
            let gets = |arguments: &[&str]| as_role(&home, &token, arguments).succeeded();
            assert_eq!(gets(&["recall", "quokka"]).contains(&domain), reads, "{domain}");
            assert_eq!(gets(&["memory", "list"]).contains(&id), reads, "{domain}");
            assert_eq!(gets(&["memory", "list", "--query", "quokka"]).contains(&id), reads);
            assert_eq!(gets(&["domain", "list"]).contains(&domain), reads, "{domain}");
            let cited = gets(&["run", &domain, &format!("[mem:{id}]")]);
            assert_eq!(cited.contains("unknown"), !reads, "{domain}: {cited}");
            for command in [
                &["memory", "get", &id][..],
                &["memory", "pin", &id],
                &["memory", "weight", &id, "1"],
                &["promote", &id],
                &["remember", "more", "--domain", &domain],
                &["policy", "create", "look twice", "--domain", &domain],
                &["forget", &id],
            ] {
                cases += 1;
                let by_id = command.contains(&id.as_str());
                let ended = as_role(&home, &token, command);
                let context = format!("{domain}: {command:?}: {ended:?}");
                let allowed = if command[1] == "get" { reads } else { writes };
                assert_eq!(ended.code, Some(i32::from(!allowed)), "{context}");
                if allowed {
                    continue;
                }
                assert!(!ended.stderr.contains("quokka") && ended.stdout.is_empty(), "{context}");
                let said = if by_id && !reads { "no such memory" } else { "permission `write`" };
                assert!(ended.stderr.contains(said), "{context}");
            }
        }
    }
    assert_eq!(cases, 84);
}
