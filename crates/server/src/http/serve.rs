//! The connection server: what a client may do to a connection before it has sent a request,
//! and how the server goes down.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

/// How long to pause when the system has no more file descriptors to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Limits on connections. Limits on requests are the router's.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    pub connections_max: usize,
    /// For all of a request's headers; also how long a connection may idle between requests.
    pub header_timeout: Duration,
    pub header_bytes_max: usize,
    pub headers_max: usize,
    /// How long requests under way may take to finish once the server is to stop.
    pub shutdown_timeout: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            connections_max: 1_024,
            header_timeout: Duration::from_secs(10),
            header_bytes_max: 32 * 1024,
            headers_max: 64,
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// Serves until `shutdown` is ready, then accepts nothing more, finishes what is under way
/// and returns. HTTP/1.1 only: a proxy that speaks HTTP/2 to the world stands in front.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    options: ServerOptions,
    shutdown: impl Future<Output = ()> + Send,
) {
    let mut shutdown = pin!(shutdown);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(options.connections_max.min(Semaphore::MAX_PERMITS)));
    let mut connections = JoinSet::new();
    let http = builder(options);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, peer, place)) = accepted else { continue };
        let service = service_fn({
            let app = app.clone();
            move |request| answer(app.clone(), peer, request)
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        connections.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection ended early");
            }
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    if tokio::time::timeout(options.shutdown_timeout, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and are cut off");
    }
    connections.shutdown().await;
}

fn builder(options: ServerOptions) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_headers(options.headers_max)
        .max_header_size(options.header_bytes_max)
        .pipeline_flush(true);
    http
}

/// The next connection, once there is a place for it. `None` if this one came to nothing.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Answers are written whole; waiting to fill a packet only delays them.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection refused TCP_NODELAY");
            }
            Some((stream, peer, place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

async fn answer(
    app: Router,
    peer: SocketAddr,
    request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    app.oneshot(request).await
}
