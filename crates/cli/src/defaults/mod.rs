//! Defaults of options that a user sets once: by variables of the environment and by a file.
//!
//! They become words of the command line, right after the command, before it is parsed: the parser checks them as it
//! checks what is typed, and a run records them with the command that repeats it. An option that is given, or one that
//! excludes the default, comes first; then a variable; then the file; then what is built in. What destroys data or
//! names a file to write has no default: it must be typed each time.

mod apply;
mod file;
mod options;
mod place;

pub(crate) use apply::{Words, expanded};
pub(crate) use place::{DefaultsPlace, VARIABLE, variables};
