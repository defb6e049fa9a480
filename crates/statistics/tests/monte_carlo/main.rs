//! What can only be shown by many seeded runs: error rates and coverage.

mod bootstrap;
mod course;
mod drift;
mod false_alarms;
mod noise;
mod warmup;
