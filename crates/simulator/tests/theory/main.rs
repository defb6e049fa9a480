//! The simulator checked against exact theory: where queueing theory has a closed form, the machine
//! under the driver's loop must reproduce it, and its own confidence intervals must cover it at their
//! nominal rate.
//!
//! A *replication* is a trial with its own seeds. An *interval* is the t interval (95 %) of ten
//! replications, as a study would report it. A case passes if
//!
//! - of all its intervals, 95 % contain the theory, within what the binomial distribution allows;
//! - all replications together do not differ from the theory by more than their own 99.99 % interval:
//!   that finds an error of a fraction of a per cent, which no single interval would show.
//!
//! Both must hold for mean response time, throughput, utilisation and mean queue length. The short
//! form runs with all tests; the full one, ten times as many replications and eight times as long
//! ones, with `cargo xtask truth`.
//!
//! The remaining bias: a replication starts empty and measures after a ramp, so what is left of the
//! initial state is e^-r with r ramps of relaxation time, which [`RAMP_RELAXATIONS`] makes one in
//! 10^8; a mean response time is a ratio of two random sums, which biases an interval of ten short
//! replications by the order of 1 % of its standard deviation, but not the test of all replications,
//! which tests the difference of the sums; times are whole nanoseconds, truncated, of milliseconds.

mod closed;
mod mva;
mod open;
mod queues;
mod replications;

/// The length of a ramp in relaxation times of its queue.
const RAMP_RELAXATIONS: f64 = 20.0;
