//! OSDs killed at random moments, many times: the tests kill a few.

use crate::child::succeed;
use crate::repository::Repository;

/// Kills if no number is given: takes ten to fifteen minutes.
const KILLS: u32 = 20;

/// The chore `ceph`.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<(), String> {
    let kills = match arguments {
        [] => KILLS,
        [option, kills] if option == "--kills" => {
            kills.parse().map_err(|_| format!("'{kills}' is no number of kills"))?
        }
        _ => return Err("ceph takes one option, --kills N".into()),
    };
    // Built like the other tests: what is measured is whether anything is lost, not how fast.
    let mut cargo =
        repository.cargo(&["test", "--package", "stormeter-datastore", "--test", "ceph"]);
    cargo.args(["--", "--nocapture"]).env("STORMETER_CEPH_KILLS", kills.to_string());
    // Without Ceph a test is not run outside CI; this chore is only for running it.
    succeed(cargo.env("CI", "true"))
}
