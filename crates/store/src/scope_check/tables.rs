//! Which tables one level of a query names, and which of them its conditions tie to `$1`.

use std::collections::HashMap;

use super::tokens::Node;

/// The column that says whose a row is.
pub(super) fn owner_column(table: &str) -> &'static str {
    if table == "workspaces" { "id" } else { "workspace_id" }
}

/// Aliases that are tied, each with its table.
pub(super) type Tied = HashMap<String, String>;

/// The tables of one level, and what is known about them.
#[derive(Debug, Default)]
pub(super) struct Level {
    tables: Vec<(String, String)>,
    facts: Vec<Fact>,
    pub(super) faults: Vec<String>,
}

/// A condition that always holds.
#[derive(Debug)]
struct Fact {
    left: Side,
    right: Side,
    /// The condition of a left join filters only the table that it joins.
    only: Option<String>,
}

#[derive(Debug, Clone)]
enum Side {
    Workspace,
    Column { alias: Option<String>, name: String },
}

const JOIN_WORDS: &[&str] =
    &["join", "inner", "left", "right", "full", "cross", "natural", "outer"];
const ENDS_ALIAS: &[&str] = &["on", "using", "set", "where", "values", "select", "default", "with"];

impl Level {
    /// Reads one table with its alias from the front of `nodes` and returns what is left. What is
    /// no table (a subquery, a function, a common table expression) needs no tie of its own.
    pub(super) fn table<'n>(
        &mut self,
        nodes: &'n [Node],
        ctes: &[String],
    ) -> (Option<String>, &'n [Node]) {
        let mut rest = nodes;
        if rest.first().is_some_and(|it| it.is("lateral")) {
            rest = &rest[1..];
        }
        let mut name = None;
        match rest {
            [Node::Group(inner), ..] => {
                if !starts_query(inner) {
                    self.faults.push("a parenthesis after FROM must be a query".to_owned());
                }
                rest = &rest[1..];
            }
            [Node::Word(_), Node::Group(_), ..] => rest = &rest[2..],
            [Node::Word(schema), Node::Symbol(dot), Node::Word(_), ..] if dot == "." => {
                self.faults.push(format!("a table must not name its schema ({schema})"));
                rest = &rest[3..];
            }
            [Node::Word(table), ..] => {
                name = Some(table.clone()).filter(|it| !ctes.contains(it));
                rest = &rest[1..];
            }
            _ => self.faults.push("a table was expected".to_owned()),
        }
        let mut alias = name.clone();
        if rest.first().is_some_and(|it| it.is("as")) {
            rest = &rest[1..];
        }
        if let Some(word) = rest.first().and_then(Node::word)
            && !JOIN_WORDS.contains(&word)
            && !ENDS_ALIAS.contains(&word)
        {
            alias = Some(word.to_owned());
            rest = &rest[1..];
            if name.is_none() && matches!(rest.first(), Some(Node::Group(_))) {
                rest = &rest[1..];
            }
        }
        if let (Some(name), Some(alias)) = (name, alias.clone()) {
            if self.tables.iter().any(|it| it.0 == alias) {
                self.faults.push(format!("{alias} stands for two tables"));
            }
            self.tables.push((alias, name));
        }
        (alias, rest)
    }

    /// Reads what stands between FROM and WHERE.
    pub(super) fn from(&mut self, nodes: &[Node], ctes: &[String]) {
        let (_, mut rest) = self.table(nodes, ctes);
        while let Some(first) = rest.first() {
            let mut left = false;
            if first.is_symbol(",") {
                rest = &rest[1..];
            } else {
                let words = rest.iter().take_while(|it| it.is_any(JOIN_WORDS)).count();
                let (join, after) = rest.split_at(words);
                if join.last().is_none_or(|it| !it.is("join")) {
                    self.faults.push("what follows FROM is not understood".to_owned());
                    return;
                }
                if join.iter().any(|it| it.is_any(&["right", "full", "natural"])) {
                    self.faults.push("right, full and natural joins are not followed".to_owned());
                }
                left = join.iter().any(|it| it.is("left"));
                rest = after;
            }
            let (alias, after) = self.table(rest, ctes);
            rest = after;
            if rest.first().is_some_and(|it| it.is("on")) {
                let ends = |it: &Node| it.is_symbol(",") || it.is_any(JOIN_WORDS);
                let end = rest.iter().position(ends).unwrap_or(rest.len());
                self.condition(&rest[1..end], if left { alias.as_ref() } else { None });
                rest = &rest[end..];
            } else if rest.first().is_some_and(|it| it.is("using")) {
                self.faults.push("USING is not followed: write the condition out".to_owned());
                rest = rest.get(2..).unwrap_or_default();
            }
        }
    }

    /// Notes what a condition makes certain. Beside an OR or in a CASE nothing is certain.
    pub(super) fn condition(&mut self, nodes: &[Node], only: Option<&String>) {
        if nodes.iter().any(|it| it.is_any(&["or", "case"])) {
            return;
        }
        let mut between = false;
        for part in nodes.split(|it| it.is("and")) {
            // The AND of a BETWEEN joins no conditions.
            let bound = std::mem::replace(&mut between, part.iter().any(|it| it.is("between")));
            match part {
                _ if bound => {}
                [Node::Group(inner)] if !starts_query(inner) => self.condition(inner, only),
                _ => {
                    let equals = part.iter().position(|it| it.is_symbol("="));
                    let Some((left, right)) = equals.map(|at| (&part[..at], &part[at + 1..]))
                    else {
                        continue;
                    };
                    if let (Some(left), Some(right)) = (side(left), side(right)) {
                        self.facts.push(Fact { left, right, only: only.cloned() });
                    }
                }
            }
        }
    }

    /// The tables that are tied, directly or through one another; `outer` are those of the levels
    /// around this one.
    pub(super) fn tied(&self, outer: &Tied) -> Tied {
        let mut tied: Tied = outer.clone();
        tied.retain(|alias, _| self.tables.iter().all(|it| it.0 != *alias));
        loop {
            let before = tied.len();
            for fact in &self.facts {
                for (this, other) in [(&fact.left, &fact.right), (&fact.right, &fact.left)] {
                    let Some((alias, table)) = self.owner(this) else { continue };
                    let allowed = fact.only.as_ref().is_none_or(|only| only == alias);
                    if allowed && is_workspace(other, &tied) {
                        tied.insert(alias.clone(), table.clone());
                    }
                }
            }
            if tied.len() == before {
                return tied;
            }
        }
    }

    /// Tables that nothing ties.
    pub(super) fn loose<'a>(&'a self, tied: &'a Tied) -> impl Iterator<Item = &'a str> {
        let loose = self.tables.iter().filter(|(alias, _)| !tied.contains_key(alias));
        loose.map(|(alias, _)| alias.as_str())
    }

    /// The table of this level whose owner column a side is. A name without an alias can only be
    /// told apart where there is one table.
    fn owner(&self, side: &Side) -> Option<&(String, String)> {
        let Side::Column { alias, name } = side else { return None };
        let table = match (alias, &*self.tables) {
            (Some(alias), tables) => tables.iter().find(|it| it.0 == *alias)?,
            (None, [only]) => only,
            _ => return None,
        };
        (owner_column(&table.1) == name).then_some(table)
    }
}

pub(super) fn starts_query(nodes: &[Node]) -> bool {
    nodes.first().is_some_and(|it| it.is_any(&["select", "with", "values"]))
}

/// Whether an expression is the workspace: `$1`, or the owner column of a tied table.
pub(super) fn is_workspace_expression(nodes: &[Node], tied: &Tied) -> bool {
    side(nodes).is_some_and(|side| is_workspace(&side, tied))
}

fn is_workspace(side: &Side, tied: &Tied) -> bool {
    match side {
        Side::Workspace => true,
        Side::Column { alias: Some(alias), name } => {
            tied.get(alias).is_some_and(|table| owner_column(table) == name)
        }
        Side::Column { alias: None, .. } => false,
    }
}

fn side(nodes: &[Node]) -> Option<Side> {
    match nodes {
        [Node::Param(1)] => Some(Side::Workspace),
        [Node::Word(name)] => Some(Side::Column { alias: None, name: name.clone() }),
        [Node::Word(alias), Node::Symbol(dot), Node::Word(name)] if dot == "." => {
            Some(Side::Column { alias: Some(alias.clone()), name: name.clone() })
        }
        _ => None,
    }
}
