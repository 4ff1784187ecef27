//! A two-hop walk from a hub of a large graph against one lookup by key, by turns.
//!
//! Both go through the same door of the product without a server in front, so that what is
//! compared is the work of the store: one read of one row, and a walk that ends at its limit.

use std::time::Instant;

use anyhow::{Result, bail};
use mnemic_core::clock::{Clock as _, IdSource, SystemClock};
use mnemic_core::edge::Edge;
use mnemic_core::ids::{EdgeId, NodeId};
use mnemic_core::node::{Node, Properties, Traversal};
use mnemic_core::principal::{ADMIN, Caller, Principal};
use mnemic_core::store::Change;
use mnemic_core::token::NewToken;
use uuid::Uuid;

use super::TraverseArgs;
use super::report::{Report, Target, median};
use super::stage::{Opened, Stage};
use crate::config::CommonArgs;
use crate::output;

/// How many edges go into one transaction.
const BATCH: usize = 5_000;
const HUB_NEIGHBOURS: usize = 1_000;
/// Edges per node, beside those of the hub.
const DEGREE: usize = 10;
const WARM_UP: usize = 50;
const TIMES_AT_MOST: f64 = 10.0;

pub async fn run(common: &CommonArgs, args: &TraverseArgs) -> Result<Report> {
    let stage = Stage::new(common, args.dir.as_deref())?;
    let (mut opened, engine) = match &args.store {
        Some(url) => (stage.open_database(url).await?, "PostgreSQL"),
        None => (stage.open().await?, "embedded"),
    };
    opened.principal = member_of_new_workspace(&opened).await?;
    let measured = measure(&opened, args, engine).await;
    // It is the bench's own, whatever else the store holds.
    opened.store.erase_workspace(opened.principal.workspace_id).await?;
    opened.mnemic.close().await;
    measured
}

async fn member_of_new_workspace(opened: &Opened) -> Result<Principal> {
    let name = format!("bench-{}", Uuid::new_v4());
    let caller = Caller::new(opened.principal.clone());
    opened.mnemic.create_workspace(&caller, &name).await?;
    let wish = NewToken { workspace: Some(name), role: ADMIN.to_owned(), ..NewToken::default() };
    let (_, secret) = opened.mnemic.create_token(&opened.principal, wish).await?;
    Ok(opened.mnemic.authenticate(secret.reveal()).await?)
}

async fn measure(opened: &Opened, args: &TraverseArgs, engine: &str) -> Result<Report> {
    let hub = fill(opened, args.edges).await?;
    let (mnemic, who) = (&opened.mnemic, &opened.principal);
    let walk = |limit| Traversal {
        ids: vec![hub.0],
        depth: 2,
        limit: Some(limit),
        ..Traversal::default()
    };
    let (mut lookups, mut walks, mut widest) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..WARM_UP + args.rounds.max(1) {
        let started = Instant::now();
        mnemic.get_node(who, hub).await?;
        let lookup = started.elapsed().as_secs_f64() * 1e6;
        let started = Instant::now();
        let graph = mnemic.traverse(who, &walk(100)).await?;
        let walked = started.elapsed().as_secs_f64() * 1e6;
        let started = Instant::now();
        let wide = mnemic.traverse(who, &walk(1_000)).await?;
        let wide_walked = started.elapsed().as_secs_f64() * 1e6;
        if graph.nodes.len() != 100 || wide.nodes.len() != 1_000 || !wide.truncated {
            bail!("the walk found {} and {} nodes", graph.nodes.len(), wide.nodes.len());
        }
        if round >= WARM_UP {
            lookups.push(lookup);
            walks.push(walked);
            widest.push(wide_walked);
        }
    }
    let subject = format!("{} edges, {engine}, {} rounds", args.edges, lookups.len());
    let mut report = Report::new("traverse", subject);
    report.add("lookup by key, µs", median(&lookups));
    report.add("two hops, limit 100, µs", median(&walks));
    report.add("two hops, limit 1,000, µs", median(&widest));
    let ratio = |of: &[f64]| median(of) / median(&lookups);
    report.promise("two hops, limit 100 / lookup", ratio(&walks), Target::AtMost(TIMES_AT_MOST));
    report.add("two hops, limit 1,000 / lookup", ratio(&widest));
    Ok(report)
}

/// A hub that knows a thousand nodes, and as many others as it takes, each joined to a few.
async fn fill(opened: &Opened, edges: usize) -> Result<NodeId> {
    output::note(&format!("Filling a store with {edges} edges"));
    let (store, scope) = (&opened.store, opened.principal.scope());
    let maker = Maker { ids: IdSource::default() };
    let count = (edges / DEGREE).max(HUB_NEIGHBOURS + 1);
    let mut nodes = Vec::with_capacity(count);
    while nodes.len() < count {
        let room = (count - nodes.len()).min(BATCH);
        let made: Vec<_> = (0..room).map(|n| maker.node(nodes.len() + n)).collect();
        nodes.extend(made.iter().map(|node| node.id));
        store.commit(scope, made.into_iter().map(Change::AddNode).collect()).await?;
    }
    let hub = nodes[0];
    let mut pairs: Vec<_> = nodes[1..=HUB_NEIGHBOURS].iter().map(|to| (hub, *to)).collect();
    let mut made = 0;
    // A step that differs for every round over the nodes, so that no pair comes twice.
    for step in (7..).step_by(7) {
        if made + pairs.len() >= edges {
            break;
        }
        for (place, from) in nodes.iter().enumerate().skip(1) {
            if made + pairs.len() >= edges {
                break;
            }
            let to = nodes[1 + (place + step) % (nodes.len() - 1)];
            pairs.push((*from, to));
            if pairs.len() == BATCH {
                made += pairs.len();
                store.commit(scope, maker.edges(&std::mem::take(&mut pairs))).await?;
            }
        }
    }
    store.commit(scope, maker.edges(&pairs)).await?;
    Ok(hub)
}

struct Maker {
    ids: IdSource,
}

impl Maker {
    fn node(&self, number: usize) -> Node {
        let now = SystemClock.now();
        Node {
            id: NodeId(self.ids.next(now)),
            node_type: "thing".to_owned(),
            name: format!("Thing {number}"),
            aliases: vec![],
            channel: mnemic_core::memory::GLOBAL_CHANNEL.to_owned(),
            domain: None,
            description: None,
            properties: Properties::new(),
            salience: 0.5,
            connection_id: None,
            first_seen: now,
            last_accessed: None,
            access_count: 0,
            created_by: "bench".to_owned(),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            revision: 1,
        }
    }

    fn edges(&self, pairs: &[(NodeId, NodeId)]) -> Vec<Change> {
        let now = SystemClock.now();
        let edge = |(source, target): &(NodeId, NodeId)| {
            let edge = Edge {
                id: EdgeId(self.ids.next(now)),
                channel: mnemic_core::memory::GLOBAL_CHANNEL.to_owned(),
                source_id: source.0,
                target_id: target.0,
                relation: "KNOWS".to_owned(),
                properties: Properties::new(),
                valid_from: None,
                valid_to: None,
                recorded_at: now,
                superseded_at: None,
                revision: 1,
            };
            Change::AddEdge { edge, domain: None }
        };
        pairs.iter().map(edge).collect()
    }
}
