//! Commands about patterns, and what is told of them before an action.

use anyhow::Result;
use mnemic_server::wire::PageResponse;
use mnemic_server::wire::pattern::{
    EffectResponse, InjectRequest, InjectResponse, PatternPatchRequest, PatternResponse,
    PatternViewResponse,
};

use super::{OWN, encoded, text_or_stdin};
use crate::cli::{InjectArgs, PatternCommand, PatternListArgs};
use crate::client::Client;
use crate::config::CommonArgs;
use crate::output;

pub async fn run(client: &Client, common: &CommonArgs, command: PatternCommand) -> Result<()> {
    let path = format!("{OWN}/patterns");
    match command {
        PatternCommand::List(args) => {
            list(client, common, &format!("{path}?{}", wishes(args).join("&"))).await
        }
        PatternCommand::Show { id } => show(client, common, &format!("{path}/{id}")).await,
        PatternCommand::Annotate { id, annotation, recommendation, clear } => {
            let text = |text: Option<String>| text.map(text_or_stdin).transpose();
            let (annotation, recommendation) = (text(annotation)?, text(recommendation)?);
            let patch = PatternPatchRequest {
                annotation: if clear { Some(None) } else { annotation.map(Some) },
                recommendation: if clear { Some(None) } else { recommendation.map(Some) },
                suppressed: None,
            };
            change(client, common, &format!("{path}/{id}"), &patch).await
        }
        PatternCommand::Suppress { id, undo } => {
            let patch =
                PatternPatchRequest { suppressed: Some(!undo), ..PatternPatchRequest::default() };
            change(client, common, &format!("{path}/{id}"), &patch).await
        }
    }
}

pub async fn inject(client: &Client, common: &CommonArgs, args: InjectArgs) -> Result<()> {
    let request = InjectRequest {
        node_ids: args.node,
        node_types: args.node_type,
        action_type: args.action,
        session_id: args.session,
    };
    let told: InjectResponse =
        client.post(&format!("{OWN}/context-inject"), &serde_json::to_value(request)?).await?;
    if common.json {
        output::json(&told);
        return Ok(());
    }
    if told.held_out {
        output::note("the session is held out: it is told nothing, for comparison");
    } else if told.text.is_empty() {
        output::note("nothing to tell");
    }
    told.text.lines().for_each(output::line);
    Ok(())
}

fn wishes(args: PatternListArgs) -> Vec<String> {
    let mut wishes = vec![format!("sort={}", args.sort.as_str())];
    wishes.extend(args.action.map(|action| format!("action_type={}", encoded(&action))));
    wishes.extend(args.node_type.map(|kind| format!("node_type={}", encoded(&kind))));
    wishes.extend(args.failures.then(|| "outcome=failure".to_owned()));
    wishes.extend(args.successes.then(|| "outcome=success".to_owned()));
    wishes.extend(args.past.then(|| "past=true".to_owned()));
    wishes.extend(args.limit.map(|limit| format!("limit={limit}")));
    wishes.extend(args.cursor.map(|cursor| format!("cursor={}", encoded(&cursor))));
    wishes
}

async fn list(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let page: PageResponse<PatternResponse> = client.get(path).await?;
    if common.json {
        output::json(&page);
        return Ok(());
    }
    page.items.iter().for_each(|pattern| output::line(&line(pattern)));
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("there is more: --cursor {cursor}"));
    }
    Ok(())
}

async fn show(client: &Client, common: &CommonArgs, path: &str) -> Result<()> {
    let view: PatternViewResponse = client.get(path).await?;
    if common.json {
        output::json(&view);
        return Ok(());
    }
    output::line(&line(&view.pattern));
    output::line(&output::one_line(&view.pattern.recommendation));
    if let Some(annotation) = &view.pattern.annotation {
        output::line(&output::one_line(annotation));
    }
    view.supersedes.iter().for_each(|id| output::line(&format!("supersedes  {id}")));
    output::line(&effect(&view.effect));
    Ok(())
}

async fn change(
    client: &Client,
    common: &CommonArgs,
    path: &str,
    patch: &PatternPatchRequest,
) -> Result<()> {
    let pattern: PatternResponse = client.patch(path, &serde_json::to_value(patch)?).await?;
    if common.json {
        output::json(&pattern);
    } else {
        output::line(&line(&pattern));
    }
    Ok(())
}

fn line(pattern: &PatternResponse) -> String {
    let PatternResponse { id, confidence, sample_count, total_count, .. } = pattern;
    let badge = if pattern.suppressed { "  suppressed" } else { "" };
    let key = pattern.key();
    output::one_line(&format!("{id}  {confidence:.2}  {sample_count}/{total_count}  {key}{badge}"))
}

fn effect(effect: &EffectResponse) -> String {
    let EffectResponse { shown, avoided, held_out, held_out_avoided, .. } = effect;
    let mut line =
        format!("told {shown}, avoided {avoided}; held out {held_out}, avoided {held_out_avoided}");
    if let (Some(delta), Some(low), Some(high)) =
        (effect.delta, effect.delta_low, effect.delta_high)
    {
        line = format!("{line}; difference {delta:+.3} ({low:+.3} to {high:+.3})");
    }
    line
}
