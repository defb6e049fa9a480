//! Users of services: sessions that move files over FTP, viewers that type on a desktop over VNC.
//!
//! A [`stormeter_trial::ServiceLoad`] says what each session does; [`ServiceSessions`] are those of one thread, which the
//! driver's loop drives through [`stormeter_disk::Sessions`]. The two protocols are machines without sockets (bytes in,
//! bytes out); one transport over epoll moves their bytes. They are what a user's program does, and no more: a viewer
//! decodes no picture, because the time until a picture has arrived does not depend on it.

mod connection;
mod conversation;
mod error;
mod ftp;
mod ftp_user;
mod rfb;
mod sessions;
mod viewer;

pub use conversation::PATIENCE;
pub use error::{ServiceError, Trouble};
pub use sessions::{ServiceSessions, SessionPlan};
