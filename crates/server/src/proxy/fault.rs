//! An error in OpenAI's form, which its clients know how to read.

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use mnemic_core::action::Failure;
use mnemic_core::{Code, Error, Kind};
use serde_json::json;

use crate::http::problem::{Problem, status};

#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    code: &'static str,
    detail: String,
}

impl Fault {
    pub(super) fn new(code: Code, detail: impl Into<String>) -> Self {
        let status = match code {
            // What is wrong is in the configuration: clients must not try again by themselves, as
            // they do on a conflict or a fault of the server.
            Code::NoModel | Code::Conflict => StatusCode::BAD_REQUEST,
            Code::ModelUnavailable | Code::ModelAnswer => StatusCode::BAD_GATEWAY,
            other => status(other),
        };
        Self { status, code: code.word(), detail: detail.into() }
    }

    /// How it counts as the end of an action.
    pub(super) fn failure(&self) -> Failure {
        let code = Code::ALL.iter().find(|code| code.word() == self.code);
        code.map_or(Failure::Status(self.status.as_u16()), |code| Failure::Code(*code))
    }

    /// The upstream took too long.
    pub(super) fn late(detail: String) -> Self {
        Self { status: StatusCode::GATEWAY_TIMEOUT, code: Code::Timeout.word(), detail }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if matches!(error.kind(), Kind::Internal | Kind::Corrupt | Kind::Unavailable) {
            tracing::warn!(code = error.code().word(), %error, "a chat failed");
        }
        Self::new(error.code(), error.to_string())
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::new(problem.code(), problem.body().detail)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        let error = json!({
            "message": self.detail,
            "type": kind,
            "param": null,
            "code": self.code,
        });
        let mut response = (self.status, Json(json!({ "error": error }))).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
