//! The description of a site that may not exist yet: hosts, networks, storage, datastores.
//!
//! A site is a plain value; the simulator builds a machine from it and knows nothing about files.
//! People write it as a file ([`parse_site`], with changes [`parse_site_with`]), in which a part may
//! be like one of the [library](library_text), whose figures come from data sheets.

mod file;
mod library;
mod model;
mod overrides;
mod summary;
mod unit;

pub use file::{
    CalibrationPoint, FreeParameter, SiteError, SiteErrors, SiteFile, key_lists, parameter,
    parse_site, parse_site_with, quantity, rewritten, site_schema,
};
pub use library::library_text;
pub use model::*;
pub use overrides::{Override, OverrideError, WORDS};
pub use summary::site_text;
pub use unit::{Quantity, Unit};
