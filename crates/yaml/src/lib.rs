//! YAML files that people write and correct: studies, sites.
//!
//! Reading has two steps. [`document`] turns the text into a tree whose every part knows its position;
//! then each mapping is opened as a [`Section`] with the list of its [`Keys`], and its values are read
//! with the expected types. Mistakes go into [`Diagnostics`] and reading continues, so that all mistakes
//! are reported together, each with its line, a caret and what to write instead.
//!
//! Nothing here knows what a file is about: that comes from its [`Form`] and its keys.

mod document;
mod error;
mod keys;
mod redact;
mod renamed;
mod scalar;
mod section;

pub use document::{Form, Hint, Node, Value, document, shortened};
pub use error::{Diagnostics, FileError, FileErrors, FileNote, Place, Source};
pub use keys::{Key, Keys};
pub use redact::{has_password, redacted};
pub use renamed::RenamedKey;
pub use scalar::{count, duration, percent, request_size, size};
pub use section::{Section, choice, one_of};
