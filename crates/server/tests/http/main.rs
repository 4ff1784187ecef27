//! What a hostile, slow or clumsy client can do to the server, over real connections.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use mnemic_server::http::body::{self, BodyOptions};
use mnemic_server::http::load::{Places, hurry, shed};
use mnemic_server::http::problem::{self, Problem};
use mnemic_server::{ServerOptions, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tower_http::catch_panic::CatchPanicLayer;

const BODY: BodyOptions =
    BodyOptions { bytes_max: 64 * 1024, read_timeout: Duration::from_millis(400) };

fn options() -> ServerOptions {
    ServerOptions {
        header_timeout: Duration::from_millis(400),
        shutdown_timeout: Duration::from_secs(2),
        ..ServerOptions::default()
    }
}

/// A server that is told to stop by its notify.
struct Running {
    address: SocketAddr,
    stop: Arc<Notify>,
    done: JoinHandle<()>,
}

async fn start(app: Router, options: ServerOptions) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Arc::new(Notify::new());
    let stopped = Arc::clone(&stop);
    let done = tokio::spawn(async move { serve(listener, app, options, stopped.notified()).await });
    Running { address, stop, done }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes on a new connection and reads what comes until the server closes it.
    async fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request).await.unwrap();
        rest_of(stream).await
    }
}

async fn rest_of(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(10), read).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn count(body: Body) -> Result<String, Problem> {
    Ok(body::read(body).await?.len().to_string())
}

fn counting() -> Router {
    Router::new()
        .route("/", post(count))
        .route("/unread", post(|| async { "refused" }))
        .layer(from_fn_with_state(BODY, body::guard))
}

fn slow(time: Duration) -> Router {
    let work = move || async move {
        tokio::time::sleep(time).await;
        "done"
    };
    Router::new().route("/", get(work))
}

fn head(length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn headers_that_trickle_in_are_not_waited_for() {
    let server = start(counting(), options()).await;
    let mut stream = server.connect().await;
    let started = Instant::now();
    stream.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\n").await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let trickle = tokio::spawn(async move {
        while writer.write_all(b"X-Slow: 1\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = reader.read_to_end(&mut answer).await;
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    trickle.abort();
    let silent = server.connect().await;
    rest_of(silent).await;
}

#[tokio::test]
async fn a_body_that_trickles_in_is_not_waited_for() {
    let server = start(counting(), options()).await;
    let started = Instant::now();
    let answer = server.exchange(format!("{}tiny", head(1_000)).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains(r#""code":"timeout""#), "{answer}");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_body_within_the_limit_arrives_whole() {
    let server = start(counting(), options()).await;
    let body = vec![b'x'; BODY.bytes_max];
    let answer = server.exchange(&[head(body.len()).as_bytes(), &body].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("65536"), "{answer}");
}

#[tokio::test]
async fn a_body_over_the_limit_gets_its_answer_though_it_is_still_being_sent() {
    let server = start(counting(), options()).await;
    let body = vec![b'x'; BODY.bytes_max * 7];
    let announced = [head(body.len()).as_bytes(), &body].concat();
    let mut chunked =
        b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    for part in body.chunks(16 * 1024) {
        chunked.extend(format!("{:x}\r\n", part.len()).into_bytes());
        chunked.extend(part);
        chunked.extend(b"\r\n");
    }
    chunked.extend(b"0\r\n\r\n");
    for request in [announced, chunked] {
        let answer = server.exchange(&request).await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert!(answer.contains("65536 bytes"), "{answer}");
    }
}

#[tokio::test]
async fn a_refusal_that_did_not_read_the_body_arrives() {
    let server = start(counting(), options()).await;
    let body = vec![b'x'; BODY.bytes_max];
    let head = head(body.len()).replace("POST / ", "POST /unread ");
    let answer = server.exchange(&[head.as_bytes(), &body].concat()).await;
    assert!(answer.ends_with("refused"), "{answer}");
}

#[tokio::test]
async fn headers_have_limits_in_number_and_size() {
    let server = start(counting(), options()).await;
    let many = "X-Many: 1\r\n".repeat(100);
    let large = format!("X-Large: {}\r\n", "x".repeat(64 * 1024));
    for headers in [many, large] {
        let request = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        let mut stream = server.connect().await;
        // The server may answer and close before all of it is sent.
        let _ = stream.write_all(request.as_bytes()).await;
        let answer = rest_of(stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
}

#[tokio::test]
async fn what_is_under_way_is_finished_before_the_server_goes() {
    let server = start(slow(Duration::from_millis(500)), options()).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(150)).await;
    server.stop.notify_one();
    tokio::time::sleep(Duration::from_millis(100)).await;
    TcpStream::connect(server.address).await.unwrap_err();
    let answer = rest_of(stream).await;
    assert!(answer.ends_with("done"), "{answer}");
    server.done.await.unwrap();
}

#[tokio::test]
async fn what_does_not_finish_is_cut_off() {
    let options = ServerOptions { shutdown_timeout: Duration::from_millis(300), ..options() };
    let server = start(slow(Duration::from_hours(1)), options).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    server.stop.notify_one();
    server.done.await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(rest_of(stream).await, "");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let options = ServerOptions { connections_max: 1, ..options() };
    let server = start(slow(Duration::ZERO), options).await;
    let idle = server.connect().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // The idle one loses its place when its headers do not come.
    let answer = server.exchange(request).await;
    assert!(answer.ends_with("done"), "{answer}");
    drop(idle);
}

#[tokio::test]
async fn more_work_than_there_are_places_is_refused_at_once() {
    let app = slow(Duration::from_millis(500)).layer(from_fn_with_state(Places::new(1), shed));
    let server = start(app, options()).await;
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let second = async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        server.exchange(request).await
    };
    let (first, second) = tokio::join!(server.exchange(request), second);
    assert!(first.ends_with("done"), "{first}");
    assert!(second.starts_with("HTTP/1.1 503"), "{second}");
    assert!(second.contains("retry-after: 1"), "{second}");
    assert!(second.contains(r#""code":"overloaded""#), "{second}");
    assert!(server.exchange(request).await.ends_with("done"));
}

#[tokio::test]
async fn what_takes_too_long_is_given_up() {
    let limit = Duration::from_millis(100);
    let app = slow(Duration::from_hours(1)).layer(from_fn_with_state(limit, hurry));
    let server = start(app, options()).await;
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = server.exchange(request).await;
    assert!(answer.contains(r#""code":"timeout""#), "{answer}");
}

#[tokio::test]
async fn a_panic_is_a_problem_without_its_message() {
    async fn broken() -> &'static str {
        panic!("the secret reason")
    }
    let layer = CatchPanicLayer::custom(problem::after_panic);
    let server = start(Router::new().route("/", get(broken)).layer(layer), options()).await;
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = server.exchange(request).await;
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(answer.contains("application/problem+json"), "{answer}");
    assert!(!answer.contains("secret reason"), "{answer}");
}
