//! RFB as a viewer speaks it (RFC 6143): the handshake, what it sends, and what of the server's messages it needs. No
//! sockets, no clock.

mod handshake;
mod inbox;
mod messages;
mod response;
mod updates;

pub(crate) use handshake::{Handshake, Progress, Screen};
pub(crate) use inbox::Inbox;
pub(crate) use messages::{key_event, pointer_event, set_encodings, update_request};
pub(crate) use updates::{Seen, Updates};
