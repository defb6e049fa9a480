//! The live page of a run: what it does, what is known so far and how sure, latencies and hosts over time.
//!
//! A [`Follower`] receives the progress of the run and keeps its [`Course`]: few numbers a moment, in bounded memory
//! however long the run is. A [`Judge`] concludes on a thread of its own, from the results file, as a report would; it
//! rests two hundred times as long as it works. [`LivePages`] show both to browsers, through the server of the crate
//! `watch`: a page that is complete without a script, and a feed of server-sent events whose script replaces what has
//! changed. A browser that reads slowly gets the state of the moment at which it reads, so it holds up nothing and
//! misses nothing that is still true.
//!
//! The threads that drive load do nothing of this; they hand over their latencies four times a second, which takes them
//! some ten microseconds.

mod course;
mod feed;
mod follower;
mod heat;
mod hosts;
mod judge;
mod moment;
mod pages;
mod shown;
mod thinned;
mod token;

pub use course::Course;
pub use follower::Follower;
pub use judge::{Judge, JudgeSource};
pub use pages::{LivePages, Viewers};
pub use token::{Token, TokenError};
