//! Whether io_uring works here.

use crate::setup;
use crate::unavailable::Unavailable;

/// Tests io_uring end to end: creates a small ring and passes an empty operation through it.
pub fn available() -> Result<(), Unavailable> {
    setup::build(2, 0, None).map(drop)
}
