//! The chat proxy: OpenAI's `chat/completions` with memory. A client that points its base URL here
//! and sends a token of Mnemic as its key has memory, and notices nothing else.
//!
//! The request goes on byte for byte but for one message from memory, placed directly before the
//! last thing that the user said, so that providers' caches of the beginning stay warm. What comes
//! back goes to the client byte for byte as it arrives; what was said is written down behind it.
//! Memory never stands in the way of the chat: where it fails or is late, the chat goes on without.

mod fault;
mod headers;
mod keep;
mod listen;
mod pump;
mod request;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use mnemic_core::action::{Deed, Failure, Subject};
use mnemic_core::context::{Context, ContextRequest};
use mnemic_core::language::{Relay, Relayed, Route};
use mnemic_core::principal::{Caller, Principal};
use mnemic_core::text::QUERY_BYTES_MAX;
use mnemic_core::{Code, Mnemic};
use uuid::Uuid;

use self::fault::Fault;
use self::headers::{Mode, Wishes};
use self::keep::Exchange;
use self::listen::Listener;
use self::request::Chat;
use crate::http::body;

type Result<T, E = Fault> = std::result::Result<T, E>;

/// Limits on chats.
#[derive(Debug, Clone, Copy)]
pub struct ProxyOptions {
    /// How long a chat waits for memory before it goes on without.
    pub memory_deadline: Duration,
    /// Chats carry their history, and images.
    pub body_bytes_max: usize,
    /// Until the upstream begins to answer.
    pub header_timeout: Duration,
    /// The longest silence within an answer.
    pub idle_timeout: Duration,
    /// How much of an answer is kept to be written down. All of it is passed on.
    pub kept_bytes_max: usize,
}

impl Default for ProxyOptions {
    fn default() -> Self {
        Self {
            memory_deadline: Duration::from_secs(1),
            body_bytes_max: 16 * 1024 * 1024,
            header_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(2),
            kept_bytes_max: 1024 * 1024,
        }
    }
}

/// The routes, for requests whose principal is among their extensions, if they have one.
pub(crate) fn router(mnemic: Arc<Mnemic>, options: ProxyOptions) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(completions))
        .route("/v1/models", get(models))
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Proxy { mnemic, options })
}

#[derive(Clone)]
struct Proxy {
    mnemic: Arc<Mnemic>,
    options: ProxyOptions,
}

