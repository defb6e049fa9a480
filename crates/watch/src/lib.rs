//! A run that is in progress, for those who watch it from elsewhere: OpenMetrics over HTTP, for scrapers such as
//! Prometheus.
//!
//! A [`Reporter`] receives the progress of the run and updates a [`Board`], which always has a whole [`Snapshot`]. A
//! [`Server`] answers requests from it: one thread, no waiting, a bounded number of connections, each with a deadline. So
//! no client, however slow, holds up the run or another client; the threads that drive load are not involved; and where
//! nothing is served, none of this exists. What is served is a list of [`Pages`], so that other views of the same board
//! can be added.

mod access;
mod board;
mod connection;
mod feed;
mod metrics;
mod negotiation;
mod pages;
mod reporter;
mod request;
mod response;
mod server;
mod snapshot;

pub use access::{Access, AccessError};
pub use board::Board;
pub use feed::{Fed, Feed};
pub use metrics::exposition;
pub use pages::{MetricsPages, Pages};
pub use reporter::Reporter;
pub use request::Request;
pub use response::{Body, Response};
pub use server::{Server, ServerError};
pub use snapshot::{Counts, Current, RunKind, Snapshot, Stage};
