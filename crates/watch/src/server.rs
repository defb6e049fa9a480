//! The server: a thread that polls its sockets and waits for none of them.
//!
//! Connections are few and short. If there are too many, one that has sent nothing yet is dropped, the oldest first: a
//! client that connects and is silent shuts nobody out.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use crate::connection::{Connection, Next};
use crate::pages::Pages;

/// The most connections at once.
const MOST: usize = 256;
/// How often clients of growing bodies are looked after.
const TICK: Duration = Duration::from_millis(250);
const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// The token of the first connection; each has one of its own, in the order in which they were accepted.
const FIRST: usize = 2;
/// How soon accepting is tried again where it failed: the process may have too many files open.
const AGAIN: Duration = Duration::from_secs(1);

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: std::io::Error,
    },
    /// The system has no more threads or file descriptors.
    #[error("the server cannot be started: {0}")]
    Start(#[from] std::io::Error),
}

/// A server that runs until it is dropped.
pub struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    delivered: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts to serve these pages; port 0 stands for any free one.
    ///
    /// # Errors
    /// The address cannot be listened on, or there is no thread.
    pub fn start(address: SocketAddr, pages: Box<dyn Pages>) -> Result<Self, ServerError> {
        let listen = |source| ServerError::Listen { address, source };
        let listener = StdListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let mut listener = TcpListener::from_std(listener);
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, delivered) = channel();
        let connections = BTreeMap::new();
        let clients =
            Clients { poll, listener, connections, next: FIRST, retry: None, fed_at: None };
        let serving = Serving { clients, pages, stop: Arc::clone(&stop), delivered: sender };
        let thread =
            std::thread::Builder::new().name("watch".into()).spawn(move || serving.run())?;
        Ok(Self { address, stop, waker, delivered, thread: Some(thread) })
    }

    /// The address, with its port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until a client was sent the end of the run, at most this long, or until `is_cancelled`. Returns whether one
    /// was.
    pub fn wait_for_last(&self, limit: Duration, is_cancelled: impl Fn() -> bool) -> bool {
        /// How often cancellation is polled.
        const LOOK: Duration = Duration::from_millis(50);
        let end = Instant::now().checked_add(limit);
        loop {
            let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
            if self.delivered.recv_timeout(left.min(LOOK)).is_ok() {
                return true;
            }
            if left.is_zero() || is_cancelled() {
                return false;
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let woken = self.waker.wake();
        // A thread that was not woken would not end.
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Serving {
    clients: Clients,
    pages: Box<dyn Pages>,
    stop: Arc<AtomicBool>,
    delivered: Sender<()>,
}

impl Serving {
    fn run(mut self) {
        let mut events = Events::with_capacity(2 * MOST);
        while !self.stop.load(Ordering::Relaxed) {
            let wait = self.clients.wait(Instant::now());
            match self.clients.poll.poll(&mut events, wait) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return,
                _ => {}
            }
            let mut ready: Vec<Token> = events.iter().map(|event| event.token()).collect();
            let now = Instant::now();
            self.clients.expire(now);
            if ready.contains(&LISTENER) || self.clients.retry.is_some_and(|at| at <= now) {
                // A new connection may have its request with it.
                ready.extend(self.clients.accept(now));
            }
            if let Some(due) = self.clients.fed_at.filter(|due| *due <= now) {
                self.clients.fed_at = Some(due.max(now - TICK) + TICK);
                ready.extend(self.clients.fed());
            }
            for token in ready {
                if self.clients.advance(token, &*self.pages, now) {
                    // The receiver may have stopped to listen.
                    let _ = self.delivered.send(());
                }
            }
        }
    }
}

/// The sockets.
struct Clients {
    poll: Poll,
    listener: TcpListener,
    /// By token, so the oldest comes first.
    connections: BTreeMap<usize, Connection>,
    next: usize,
    /// When accepting is tried again.
    retry: Option<Instant>,
    /// When the clients of growing bodies are looked after, if there are any.
    fed_at: Option<Instant>,
}

impl Clients {
    /// How long nothing has to be done; `None`: until something arrives.
    fn wait(&self, now: Instant) -> Option<Duration> {
        let deadlines = self.connections.values().map(|connection| connection.deadline);
        let first = deadlines.chain(self.retry).chain(self.fed_at).min()?;
        // Rounded up: the poll counts in milliseconds.
        Some(first.saturating_duration_since(now) + Duration::from_millis(1))
    }

    fn expire(&mut self, now: Instant) {
        self.connections.retain(|_, connection| connection.deadline > now);
    }

    /// The clients of growing bodies.
    fn fed(&mut self) -> Vec<Token> {
        let fed = self.connections.iter().filter(|(_, connection)| connection.is_fed());
        let fed: Vec<Token> = fed.map(|(&number, _)| Token(number)).collect();
        if fed.is_empty() {
            self.fed_at = None;
        }
        fed
    }

    /// Accepts those that wait; returns their tokens.
    fn accept(&mut self, now: Instant) -> Vec<Token> {
        self.retry = None;
        let mut new = Vec::new();
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => new.extend(self.add(stream, now)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return new,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                    ) => {}
                Err(_) => {
                    self.retry = Some(now + AGAIN);
                    return new;
                }
            }
        }
    }

    fn add(&mut self, stream: mio::net::TcpStream, now: Instant) -> Option<Token> {
        if self.connections.len() >= MOST {
            let idle = self.connections.iter().find(|(_, connection)| connection.is_idle());
            // All others have sent a request: each is answered or expires.
            let (&oldest, _) = idle?;
            self.connections.remove(&oldest);
        }
        let number = self.next;
        self.next += 1;
        let mut connection = Connection::new(stream, now);
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(connection.stream(), Token(number), interest).ok()?;
        self.connections.insert(number, connection);
        Some(Token(number))
    }

    /// Does what a connection allows; returns whether its client was sent the end of the run.
    fn advance(&mut self, Token(number): Token, pages: &dyn Pages, now: Instant) -> bool {
        let Some(connection) = self.connections.get_mut(&number) else { return false };
        let next = connection.advance(pages, now);
        if connection.is_fed() {
            self.fed_at.get_or_insert(now + TICK);
        }
        if next == Next::Drop {
            self.connections.remove(&number);
        }
        next == Next::WaitDelivered
    }
}
