//! `stormeter desktop`: what a desktop of a lab does inside its machine.

use std::io::{BufReader, stdin, stdout};
use std::path::Path;

use crate::exit::{Exit, Failure};

pub(crate) fn run(device: &Path) -> Result<Exit, Failure> {
    stormeter_lab::desktop(device, BufReader::new(stdin()), &mut stdout())
        .map_err(|error| Failure::File(error.to_string()))?;
    Ok(Exit::Done)
}
