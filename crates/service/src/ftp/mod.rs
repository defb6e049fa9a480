//! FTP as a client speaks it (RFC 959, and RFC 2428 for its connections): replies, and the machine of a session. No
//! sockets, no clock.

mod reply;
mod session;

pub(crate) use session::{FtpAction, FtpFiles, FtpSession};
