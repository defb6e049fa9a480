//! Whether a metric depends on factors: an analysis of variance with the block as a factor.
//!
//! Where the trial is the unit, each block gives each combination of the factors' levels one value:
//! the mean of ln(metric) over everything else that varies (a mean over loads, as in every other answer).
//! Only blocks with all combinations count, so the design is a balanced randomized block design
//! (Scheffé, *The Analysis of Variance* (1959), 4.2) and all types of sums of squares agree. Where
//! the interval is the unit, the values of intervals themselves are analysed, as published studies
//! do, without a block.
//!
//! A small p-value shows dependence. A large one shows nothing; that a metric does *not* depend on a
//! factor is shown when every difference between two levels (and, of an interaction, every difference
//! of differences) is within the study's margin, by two one-sided tests each.

mod design;
mod terms;

pub(super) use terms::{Asked, draft};
