//! Connections: accepted within a limit, given up when they are too slow, ended gracefully.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::crowd::{Crowd, Guest};
use super::exchange::Exchange;
use super::peer::Peer;
use super::refuse::Refusing;
use super::slow_reader::Impatient;
use crate::config::Limits;
use crate::model::cause::chain;

/// Most header lines of a request; clients of this wire format send about ten.
const MAX_HEADERS: usize = 100;

/// Longest head of a request, and most that is buffered of a connection.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// Pause after a failed accept: the usual cause is a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What connections may use up.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// Open at a time; a further one takes the place of one that is not being answered, or waits.
    pub connections: usize,
    /// Longest time for the head of a request, and longest idle time between two.
    pub header_timeout: Duration,
    /// Longest time that a client may take nothing of an answer.
    pub stall_timeout: Duration,
}

impl ConnectionLimits {
    /// As the configuration says.
    pub fn new(limits: &Limits) -> Self {
        Self {
            connections: limits.connections as usize,
            header_timeout: Duration::from_secs(limits.header_timeout_s),
            stall_timeout: Duration::from_secs(limits.body_timeout_s),
        }
    }
}

/// Serves until `shutdown` is cancelled and all connections have ended, or until `cut_off` is.
///
/// 1. Accept.
/// 2. Find a place.
/// 3. Hand the connection to a task of its own.
/// 4. After the shutdown: finish what is being answered.
/// 5. Cut off the rest.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
    cut_off: CancellationToken,
) {
    let crowd = Crowd::new(limits.connections);
    let connections = TaskTracker::new();
    for id in 0.. {
        let Some((stream, peer)) = next_connection(&listener, &shutdown).await else { break };
        let exchange = Exchange::new();
        let guest = Guest::new(exchange.clone());
        let entering = crowd.enter(id, guest.clone());
        let Some(place) = shutdown.run_until_cancelled(entering).await else { break };
        let connection = answer(stream, peer, exchange, router.clone(), limits, shutdown.clone());
        let cut_off = cut_off.clone();
        connections.spawn(async move {
            let _place = place;
            tokio::select! {
                () = connection => {}
                () = guest.is_dismissed() => {}
                () = cut_off.cancelled() => {}
            }
        });
    }
    drop(listener);
    connections.close();
    if cut_off.run_until_cancelled(connections.wait()).await.is_none() {
        tracing::warn!(connections = connections.len(), "connections are cut off");
        connections.wait().await;
    }
}

/// `None` once the shutdown has begun.
async fn next_connection(
    listener: &TcpListener,
    shutdown: &CancellationToken,
) -> Option<(TcpStream, SocketAddr)> {
    let mut is_told = false;
    loop {
        match shutdown.run_until_cancelled(listener.accept()).await? {
            Ok((stream, peer)) => {
                // Answers are small and complete: nothing is gained by waiting for more.
                let _ = stream.set_nodelay(true);
                return Some((stream, peer));
            }
            Err(error) => {
                if !is_told {
                    tracing::warn!(error = chain(&error), "connections cannot be accepted for now");
                }
                is_told = true;
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn answer(
    stream: TcpStream,
    peer: SocketAddr,
    exchange: Exchange,
    router: Router,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
) {
    let stream = Refusing::new(Impatient::new(stream, limits.stall_timeout), exchange.clone());
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        exchange.begin();
        request.extensions_mut().insert(Peer::from(peer));
        let (answering, exchange) = (router.call(request), exchange.clone());
        async move { Ok::<_, Infallible>(answering.await?.map(|body| exchange.answer(body))) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Clients go away in the middle of things all the time.
        tracing::debug!(error = chain(&error), "a connection ended early");
    }
}
