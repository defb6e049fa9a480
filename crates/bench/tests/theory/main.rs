//! The simulator held against exact theory: where queueing theory has a closed form, the machine under
//! the driver's loop has to come to it, and its own confidence intervals have to cover it as often as
//! they say.
//!
//! A *replication* is a trial of its own seeds. An *interval* is the t interval (95 %) of ten
//! replications, as a study would report it. A case passes when
//!
//! - of all its intervals, 95 % contain the theory, within what the binomial distribution allows;
//! - all replications together do not differ from the theory by more than their own 99.99 % interval:
//!   that finds an error of a fraction of a per cent, which no single interval would show.
//!
//! Both have to hold for mean response time, throughput, utilisation and mean queue. The short form
//! runs with all tests; the full one, ten times as many replications and eight times as long ones, by
//! `cargo xtask truth`.
//!
//! What bias remains: a replication begins empty and measures after a ramp, so what is left of the
//! beginning is e^-r with r ramps of relaxation time, which [`RAMP_RELAXATIONS`] makes one in 10^8;
//! a mean response time is a ratio of two random sums, which an interval of ten short replications is
//! off by the order of 1 % of its standard deviation and the test of all replications is not, for it
//! tests the difference of the sums; times are whole nanoseconds, cut off, of milliseconds.

mod closed;
mod mva;
mod open;
mod queues;
mod replications;

/// A ramp is so many relaxation times of its queue.
const RAMP_RELAXATIONS: f64 = 20.0;
