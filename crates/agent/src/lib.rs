//! Trials on other hosts: the protocol between a controller and its agents, the agent itself, and the
//! fleet of agents on a study's hosts.
//!
//! An agent is controlled without a port: it uses its standard input and output (or any pair of streams, such as
//! a virtual serial port), so anyone who can start a command on a host can measure there. What is measured is the
//! runner's own trial; this crate only transports orders and results.

mod binary;
mod command;
mod copy;
mod destination;
mod errand;
mod errand_guest;
mod error;
mod fleet;
mod frame;
mod link;
mod message;
mod port;
mod serial_handshake;
mod serve;
mod socket;
mod tail;

pub use binary::is_static;
pub use command::{GUEST_PORT, Guest, Transport, TransportError};
pub use errand::{Errand, ErrandEnd, ErrandError};
pub use error::HostError;
pub use fleet::{Fleet, FleetOptions, Timeouts};
pub use frame::{FrameError, MOST_BYTES, read_frame, write_frame};
pub use message::{Command, HostFacts, PROTOCOL, Report};
pub use port::serve_port;
pub use serial_handshake::find_agent;
pub use serve::{ServeError, Stop, serve};
pub use socket::{connect, listen};
