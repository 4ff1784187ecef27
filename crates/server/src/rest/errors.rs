//! The page that every problem's `type` points to.

use std::fmt::Write as _;

use axum::response::Html;
use mnemic_core::Code;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::problem::status;

pub(super) fn router() -> OpenApiRouter {
    OpenApiRouter::default().routes(routes!(page))
}

/// The codes that problems carry, and what they mean.
#[utoipa::path(
    get, path = "/docs/errors", tag = "health", operation_id = "error_codes", security(()),
    responses(
        (status = 200, description = "A page for people", body = String, content_type = "text/html; charset=utf-8"),
        super::responses::ProbeFaults,
    ),
)]
async fn page() -> Html<String> {
    let mut rows = String::new();
    for &code in Code::ALL {
        let (word, title, status) = (code.word(), code.title(), status(code).as_u16());
        let _ = writeln!(rows, "<tr id=\"{word}\"><td><code>{word}</code><td>{status}<td>{title}");
    }
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Mnemic: error codes\
         </title>\n<h1>Error codes</h1>\n<table>\n<tr><th>code<th>status<th>meaning\n{rows}</table>\n"
    ))
}
