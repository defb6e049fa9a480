//! Hardware that can be referred to by name instead of being written out.
//!
//! Each figure has its source next to it: a data sheet, or its derivation.

/// The library as a file: `hosts`, `adapters` and `devices`, each entry as a site file would write
/// it, each figure with its source.
pub fn library_text() -> &'static str {
    concat!(
        include_str!("../library/hosts.yaml"),
        include_str!("../library/adapters.yaml"),
        include_str!("../library/devices.yaml"),
    )
}
