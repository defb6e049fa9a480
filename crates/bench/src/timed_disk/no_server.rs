//! For benchmarks built without FUSE: the instruction gates do not need it, and share their build with the
//! program.

use std::io::{Read, Write};
use std::path::Path;

use super::schedule::Service;
use crate::failure::Failure;

/// Same signature as the server's.
pub(crate) fn serve(
    _: Service,
    _: u64,
    _: &Path,
    _: impl Read,
    _: impl Write,
) -> Result<(), Failure> {
    Err("built without the feature agreement: there is no timed disk".into())
}
