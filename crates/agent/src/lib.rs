//! Trials on other hosts: the protocol that a controller and its agents speak, the far end of it, and the
//! fleet of agents that a study's hosts are.
//!
//! An agent is led without a port: it speaks on its standard input and output (or on any pair of streams, such as
//! a virtual serial port), and whoever can start a command on a host can measure there. What is measured
//! is the runner's own trial; this crate only carries it there and back.

mod binary;
mod command;
mod copy;
mod destination;
mod error;
mod fleet;
mod frame;
mod knock;
mod link;
mod message;
mod port;
mod serve;
mod socket;

pub use binary::is_static;
pub use command::{GUEST_PORT, Guest, Transport, TransportError};
pub use error::HostError;
pub use fleet::{Fleet, FleetOptions, Timeouts};
pub use frame::{FrameError, MOST_BYTES, read_frame, write_frame};
pub use knock::knock;
pub use message::{Command, HostFacts, PROTOCOL, Report};
pub use port::serve_port;
pub use serve::{ServeError, Stop, serve};
pub use socket::{connect, listen};
