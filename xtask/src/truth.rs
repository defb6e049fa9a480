//! The simulator held against what is known to be true, in full. The short form of the same checks is
//! among the tests.

use crate::child::succeed;
use crate::repository::Repository;

/// The chore `truth`.
pub(crate) fn run(repository: &Repository) -> Result<(), String> {
    theory(repository)
}

/// Queues and closed networks whose solution is exact: all that is marked as long in
/// crates/bench/tests/theory.
fn theory(repository: &Repository) -> Result<(), String> {
    succeed(&mut repository.cargo(&[
        "test",
        "--release",
        "--package",
        "stormeter-bench",
        "--test",
        "theory",
        "--",
        "--ignored",
        "--nocapture",
    ]))
}
