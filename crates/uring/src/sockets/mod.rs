//! TCP connections over io_uring, and over epoll where it is refused.
//!
//! One thread drives a few connections, each in a numbered place. Data is sent from where it is:
//! bytes of the caller's vector, which is taken by swapping, and spans of the pool's buffers.
//! Received data goes to the place's inbox or straight into a buffer.
//!
//! | file | idea |
//! |---|---|
//! | `pool` | the buffers, and who may touch them |
//! | `inbox`, `incoming` | what has come in, and the one receive that is armed |
//! | `outgoing` | the one send that is under way |
//! | `socket` | the system's sockets and addresses |
//! | `ring`, `line` | the engine over io_uring, and one connection of it |
//! | `reaping`, `ending` | what completions of the ring mean, and how its connections end |
//! | `epoll`, `poller` | the engine over epoll, and the system calls of it |

mod choice;
mod ending;
mod epoll;
mod error;
mod inbox;
mod incoming;
mod limits;
mod line;
mod options;
mod outgoing;
mod poller;
mod pool;
mod reaping;
mod ring;
mod socket;
mod transfer;
mod types;

pub use choice::Sockets;
pub use epoll::EpollSockets;
pub use error::SocketError;
pub use limits::{MAX_PLACES, MIN_RECEIVE_BYTES};
pub use options::SocketOptions;
pub use pool::Pool;
pub use ring::RingSockets;
pub use types::{SocketEvent, SocketPiece, SocketSpan};
