//! Labs for real: images built, guests booted, frozen, cloned and ended.

use std::time::Instant;

use crate::child::succeed;
use crate::repository::Repository;
use crate::static_binary;
use crate::steps::Finding;

/// The step `lab`: the tests of the crate that boot guests, with the static binary in them, and in one with that which
/// the tests of the command line run: that one is not static.
pub(crate) fn check(repository: &Repository) -> Finding {
    let binary = static_binary::for_checks(repository)?;
    // The workspace's, though only one package has the target: cargo would build what that package needs anew, with
    // the features that it alone asks for.
    let tests = ["test", "--workspace", "--quiet", "--test", "guests"];
    // A package's programs are built for its tests.
    succeed(repository.cargo(&tests).args(["--test", "command", "--no-run"]))?;
    let mut cargo = repository.cargo(&tests);
    cargo.args(["--", "--nocapture"]).env("STORMETER_LAB_BINARY", binary);
    cargo.env("STORMETER_LAB_ANY_BUILD", repository.target.join("debug/stormeter"));
    let begin = Instant::now();
    succeed(&mut cargo)?;
    Ok(format!("{:.0} s with building the test and the images", begin.elapsed().as_secs_f64()))
}
