//! `stormeter durable`: does storage keep what it has acknowledged as flushed?

mod check;
mod storage;
mod words;
mod write;

use crate::arguments_durable::{DurableOptions, DurableStep};
use crate::exit::{Exit, Failure};

pub(crate) fn run(options: &DurableOptions) -> Result<Exit, Failure> {
    match &options.step {
        DurableStep::Write(options) => write::run(options),
        DurableStep::Check(options) => check::run(options),
    }
}
