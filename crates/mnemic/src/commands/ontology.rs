//! Commands about the graph.

use anyhow::{Context as _, Result};
use mnemic_server::wire::edge::{EdgeRequest, EdgeResponse};
use mnemic_server::wire::node::{
    DirectionWire, MergeRequest, NodeRequest, NodeResponse, NodeSearchRequest, NodeSearchResponse,
    SplitRequest, SplitResponse, TraverseRequest, TraverseResponse,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{OWN, encoded, erase};
use crate::cli::{DirectionArg, NodeArgs, OntologyCommand, SplitArgs, TraverseArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: OntologyCommand) -> Result<()> {
    let nodes = format!("{OWN}/ontology/nodes");
    match command {
        OntologyCommand::CreateNode(args) => create_node(client, common, args).await,
        OntologyCommand::GetNode { id } => {
            show(common, &client.get(&format!("{nodes}/{id}")).await?);
            Ok(())
        }
        OntologyCommand::UpdateNode { id, patch } => {
            let patch: Value = serde_json::from_str(&patch).context("the change must be JSON")?;
            show(common, &client.patch(&format!("{nodes}/{id}"), &patch).await?);
            Ok(())
        }
        OntologyCommand::DeleteNode { id, hard } => {
            let answer = client.delete(&format!("{nodes}/{id}?hard={hard}")).await?;
            if hard {
                return erase::show(common, answer);
            }
            gone(common, id, "deleted");
            Ok(())
        }
        OntologyCommand::CreateEdge { source, relation, target, properties, from, to } => {
            let mut request = serde_json::to_value(EdgeRequest {
                source_id: source,
                target_id: target,
                relation,
                properties: object(properties.as_deref())?,
                ..EdgeRequest::default()
            })?;
            set(&mut request, "valid_from", from);
            set(&mut request, "valid_to", to);
            create_edge(client, common, &request).await
        }
        OntologyCommand::DeleteEdge { id } => {
            client.delete(&format!("{OWN}/ontology/edges/{id}")).await?;
            gone(common, id, "closed");
            Ok(())
        }
        OntologyCommand::Search { query, types, channel, limit } => {
            let types = (!types.is_empty()).then_some(types);
            search(client, common, NodeSearchRequest { query, types, channel, limit }).await
        }
        OntologyCommand::Traverse(args) => traverse(client, common, args).await,
        OntologyCommand::Merge { id, into } => {
            let request = serde_json::to_value(MergeRequest { into })?;
            show(common, &client.post(&format!("{nodes}/{id}/merge"), &request).await?);
            Ok(())
        }
        OntologyCommand::Split(args) => split(client, common, args).await,
        OntologyCommand::DeleteConnection { id } => delete_connection(client, common, &id).await,
    }
}

async fn create_node(client: &Client, common: &CommonArgs, args: NodeArgs) -> Result<()> {
    let request = NodeRequest {
        node_type: args.node_type,
        name: args.name,
        aliases: (!args.aliases.is_empty()).then_some(args.aliases),
        description: args.description,
        properties: object(args.properties.as_deref())?,
        channel: args.channel,
        domain: args.domain,
        salience: None,
        connection_id: args.connection,
        revive: args.revive.then_some(true),
    };
    let path = format!("{OWN}/ontology/nodes");
    let node: NodeResponse = client.post(&path, &serde_json::to_value(request)?).await?;
    made(common, &node, node.id);
    Ok(())
}

async fn create_edge(client: &Client, common: &CommonArgs, request: &Value) -> Result<()> {
    let edge: EdgeResponse = client.post(&format!("{OWN}/ontology/edges"), request).await?;
    made(common, &edge, edge.id);
    Ok(())
}

async fn search(client: &Client, common: &CommonArgs, request: NodeSearchRequest) -> Result<()> {
    let path = format!("{OWN}/ontology/search");
    let found: NodeSearchResponse = client.post(&path, &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&found);
        return Ok(());
    }
    for hit in &found.items {
        show(common, &hit.node);
    }
    Ok(())
}

async fn traverse(client: &Client, common: &CommonArgs, args: TraverseArgs) -> Result<()> {
    let mut request = serde_json::to_value(TraverseRequest {
        ids: args.ids,
        depth: Some(args.depth),
        relations: (!args.relations.is_empty()).then_some(args.relations),
        types: (!args.types.is_empty()).then_some(args.types),
        limit: args.limit,
        direction: args.direction.map(|direction| match direction {
            DirectionArg::Out => DirectionWire::Out,
            DirectionArg::In => DirectionWire::In,
            DirectionArg::Both => DirectionWire::Both,
        }),
        ..TraverseRequest::default()
    })?;
    set(&mut request, "as_of", args.as_of);
    set(&mut request, "known_at", args.known_at);
    let graph: TraverseResponse =
        client.post(&format!("{OWN}/ontology/traverse"), &request).await?;
    if common.json {
        output::json(&graph);
        return Ok(());
    }
    for node in &graph.nodes {
        let (indent, name) = ("  ".repeat(node.depth as usize), output::one_line(&node.name));
        output::line(&format!("{indent}{}  {}  {name}", node.id, node.node_type));
    }
    for edge in &graph.edges {
        let EdgeResponse { id, source_id, relation, target_id, .. } = edge;
        output::line(&format!("{id}  {source_id}  {relation}  {target_id}"));
    }
    if graph.truncated {
        output::note("there is more: narrow it, or raise --limit");
    }
    Ok(())
}

async fn split(client: &Client, common: &CommonArgs, args: SplitArgs) -> Result<()> {
    let request = SplitRequest {
        name: args.name,
        node_type: args.node_type,
        aliases: (!args.aliases.is_empty()).then_some(args.aliases),
        edge_ids: (!args.edges.is_empty()).then_some(args.edges),
    };
    let path = format!("{OWN}/ontology/nodes/{}/split", args.id);
    let done: SplitResponse = client.post(&path, &serde_json::to_value(request)?).await?;
    made(common, &done, done.split_off.id);
    Ok(())
}

async fn delete_connection(client: &Client, common: &CommonArgs, id: &str) -> Result<()> {
    let answer = client.delete(&format!("{OWN}/ontology/connections/{}", encoded(id))).await?;
    erase::show(common, answer)
}

fn object(text: Option<&str>) -> Result<Option<Map<String, Value>>> {
    let read = text.map(serde_json::from_str).transpose();
    read.context("the properties must be a JSON object such as '{\"since\": 2020}'")
}

/// Times go as they were written: the server says what is wrong with them.
fn set(request: &mut Value, field: &str, time: Option<String>) {
    if let Some(time) = time {
        request[field] = json!(time);
    }
}

fn made(common: &CommonArgs, whole: &impl serde::Serialize, id: Uuid) {
    if common.json {
        output::json(whole);
    } else {
        output::line(&id.to_string());
    }
}

fn gone(common: &CommonArgs, id: Uuid, how: &str) {
    if common.json {
        output::json(&json!({"id": id}));
    } else {
        output::line(&format!("{how} {id}"));
    }
}

fn show(common: &CommonArgs, node: &NodeResponse) {
    if common.json {
        output::json(node);
        return;
    }
    let also = if node.aliases.is_empty() {
        String::new()
    } else {
        format!(" ({})", node.aliases.join(", "))
    };
    let about = node.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    let line = format!("{}{also}{about}", node.name);
    output::line(&format!("{}  {}  {}", node.id, node.node_type, output::one_line(&line)));
}
