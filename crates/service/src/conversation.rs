//! What the sessions of both protocols have in common: they are connected, asked to do something, and say what happened.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use mio::{Registry, Token};
use stormeter_disk::{Kind, SessionChange, SessionEvent};

use crate::error::Trouble;

/// A server that says nothing for so long while a session is made ready gives none.
pub(crate) const SET_UP_LIMIT: Duration = Duration::from_secs(20);
/// An operation without any progress for so long has failed: users' programs give up after a minute to several.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes that a session moves before others have their turn. What is left is moved in the next turn, without an event.
pub(crate) const AT_ONCE_BYTES: u64 = 1 << 20;

/// The connections of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The one that lasts.
    Main,
    /// That of one file.
    Data,
}

/// What a session works with.
pub(crate) struct Way<'a> {
    pub(crate) registry: &'a Registry,
    /// The address of the server.
    pub(crate) server: IpAddr,
    /// The number of the session.
    pub(crate) session: u32,
    /// Bytes are received here.
    pub(crate) buffer: &'a mut [u8],
    /// Bytes of files to send.
    pub(crate) content: &'a [u8],
    pub(crate) events: &'a mut Vec<SessionEvent>,
    /// A connection that has moved [`AT_ONCE_BYTES`] and could move more.
    pub(crate) more: Option<Which>,
    pub(crate) now: Instant,
}

impl Way<'_> {
    /// The token of a connection of this session.
    pub(crate) fn token(&self, which: Which) -> Token {
        Token(2 * self.session as usize + usize::from(which == Which::Data))
    }

    /// Reports a change.
    pub(crate) fn tell(&mut self, what: SessionChange) {
        self.events.push(SessionEvent { session: self.session, what });
    }

    /// Reports bytes of the user.
    pub(crate) fn moved(&mut self, kind: Kind, bytes: u64) {
        if bytes > 0 {
            self.tell(SessionChange::Moved { kind, bytes });
        }
    }
}

/// The session and connection of a token.
pub(crate) fn of_token(token: Token) -> (u32, Which) {
    let which = if token.0 % 2 == 1 { Which::Data } else { Which::Main };
    ((token.0 / 2) as u32, which)
}

/// A session of either protocol.
pub(crate) trait Conversation {
    /// Which way the bytes of its operations go.
    fn kind(&self) -> Kind;

    /// Starts to connect and to make ready.
    fn connect(&mut self, way: &mut Way<'_>) -> Result<(), Trouble>;

    /// Whether it is connected and ready for an operation, or has one outstanding.
    fn is_ready(&self) -> bool;

    /// Starts an operation of a ready session.
    fn begin(&mut self, way: &mut Way<'_>) -> Result<(), Trouble>;

    /// A connection can be read, written, or has failed.
    fn stirred(&mut self, which: Which, way: &mut Way<'_>) -> Result<(), Trouble>;

    /// The time at which [`Conversation::tick`] should be called, whatever the connections do.
    fn wakes_at(&self) -> Option<Instant>;

    /// Does what is due, such as giving up.
    fn tick(&mut self, way: &mut Way<'_>) -> Result<(), Trouble>;

    /// Starts to end the session.
    fn end(&mut self, way: &mut Way<'_>) -> Result<(), Trouble>;

    /// Whether it has ended.
    fn is_over(&self) -> bool;

    /// Drops the connections.
    fn drop_connections(&mut self);
}
