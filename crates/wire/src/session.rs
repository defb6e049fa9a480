//! A session machine: operations in, bytes out; bytes in, completions out.

use std::error::Error;

use stormeter_disk::{Completion, DeviceError, Operation};

use crate::memory::{Memory, Span};
use crate::outbox::Outbox;

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// No connection. Operations that are submitted wait for one.
    Disconnected,
    /// Connected and greeting the other end (logging in). Operations wait.
    Opening,
    /// Operations go out.
    Ready,
    /// [`Session::close`] was called and something is still to be said or heard.
    Closing,
    /// Everything was said and heard; the connection may be closed.
    Closed,
}

/// One connection's protocol.
///
/// The transport calls [`connected`](Self::connected) when the connection stands and
/// [`disconnected`](Self::disconnected) when it is gone, any number of times in turn. What was
/// outstanding when a connection broke stays and goes out again on the next one, as the protocol
/// demands; how long to go on trying is the transport's business, which ends it with
/// [`surrender`](Self::surrender).
///
/// Times are nanoseconds of one clock that never goes back. Whenever a method has been called the
/// outbox may hold something to be sent.
///
/// An error means that this connection is of no more use: the transport closes it and calls
/// `disconnected`. An operation that fails on the other end's word is a completion, not an error.
pub trait Session {
    /// Why a connection is given up.
    type Error: Error + Send + Sync + 'static;

    /// Where the session stands.
    fn state(&self) -> SessionState;

    /// The connection stands. Greets, and sends again what is outstanding as soon as it may.
    fn connected(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox);

    /// The connection is gone. The transport has cleared the outbox.
    fn disconnected(&mut self, now_ns: u64);

    /// Takes an operation, which will complete once. Its payload is the first `length_bytes` bytes
    /// of its buffer; `slot` is unlike that of any other outstanding operation. More than the peer
    /// or the protocol allows at once waits inside.
    fn submit(
        &mut self,
        operation: &Operation,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    );

    /// Takes bytes that came in and gives how many it took. What it leaves comes again with more
    /// bytes after it, in one run with them; it may leave at most the beginning of one message,
    /// payload not counted, and no more than [`MAX_LEFT_BYTES`](Self::MAX_LEFT_BYTES).
    ///
    /// # Errors
    /// Bytes that the protocol forbids. Nothing that the peer sends makes it panic, or allocate by
    /// a length that the peer claims.
    fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<usize, Self::Error>;

    /// The most that [`receive`](Self::receive) leaves: the transport's inbox is larger.
    const MAX_LEFT_BYTES: usize = 64 << 10;

    /// Where the next bytes to come belong, if they are payload and so many that receiving them
    /// there directly pays. Asked after `receive` has taken everything it was given.
    fn direct(&self) -> Option<Span>;

    /// So many bytes were received into the span that [`direct`](Self::direct) gave.
    fn received_directly(
        &mut self,
        length: u32,
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Self::Error>;

    /// When [`tick`](Self::tick) wants to be called at the latest.
    fn deadline_ns(&self) -> Option<u64>;

    /// Time has passed: sends again what was told to wait, gives up a peer that is silent.
    fn tick(
        &mut self,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Self::Error>;

    /// Operations submitted and not completed.
    fn outstanding(&self) -> u32;

    /// Bytes of operations that completed and that the peer may still lose: more than none only where
    /// writes complete before they are stable.
    fn unconfirmed_bytes(&self) -> u64 {
        0
    }

    /// Gives up everything that is outstanding and hands it back in the order submitted, for
    /// another session or to be failed. What is unconfirmed is forgotten. Called while disconnected.
    fn surrender(&mut self, operations: &mut Vec<Operation>);

    /// Nothing more will be submitted: makes stable what is not yet, takes leave. Until the state
    /// is [`SessionState::Closed`] bytes must go on to be moved.
    fn close(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox);

    /// Takes what happened that a reader of the results ought to know (operations sent again, waits
    /// asked for by the server, sense data), each as a sentence, oldest first, bounded in number.
    fn incidents(&mut self) -> Vec<String>;

    /// Completes everything outstanding with an error. Called while disconnected.
    fn fail_all(&mut self, error: DeviceError, done: &mut Vec<Completion>) {
        let mut operations = Vec::new();
        self.surrender(&mut operations);
        done.extend(operations.iter().map(|one| Completion::failed(one.slot, error)));
    }
}
