//! What starting a lab needs, whichever command starts it.

use std::path::PathBuf;

use stormeter_lab::AcceleratorChoice;
use stormeter_report::printable;

use crate::arguments_lab::{AcceleratorName, LabImages};
use crate::exit::Failure;

impl AcceleratorName {
    pub(super) fn choice(self) -> AcceleratorChoice {
        match self {
            AcceleratorName::Auto => AcceleratorChoice::Auto,
            AcceleratorName::Kvm => AcceleratorChoice::Kvm,
            AcceleratorName::Tcg => AcceleratorChoice::Tcg,
        }
    }
}

/// The program that worker guests run.
pub(super) fn binary(images: &LabImages) -> Result<PathBuf, Failure> {
    match &images.binary {
        Some(path) => Ok(path.clone()),
        None => std::env::current_exe()
            .map_err(|error| Failure::File(format!("this program cannot be found: {error}"))),
    }
}

pub(super) fn say(what: &str) {
    eprintln!("{}", printable(what));
}
