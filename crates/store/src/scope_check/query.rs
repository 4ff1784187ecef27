//! Walking through the queries of a statement, each at its own level.

use super::{
    tables::{Level, Tied, is_workspace_expression, owner_column, starts_query},
    tokens::Node,
};

/// Words that end a FROM or WHERE at the same level.
const CLAUSES: &[&str] = &[
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "returning",
];
const SET_OPERATORS: &[&str] = &["union", "intersect", "except"];

pub(super) fn scope_faults(nodes: &[Node]) -> Vec<String> {
    let mut walk = Walk::default();
    let nodes = match nodes {
        [rest @ .., last] if last.is_symbol(";") => rest,
        all => all,
    };
    if nodes.iter().any(|it| it.is_symbol(";")) {
        walk.fault("more than one statement");
    }
    walk.query(nodes, &Tied::new(), None);
    walk.faults
}

#[derive(Default)]
struct Walk {
    ctes: Vec<String>,
    faults: Vec<String>,
}

impl Walk {
    fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push(fault.into());
    }

    /// A query with its common table expressions. `owned` is the position at which each SELECT
    /// must deliver the workspace, where it feeds an INSERT.
    fn query(&mut self, nodes: &[Node], outer: &Tied, owned: Option<usize>) {
        let known = self.ctes.len();
        let rest = self.expressions(nodes, outer);
        match rest.first() {
            Some(first) if first.is("insert") => self.insert(rest, outer),
            Some(first) if first.is("update") => self.update(rest, outer),
            Some(first) if first.is("delete") => self.delete(rest, outer),
            Some(_) => {
                for arm in rest.split(|it| it.is_any(SET_OPERATORS)) {
                    let arm = arm.strip_prefix(&[Node::Word("all".to_owned())]).unwrap_or(arm);
                    self.arm(arm, outer, owned);
                }
            }
            None => self.fault("an empty query"),
        }
        self.ctes.truncate(known);
    }

    /// Reads `WITH name AS (…), …` and returns what follows it.
    fn expressions<'n>(&mut self, nodes: &'n [Node], outer: &Tied) -> &'n [Node] {
        let Some((_, mut rest)) = nodes.split_first().filter(|it| it.0.is("with")) else {
            return nodes;
        };
        let recursive = rest.first().is_some_and(|it| it.is("recursive"));
        if recursive {
            rest = &rest[1..];
        }
        loop {
            let Some(name) = rest.first().and_then(Node::word) else {
                self.fault("WITH is not followed by a name");
                return &[];
            };
            // Unless it is recursive, its name still means the table of that name inside it.
            if recursive {
                self.ctes.push(name.to_owned());
            }
            let Some(at) = rest.iter().position(|it| it.is("as")) else {
                self.fault(format!("{name} has no query"));
                return &[];
            };
            let skipped = rest[at..].iter().take_while(|it| !matches!(it, Node::Group(_))).count();
            let Some(Node::Group(inner)) = rest.get(at + skipped) else {
                self.fault(format!("{name} has no query"));
                return &[];
            };
            self.query(inner, outer, None);
            if !recursive {
                self.ctes.push(name.to_owned());
            }
            rest = &rest[at + skipped + 1..];
            match rest.split_first() {
                Some((comma, after)) if comma.is_symbol(",") => rest = after,
                _ => return rest,
            }
        }
    }

    fn arm(&mut self, nodes: &[Node], outer: &Tied, owned: Option<usize>) {
        match nodes {
            [Node::Group(inner), ..] => self.query(inner, outer, owned),
            [first, rows @ ..] if first.is("values") => self.values(rows, outer, owned),
            [first, rest @ ..] if first.is("select") => self.select(rest, outer, owned),
            _ => self.fault("a query that is not understood"),
        }
    }

    fn values(&mut self, rows: &[Node], outer: &Tied, owned: Option<usize>) {
        for row in rows {
            if let (Node::Group(cells), Some(position)) = (row, owned) {
                let cell = cells.split(|it| it.is_symbol(",")).nth(position);
                if !cell.is_some_and(|it| is_workspace_expression(it, &Tied::new())) {
                    self.fault("a row is inserted whose workspace is not $1");
                }
            }
        }
        self.nested(rows, outer);
    }

    fn select(&mut self, nodes: &[Node], outer: &Tied, owned: Option<usize>) {
        // `IS DISTINCT FROM` compares; it names no table.
        let from = (0..nodes.len())
            .find(|at| nodes[*at].is("from") && !(*at > 0 && nodes[*at - 1].is("distinct")));
        let (list, rest) = nodes.split_at(from.unwrap_or(nodes.len()));
        let mut level = Level::default();
        if let Some((_, rest)) = rest.split_first() {
            let (tables, rest) = rest.split_at(end_of(rest, CLAUSES));
            level.from(tables, &self.ctes);
            level.condition(where_of(rest), None);
        }
        let tied = self.finish(&mut level, outer);
        if let Some(position) = owned {
            let list = list.strip_prefix(&[Node::Word("distinct".to_owned())]).unwrap_or(list);
            let item = list.split(|it| it.is_symbol(",")).nth(position).unwrap_or_default();
            let item = &item[..end_of(item, &["as"])];
            if !is_workspace_expression(item, &tied) {
                self.fault("a row is inserted whose workspace is not $1");
            }
        }
        self.nested(nodes, &tied);
    }

    fn update(&mut self, nodes: &[Node], outer: &Tied) {
        let mut level = Level::default();
        let table = nodes.get(1).and_then(Node::word).unwrap_or_default().to_owned();
        let (_, rest) = level.table(nodes.get(1..).unwrap_or_default(), &[]);
        let (set, rest) = rest.split_at(end_of(rest, &["from", "where", "returning"]));
        self.assignments(set, &table);
        if let Some((_, rest)) = rest.split_first().filter(|it| it.0.is("from")) {
            level.from(&rest[..end_of(rest, CLAUSES)], &self.ctes);
        }
        level.condition(where_of(&rest[end_of(rest, &["where"])..]), None);
        let tied = self.finish(&mut level, outer);
        self.nested(nodes, &tied);
    }

    fn delete(&mut self, nodes: &[Node], outer: &Tied) {
        let mut level = Level::default();
        if !nodes.get(1).is_some_and(|it| it.is("from")) {
            self.fault("DELETE without FROM");
        }
        let (_, rest) = level.table(nodes.get(2..).unwrap_or_default(), &[]);
        if rest.first().is_some_and(|it| it.is("using")) {
            self.fault("DELETE … USING is not portable");
        }
        level.condition(where_of(rest), None);
        let tied = self.finish(&mut level, outer);
        self.nested(nodes, &tied);
    }

    fn insert(&mut self, nodes: &[Node], outer: &Tied) {
        let [_, into, Node::Word(table), rest @ ..] = nodes else {
            return self.fault("an INSERT that is not understood");
        };
        if !into.is("into") {
            self.fault("INSERT OR … is not portable: use ON CONFLICT");
        }
        let owner = owner_column(table);
        let columns_at = end_of_group(rest);
        let Some(Node::Group(columns)) = rest.get(columns_at) else {
            return self.fault(format!("the columns of {table} must be named"));
        };
        let mut names = columns.split(|it| it.is_symbol(","));
        let Some(position) = names.position(|it| matches!(it, [name] if name.is(owner))) else {
            return self.fault(format!("{owner} is not inserted into {table}"));
        };
        let rest = &rest[columns_at + 1..];
        let conflict = rest.windows(2).position(|it| it[0].is("on") && it[1].is("conflict"));
        let end = conflict.unwrap_or_else(|| end_of(rest, &["returning"]));
        self.query(&rest[..end], outer, Some(position));
        if conflict.is_some() {
            self.upsert(table, &rest[end + 2..]);
        }
        self.nested(&rest[end..], outer);
    }

    /// The row in the way may be somebody else's unless the workspace is part of the conflict.
    fn upsert(&mut self, table: &str, nodes: &[Node]) {
        if !nodes.iter().any(|it| it.is("update")) {
            return;
        }
        let owner = owner_column(table);
        let named = matches!(nodes.first(), Some(Node::Group(columns))
            if columns.split(|it| it.is_symbol(",")).any(|it| matches!(it, [name] if name.is(owner))));
        if !named {
            self.fault(format!("ON CONFLICT must name {owner} to update {table}"));
        }
        let set = &nodes[end_of(nodes, &["set"])..];
        self.assignments(&set[..end_of(set, &["where", "returning"])], table);
    }

    /// A row never moves to another workspace.
    fn assignments(&mut self, set: &[Node], table: &str) {
        let owner = owner_column(table);
        for assignment in set.get(1..).unwrap_or_default().split(|it| it.is_symbol(",")) {
            let moves = match assignment.first() {
                Some(Node::Group(columns)) => columns.iter().any(|it| it.is(owner)),
                Some(first) => first.is(owner),
                None => false,
            };
            if moves {
                self.fault(format!("{owner} of {table} must not be changed"));
            }
        }
    }

    /// Reports the tables that are not tied and returns those that are.
    fn finish(&mut self, level: &mut Level, outer: &Tied) -> Tied {
        self.faults.append(&mut level.faults);
        let tied = level.tied(outer);
        for alias in level.loose(&tied) {
            self.faults.push(format!("{alias} is not tied to the workspace $1"));
        }
        tied
    }

    /// Checks the queries in parentheses, however deep, with the tables around them in sight.
    fn nested(&mut self, nodes: &[Node], tied: &Tied) {
        for node in nodes {
            if let Node::Group(inner) = node {
                if starts_query(inner) {
                    self.query(inner, tied, None);
                } else {
                    self.nested(inner, tied);
                }
            }
        }
    }
}

fn end_of(nodes: &[Node], words: &[&str]) -> usize {
    nodes.iter().position(|it| it.is_any(words)).unwrap_or(nodes.len())
}

fn end_of_group(nodes: &[Node]) -> usize {
    nodes.iter().position(|it| matches!(it, Node::Group(_))).unwrap_or(nodes.len())
}

/// The condition after WHERE at this level, if any.
fn where_of(nodes: &[Node]) -> &[Node] {
    match nodes.split_first() {
        Some((first, rest)) if first.is("where") => &rest[..end_of(rest, CLAUSES)],
        _ => &[],
    }
}
