//! Files in YAML that people write and mend: studies, sites.
//!
//! Reading is in two steps. [`document`] makes the text a tree whose every part knows its place;
//! then each mapping is opened as a [`Section`] with the list of its [`Keys`], and its values are
//! read as what they should be. Whatever is wrong goes into [`Diagnostics`] and reading goes on, so that
//! all mistakes are told together, each with its line, a caret and what to write instead.
//!
//! Nothing here knows what a file is about: its words come in by its [`Form`] and its keys.

mod document;
mod error;
mod keys;
mod redact;
mod scalar;
mod section;

pub use document::{Form, Hint, Node, Value, document, shortened};
pub use error::{Diagnostics, FileError, FileErrors, Place, Source};
pub use keys::{Key, Keys};
pub use redact::{has_password, redacted};
pub use scalar::{count, duration, percent, request_size, size};
pub use section::{Section, choice, one_of};
