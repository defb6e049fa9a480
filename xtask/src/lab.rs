//! Real labs: images built, guests booted, frozen, cloned and shut down.

use std::time::Instant;

use crate::child::succeed;
use crate::repository::Repository;
use crate::static_binary;
use crate::steps::Finding;

/// The step `lab`: the tests of crates/lab that boot guests, with the static binary in them; one guest gets the
/// binary that the command-line tests run, which is not static.
pub(crate) fn check(repository: &Repository) -> Finding {
    let binary = static_binary::for_checks(repository)?;
    // The whole workspace, though only one package has the target: otherwise cargo would rebuild that package's
    // dependencies with only the features that it requests.
    let tests = ["test", "--workspace", "--quiet", "--test", "guests"];
    // Building a package's tests also builds its programs.
    succeed(repository.cargo(&tests).args(["--test", "command", "--no-run"]))?;
    let mut cargo = repository.cargo(&tests);
    cargo.args(["--", "--nocapture"]).env("STORMETER_LAB_BINARY", binary);
    cargo.env("STORMETER_LAB_ANY_BUILD", repository.target.join("debug/stormeter"));
    let begin = Instant::now();
    succeed(&mut cargo)?;
    Ok(format!("{:.0} s with building the test and the images", begin.elapsed().as_secs_f64()))
}