async fn completions(State(proxy): State<Proxy>, request: Request) -> Response {
    proxy.chat(request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn models(State(proxy): State<Proxy>, request: Request) -> Response {
    let principal = request.extensions().get().cloned();
    drop(request);
    proxy.list(principal.as_ref()).await.unwrap_or_else(IntoResponse::into_response)
}

async fn method_not_allowed() -> Fault {
    Fault::new(Code::MethodNotAllowed, "the Allow header lists the methods that it takes")
}

impl Proxy {
    async fn chat(&self, request: Request) -> Result<Response> {
        let (parts, body) = request.into_parts();
        let principal = principal(parts.extensions.get())?;
        let wishes = Wishes::read(&parts.headers)?;
        let body = body::read(body).await?;
        let chat = Chat::read(&body)?;
        let conversation = wishes
            .conversation
            .clone()
            .unwrap_or_else(|| chat.conversation(&principal, wishes.agent.as_deref()));
        let (context, skipped) = self.context(&principal, &wishes, &chat, &conversation).await;
        let outgoing = chat.with(&context.text);
        let relay = Relay { route: Route::ChatCompletions, body: Some(outgoing) };
        let started = Instant::now();
        let relayed = self.relay(&principal, relay).await;
        if wishes.mode != Mode::Off {
            let failure = match &relayed {
                Ok(relayed) => (relayed.status >= 400).then_some(Failure::Status(relayed.status)),
                Err(fault) => Some(fault.failure()),
            };
            let deed = deed(&wishes, &conversation, failure, started.elapsed());
            self.mnemic.capture(&principal, deed).await;
        }
        let relayed = relayed?;
        let run_id = format!("chat-{}", Uuid::new_v4());
        let is_kept = wishes.mode == Mode::Write && (200..300).contains(&relayed.status);
        let exchange = is_kept.then(|| Exchange {
            mnemic: self.mnemic.clone(),
            caller: Caller::new(principal.clone()),
            conversation: conversation.clone(),
            run_id: run_id.clone(),
            agent: wishes.agent.clone(),
            said: chat.said(),
            answer_index: chat.answer_index(),
        });
        let mut response = self.pass_on(relayed, exchange);
        let headers = response.headers_mut();
        headers::tell(headers, headers::CONVERSATION, &conversation);
        if wishes.mode == Mode::Write {
            headers::tell(headers, headers::RUN, &run_id);
        }
        if !skipped.is_empty() {
            headers::tell(headers, headers::SKIPPED, &skipped);
        }
        Ok(response)
    }

    async fn list(&self, found: Option<&Principal>) -> Result<Response> {
        let principal = principal(found)?;
        let relay = Relay { route: Route::Models, body: None };
        Ok(self.pass_on(self.relay(&principal, relay).await?, None))
    }

    /// What memory has to say, and why it may have said nothing. Never an error.
    async fn context(
        &self,
        principal: &Principal,
        wishes: &Wishes,
        chat: &Chat<'_>,
        conversation: &str,
    ) -> (Context, String) {
        let nothing = |why: &str| (Context::default(), why.to_owned());
        if wishes.mode == Mode::Off {
            return nothing("");
        }
        let Some(query) = chat.query() else { return nothing("no user message") };
        let request = ContextRequest {
            query: Some(query[..query.floor_char_boundary(QUERY_BYTES_MAX)].to_owned()),
            conversation_id: Some(conversation.to_owned()),
            agent_id: wishes.agent.clone(),
            session_id: Some(conversation.to_owned()),
            deadline: Some(self.options.memory_deadline),
            ..ContextRequest::default()
        };
        let context = self.mnemic.context(principal, &request);
        let late = tokio::time::sleep(self.options.memory_deadline);
        // Its layers run out of time in the same moment, and the whole is asked first: what a chat
        // is told must not depend on whose timer wakes first.
        let told = tokio::select! {
            biased;
            () = late => None,
            told = context => Some(told),
        };
        match told {
            Some(Ok(context)) => {
                let told = context.skipped.iter();
                let skipped: Vec<_> =
                    told.map(|it| format!("{}: {}", it.layer.as_str(), it.reason)).collect();
                (context, skipped.join("; "))
            }
            Some(Err(error)) => {
                tracing::warn!(code = error.code().word(), %error, "a chat goes on without memory");
                nothing(error.code().word())
            }
            None => {
                tracing::warn!("memory was late, so a chat goes on without it");
                nothing("deadline")
            }
        }
    }

    async fn relay(&self, principal: &Principal, request: Relay) -> Result<Relayed> {
        let relayed = self.mnemic.relay_chat(principal, request);
        let relayed = tokio::time::timeout(self.options.header_timeout, relayed).await;
        let relayed = relayed.map_err(|_| {
            let seconds = self.options.header_timeout.as_secs_f64();
            Fault::late(format!("the upstream did not begin to answer within {seconds} seconds"))
        })?;
        Ok(relayed?)
    }

    /// The answer as it arrives. It is read to its end, and written down if there is an exchange
    /// to write down, also when the client is no longer there.
    fn pass_on(&self, relayed: Relayed, exchange: Option<Exchange>) -> Response {
        let Relayed { status, headers, chunks } = relayed;
        let is_stream = headers::is_event_stream(&headers);
        let listener = Listener::new(is_stream, self.options.kept_bytes_max);
        let (client, body) = pump::channel();
        let pump = pump::Pump { chunks, client, idle_timeout: self.options.idle_timeout };
        self.mnemic.afterwards(async move {
            match exchange {
                Some(exchange) => exchange.keep(pump.run(Some(listener)).await).await,
                None => drop(pump.run(None).await),
            }
        });
        headers::response(status, headers, Body::new(body))
    }
}

/// A chat is one action of its conversation.
fn deed(wishes: &Wishes, conversation: &str, failure: Option<Failure>, latency: Duration) -> Deed {
    Deed {
        session_id: Some(conversation.to_owned()),
        agent_id: wishes.agent.clone(),
        action_type: "chat".to_owned(),
        subject: Subject::Noun("conversation"),
        targets: vec![],
        failure,
        latency,
    }
}

fn principal(found: Option<&Principal>) -> Result<Principal> {
    let needed = || Fault::new(Code::Unauthenticated, "a token of Mnemic is needed as the API key");
    found.cloned().ok_or_else(needed)
}

/// A copy of bytes for the client.
fn bytes(chunk: Vec<u8>) -> Bytes {
    Bytes::from(chunk)
}
