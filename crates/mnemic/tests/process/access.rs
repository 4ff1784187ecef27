//! Domains, grants and policies as people type them, and what each role gets by its commands.

use mnemic_test_servers::postgres;

use crate::database::{serve, setup};
use crate::support::server::Server;
use crate::support::{Ended, Home};

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
    let server = Server::start(&home);
    Border::all(&home, &server);
}

#[test]
fn each_role_gets_exactly_what_is_permitted_on_a_database() {
    let home = Home::new();
    let database = postgres().database("template1");
    let prepared = setup(&home, &postgres().tcp_url(&database));
    let server = Server::start_by(&home, serve(&home, prepared["url"].as_str().unwrap()));
    Border::all(&home, &server);
}

/// Somebody before a domain that holds a memory, a node and an edge.
struct Border<'h> {
    home: &'h Home,
    server: &'h Server,
    token: String,
    domain: String,
    reads: bool,
    writes: bool,
    trusted: bool,
}

impl<'h> Border<'h> {
    fn all(home: &'h Home, server: &'h Server) {
        let mut cases = 0;
        for role in ["admin", "member", "agent", "intern"] {
            for permission in ["none", "read", "write"] {
                let border = Self::new(home, server, role, permission);
                cases += border.lists() + border.commands();
            }
        }
        assert!(cases >= 300, "{cases}");
    }

    fn new(home: &'h Home, server: &'h Server, role: &str, permission: &str) -> Self {
        let domain = format!("burrow-{role}-{permission}");
        let (admin, token) = (role == "admin", String::new());
        let (reads, writes) = (admin || permission != "none", admin || permission == "write");
        let trusted = admin || role == "member";
        let mut border = Self { home, server, token, domain, reads, writes, trusted };
        border.token = border.admin(&["token", "create", "--role", role]);
        let to = if admin { "*" } else { role };
        border.admin(&["grant", "set", to, &border.domain, permission]);
        border
    }

    fn run(&self, token: &str, arguments: &[&str]) -> Ended {
        let mut command = self.home.command(arguments);
        let command = command.env("MNEMIC_TOKEN", token).env("MNEMIC_URL", &self.server.url);
        Ended::of(command.output().unwrap())
    }

    fn admin(&self, arguments: &[&str]) -> String {
        self.run(&self.server.token, arguments).succeeded()
    }

    fn memory(&self) -> String {
        let content = format!("the quokka of {}", self.domain);
        self.admin(&["remember", &content, "--domain", &self.domain])
    }

    fn node(&self) -> String {
        let name = format!("quokka {}", uuid::Uuid::new_v4());
        let made = ["ontology", "create-node", "animal", &name, "--domain", &self.domain];
        self.admin(&made)
    }

    /// What is always answered shows what may be read, and nothing else.
    fn lists(&self) -> usize {
        let (memory, node) = (self.memory(), self.node());
        let lists: [(&[&str], &str); 6] = [
            (&["recall", "quokka"], &self.domain),
            (&["memory", "list"], &memory),
            (&["memory", "list", "--query", "quokka"], &memory),
            (&["domain", "list"], &self.domain),
            (&["ontology", "search", "quokka"], &node),
            (&["ontology", "traverse", &node], "quokka"),
        ];
        for (command, shown) in lists {
            let text = self.run(&self.token, command).succeeded();
            assert_eq!(text.contains(shown), self.reads, "{}: {command:?}: {text}", self.domain);
        }
        let cited = self.run(&self.token, &["run", &self.domain, &format!("[mem:{memory}]")]);
        assert_eq!(cited.succeeded().contains("unknown"), !self.reads, "{}", self.domain);
        lists.len() + 1
    }

    /// What is refused says what is missing, and nothing of what is there.
    fn commands(&self) -> usize {
        let (memory, node) = (self.memory(), self.node());
        let open = self.admin(&["ontology", "create-node", "animal", &format!("wombat {node}")]);
        let edge = self.admin(&["ontology", "create-edge", &node, "KNOWS", &open]);
        let erased = self.memory();
        let (m, n, domain) = (memory.as_str(), node.as_str(), self.domain.as_str());
        let commands: [(&[&str], bool); 20] = [
            (&["memory", "get", m], self.reads),
            (&["memory", "pin", m], self.writes),
            (&["memory", "unpin", m], self.writes),
            (&["memory", "weight", m, "1"], self.writes),
            (&["promote", m], self.writes),
            (&["memory", "supersede", m, "another"], self.writes),
            (&["forget", m], self.writes),
            (&["forget", "--hard", &erased], self.writes && self.trusted),
            (&["remember", "more", "--domain", domain], self.writes),
            (&["policy", "create", "look twice", "--domain", domain], self.writes),
            (&["ontology", "get-node", n], self.reads),
            (&["ontology", "create-edge", &open, "KNOWS", n], self.reads),
            (&["ontology", "create-edge", n, "LIKES", &open], self.writes),
            (&["ontology", "delete-edge", &edge], self.writes),
            (&["ontology", "update-node", n, r#"{"salience": 1}"#], self.writes),
            (&["ontology", "split", n, &edge], self.writes),
            (&["ontology", "create-node", "animal", "x", "--domain", domain], self.writes),
            (&["ontology", "merge", &open, n], self.writes),
            (&["ontology", "delete-node", n], self.writes),
            (&["grant", "set", "*", "elsewhere", "write"], self.is_admin()),
        ];
        for (command, allowed) in commands {
            let ended = self.run(&self.token, command);
            let context = format!("{domain}: {command:?}: {ended:?}");
            assert_eq!(ended.code, Some(i32::from(!allowed)), "{context}");
            if !allowed {
                assert!(!ended.stderr.contains("quokka") && ended.stdout.is_empty(), "{context}");
                let known = ["no such", "permission `write`", "needs the role"];
                assert!(known.iter().any(|words| ended.stderr.contains(words)), "{context}");
                let names = [m, n, &edge, &erased].iter().any(|id| command.contains(id));
                let hidden = names && !self.reads && (self.trusted || command[1] != "--hard");
                assert_eq!(ended.stderr.contains("no such"), hidden, "{context}");
            }
        }
        commands.len()
    }

    fn is_admin(&self) -> bool {
        self.domain.starts_with("burrow-admin")
    }
}
