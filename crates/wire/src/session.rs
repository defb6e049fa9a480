//! A session machine: operations in, bytes out; bytes in, completions out.

use std::error::Error;

use stormeter_disk::{Completion, Incident, Operation};

use crate::memory::{Memory, Span};
use crate::outbox::Outbox;

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// No connection. Submitted operations wait for one.
    Disconnected,
    /// Connected and logging in. Operations wait.
    Opening,
    /// Operations are sent.
    Ready,
    /// [`Session::close`] was called and messages are still to be sent or received.
    Closing,
    /// Everything was sent and received; the connection may be closed.
    Closed,
}

/// One connection's protocol.
///
/// The transport calls [`connected`](Self::connected) when a connection has been established and
/// [`disconnected`](Self::disconnected) when it is gone, any number of times in turn. Operations
/// that were outstanding when a connection broke are kept and sent again on the next one, as the
/// protocol demands; how long to keep trying is up to the transport, which gives up with
/// [`surrender`](Self::surrender).
///
/// Times are nanoseconds of one clock that never goes back. After any method call the outbox may
/// hold something to send.
///
/// An error means that this connection is no longer usable: the transport closes it and calls
/// `disconnected`. An operation that the other end reports as failed is a completion, not an error.
pub trait Session {
    /// Why a connection is given up.
    type Error: Error + Send + Sync + 'static;

    /// The state of the session.
    fn state(&self) -> SessionState;

    /// The connection is established. Logs in, and sends what is outstanding again as soon as it
    /// may.
    fn connected(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox);

    /// The connection is gone. The transport has cleared the outbox.
    fn disconnected(&mut self, now_ns: u64);

    /// Accepts an operation, which will complete once. Its payload is the first `length_bytes`
    /// bytes of its buffer; `slot` differs from that of every other outstanding operation.
    /// Operations beyond what the peer or the protocol allows at once wait inside.
    fn submit(
        &mut self,
        operation: &Operation,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    );

    /// Processes received bytes and returns how many it consumed. The rest is passed again,
    /// contiguous with the bytes that follow; it may be at most the start of one message, payload
    /// not counted, and no more than [`MAX_LEFT_BYTES`](Self::MAX_LEFT_BYTES).
    ///
    /// # Errors
    /// Bytes that the protocol forbids. Nothing that the peer sends makes this panic, or allocate
    /// by a length that the peer claims.
    fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<usize, Self::Error>;

    /// The most bytes that [`receive`](Self::receive) leaves: the transport's inbox is larger.
    const MAX_LEFT_BYTES: usize = 64 << 10;

    /// Where the next received bytes belong, if they are payload and numerous enough for receiving
    /// them there directly to pay. Asked after `receive` has consumed everything it was given.
    fn direct(&self) -> Option<Span>;

    /// This many bytes were received into the span that [`direct`](Self::direct) returned.
    fn received_directly(
        &mut self,
        length: u32,
        now_ns: u64,
        memory: &mut impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Self::Error>;

    /// The latest time at which [`tick`](Self::tick) must be called.
    fn deadline_ns(&self) -> Option<u64>;

    /// Time has passed: sends operations again whose delay is over, and gives up on a silent peer.
    fn tick(
        &mut self,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
        done: &mut Vec<Completion>,
    ) -> Result<(), Self::Error>;

    /// Operations submitted but not completed.
    fn outstanding(&self) -> u32;

    /// Bytes of completed operations that the peer may still lose: not zero only where writes
    /// complete before they are stable.
    fn unconfirmed_bytes(&self) -> u64 {
        0
    }

    /// Gives up everything that is outstanding and returns it in the order of submission, for
    /// another session or to be failed. Unconfirmed writes are forgotten. Called while disconnected.
    fn surrender(&mut self, operations: &mut Vec<Operation>);

    /// Nothing more will be submitted: makes unstable writes stable and logs out. Bytes must
    /// continue to be moved until the state is [`SessionState::Closed`].
    fn close(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox);

    /// Takes the events that a reader of the results should know about (operations sent again,
    /// delays requested by the server, sense data), oldest first, bounded in number.
    fn incidents(&mut self) -> Vec<Incident>;
}
