//! The one form of an error over HTTP, and the one table from codes to statuses.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mnemic_core::{Code, Error, Kind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const MEDIA_TYPE: &str = "application/problem+json";

/// An error as RFC 9457 has it, with a stable word in `code`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "type": "/docs/errors#not_found",
    "title": "Nothing was found under that name",
    "status": 404,
    "detail": "no such memory",
    "code": "not_found"
}))]
pub struct ProblemBody {
    /// Where the code is explained.
    #[serde(rename = "type")]
    pub kind: String,
    /// The same for every occurrence of the code.
    pub title: String,
    pub status: u16,
    /// What is wrong this time.
    pub detail: String,
    /// A stable word to match on.
    pub code: String,
}

/// An error on its way to a client.
#[derive(Debug)]
pub struct Problem {
    code: Code,
    detail: String,
    retry_after: Option<Duration>,
}

pub type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), retry_after: default_wait(code) }
    }

    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    pub fn code(&self) -> Code {
        self.code
    }

    /// The answer for an address that leads nowhere.
    pub fn no_such_address() -> Self {
        Self::new(Code::NotFound, "no such address; /openapi.json lists those there are")
    }

    pub fn body(&self) -> ProblemBody {
        ProblemBody {
            kind: format!("/docs/errors#{}", self.code.word()),
            title: self.code.title().to_owned(),
            status: status(self.code).as_u16(),
            detail: self.detail.clone(),
            code: self.code.word().to_owned(),
        }
    }
}

/// Which status a code is answered with.
pub fn status(code: Code) -> StatusCode {
    match (code, code.kind()) {
        (Code::KeyReused, _) => StatusCode::UNPROCESSABLE_ENTITY,
        (Code::MethodNotAllowed, _) => StatusCode::METHOD_NOT_ALLOWED,
        (Code::UnsupportedMediaType, _) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        (_, Kind::NotFound) => StatusCode::NOT_FOUND,
        (_, Kind::Conflict) => StatusCode::CONFLICT,
        (_, Kind::Invalid) => StatusCode::BAD_REQUEST,
        (_, Kind::Unauthenticated) => StatusCode::UNAUTHORIZED,
        (_, Kind::Denied) => StatusCode::FORBIDDEN,
        (_, Kind::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
        (_, Kind::Limited) => StatusCode::TOO_MANY_REQUESTS,
        (_, Kind::Unavailable) => StatusCode::SERVICE_UNAVAILABLE,
        (_, Kind::Corrupt | Kind::Internal) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn default_wait(code: Code) -> Option<Duration> {
    match code {
        Code::RateLimited | Code::Overloaded => Some(Duration::from_secs(1)),
        _ if code.kind() == Kind::Unavailable => Some(Duration::from_secs(5)),
        _ => None,
    }
}

impl From<Error> for Problem {
    /// This is where a fault of ours is logged: once, with its cause, which clients never see.
    fn from(error: Error) -> Self {
        let code = error.code();
        match error.kind() {
            Kind::Internal | Kind::Corrupt => {
                tracing::error!(code = code.word(), %error, cause = %causes(&error), "request failed");
            }
            Kind::Unavailable => {
                tracing::warn!(code = code.word(), %error, cause = %causes(&error), "request failed");
            }
            _ => {}
        }
        Self::new(code, error.to_string())
    }
}

/// The chain of causes in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(error.source(), |cause| cause.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (status(self.code), Json(self.body())).into_response();
        // For whoever writes down how a request ended.
        response.extensions_mut().insert(self.code);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if self.code.kind() == Kind::Unauthenticated {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            // Rounded up: a client that comes back at the second must not be too early.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        response
    }
}

/// What is answered when a handler panics. The panic itself is logged; it says nothing that a
/// client could use.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands the panic over")]
pub fn after_panic(panic: Box<dyn std::any::Any + Send>) -> axum::http::Response<Body> {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(panic = message, "a request handler panicked");
    Problem::new(Code::Internal, "the request failed inside; the server's log says why")
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_the_status_that_the_contract_names() {
        for (code, expected) in [
            (Code::NotFound, 404),
            (Code::Conflict, 409),
            (Code::Stale, 409),
            (Code::InvalidBody, 400),
            (Code::InvalidField, 400),
            (Code::InvalidCursor, 400),
            (Code::KeyReused, 422),
            (Code::MethodNotAllowed, 405),
            (Code::UnsupportedMediaType, 415),
            (Code::Unauthenticated, 401),
            (Code::Denied, 403),
            (Code::ForbiddenOrigin, 403),
            (Code::TooLarge, 413),
            (Code::RateLimited, 429),
            (Code::Overloaded, 503),
            (Code::Timeout, 503),
            (Code::StoreUnavailable, 503),
            (Code::ModelUnavailable, 503),
            (Code::SlotsUnavailable, 503),
            (Code::Corrupt, 500),
            (Code::Internal, 500),
        ] {
            assert_eq!(status(code).as_u16(), expected, "{code:?}");
        }
    }

    #[tokio::test]
    async fn the_cause_stays_inside() {
        let error = Error::internal("it broke").caused_by("secret path");
        let response = Problem::from(error).into_response();
        assert_eq!(response.headers()[CONTENT_TYPE], MEDIA_TYPE);
        let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
        let body: ProblemBody = serde_json::from_slice(&body).unwrap();
        assert_eq!((body.status, body.detail.as_str()), (500, "it broke"));
    }

    #[test]
    fn those_who_are_to_wait_are_told_how_long() {
        let wait = Duration::from_millis(1_200);
        let problem = Problem::new(Code::RateLimited, "slow down").retry_after(wait);
        assert_eq!(problem.into_response().headers()[RETRY_AFTER], "2");
        let response = Problem::new(Code::Unauthenticated, "who").into_response();
        assert_eq!(response.headers()[WWW_AUTHENTICATE], "Bearer");
    }
}
