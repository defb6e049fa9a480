//! What a bug report needs to say about this program: `stormeter --version --verbose`.

use stormeter_agent::PROTOCOL;
use stormeter_datastore::uring_available;
use stormeter_report::SCHEMA_VERSION;
use stormeter_results::{FORMAT_VERSION, IMPORTED_FORMAT_VERSION};

use crate::defaults::{DefaultsPlace, variables};
use crate::results_place;

/// The commit that it was built from, if the build sets it.
const COMMIT: Option<&str> = option_env!("STORMETER_COMMIT");

/// One line for each fact.
pub(crate) fn verbose() -> String {
    let linking = if cfg!(target_feature = "crt-static") { "static" } else { "dynamic" };
    let library = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let (arch, system) = (std::env::consts::ARCH, std::env::consts::OS);
    // What depends on how it was built, and on nothing else.
    let features = if cfg!(target_feature = "crt-static") {
        "no librbd (a static program loads no libraries)"
    } else {
        "librbd (loaded when it is used)"
    };
    let ring = match uring_available() {
        Ok(()) => "available".into(),
        Err(reason) => format!("not available ({reason})"),
    };
    let results = match results_place::directory() {
        Some(directory) => directory.display().to_string(),
        None => "the working directory (HOME is not set)".into(),
    };
    let defaults = DefaultsPlace::of(&variables()).described();
    format!(
        "stormeter {}\ncommit: {}\ntarget: {arch}-{system}-{library}, {linking}\nfeatures: {features}\n\
         io_uring: {ring}\nformats: results {FORMAT_VERSION}, imported results \
         {IMPORTED_FORMAT_VERSION}, agents {PROTOCOL}, reports as JSON {SCHEMA_VERSION}\n\
         results files: format {FORMAT_VERSION}, in {results}\ndefaults: {defaults}\n",
        env!("CARGO_PKG_VERSION"),
        COMMIT.unwrap_or("unknown"),
    )
}
