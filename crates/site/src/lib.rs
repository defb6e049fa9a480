//! The description of a site that may not exist yet: hosts, networks, storage, datastores.
//!
//! A site is a plain value; the simulator builds a machine from it and knows nothing about files.
//! People write it as a file ([`parse_site`], with changes [`parse_site_with`]), in which a part may
//! be like one of the [library](library_text), whose figures come from data sheets.
//!
//! A machine with one disk:
//!
//! ```
//! use stormeter_site::{Override, parse_site, parse_site_with};
//!
//! let text = "
//! hosts: {pc: {cores: 4, clock: 3GHz}}
//! stacks: {disk: {protocol: local, per-read: 20000 cycles, per-write: 20000 cycles}}
//! disk-groups: {ssd: {device: {like: sata-ssd-480gb}}}
//! datastores: {local: {hosts: pc, stack: disk, disks: ssd}}
//! ";
//! let site = parse_site(text)?.site;
//! assert_eq!(site.hosts[0].cores, 4);
//! assert_eq!(site.datastores[0].name, "local");
//!
//! // The same with more cores.
//! let change = Override::new("hosts.pc.cores", "8")?;
//! assert_eq!(parse_site_with(text, &[change])?.site.hosts[0].cores, 8);
//!
//! // Each mistake has a place, and says what to write.
//! let errors = parse_site(&text.replace("cores", "coers")).unwrap_err().errors;
//! assert_eq!(errors[0].line, 2);
//! assert!(errors[0].message.contains("cores"), "{}", errors[0].message);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod library;
mod model;
mod overrides;
mod summary;
mod unit;

pub use file::{
    Assumption, CalibrationPoint, FreeParameter, SiteError, SiteErrors, SiteFile, key_lists,
    parse_site, parse_site_with, quantity, rewritten, site_schema,
};
pub use library::library_text;
pub use model::*;
pub use overrides::{Override, OverrideError, WORDS};
pub use summary::site_text;
pub use unit::{Quantity, Unit};
