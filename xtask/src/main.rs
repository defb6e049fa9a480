//! The repository's chores, as one program that needs nothing but Rust: `cargo xtask help`.
//!
//! Chores are a program and not shell scripts, so that they are checked like everything else and
//! run the same on a contributor's machine as in CI.

mod bench;
mod ceph;
mod changelog;
mod checks;
mod child;
mod cross;
mod deny;
mod dist;
mod elf;
mod fuzz;
mod lab;
mod layer_picture;
mod layers;
mod marked;
mod measured;
mod metadata;
mod peers;
mod readers;
mod readme;
mod repository;
mod static_binary;
mod steps;
mod studies;
mod target;
mod test_programs;
mod tidy;
mod truth;
mod unpacked;
mod unseen;

use std::process::ExitCode;

use repository::Repository;

const HELP: &str = "\
cargo xtask CHORE

  test [--only STEP]…  run every check; the last line is 'N passed, M failed'
  tidy [--write]       check layers, clocks, file lengths, licences and wording; --write redraws the layers
  bench [ARGUMENT]…    benchmarks compared with fio (arguments go to stormeter-bench)
  truth [WHICH]        check the simulator against theory, published findings, this machine and a lab on it; leave the machine alone
  dist [--twice|--try] make the packages of a release in target/dist; --twice compares two builds, --try installs and runs them
  static               build, inspect and try the static binary (musl)
  peers                install the programs that the checks need, where possible
  fuzz [RUNS]          fuzz decoders, sessions, importers and tables with mutated input, for a long time
  ceph [--kills N]     kill OSDs of a small Ceph cluster at random moments, 20 unless given: nothing may be lost
  readers              DuckDB, HdrHistogram, fio-plot and actionlint read what is exported and documented (PyPI, Go modules)
  deny                 check dependencies with cargo-deny: advisories, licences, sources
  help                 print this help
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (chore, rest) = match arguments.split_first() {
        Some((chore, rest)) => (chore.as_str(), rest),
        None => ("help", &[][..]),
    };
    match run(chore, rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &str, rest: &[String]) -> Result<(), String> {
    if !rest.is_empty()
        && !matches!(chore, "test" | "tidy" | "bench" | "fuzz" | "truth" | "ceph" | "dist")
    {
        return Err(format!("'{chore}' takes no arguments; see cargo xtask help"));
    }
    match chore {
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            return Ok(());
        }
        _ if !is_chore(chore) => {
            return Err(format!("there is no chore '{chore}'; see cargo xtask help"));
        }
        _ => {}
    }
    let repository = Repository::open()?;
    match chore {
        "test" => checks::run(&repository, rest),
        "tidy" => tidy::run(&repository, rest),
        "bench" => bench::run(&repository, rest),
        "truth" => truth::run(&repository, rest.first().map(String::as_str)),
        "fuzz" => fuzz::run(&repository, rest),
        "ceph" => ceph::run(&repository, rest),
        "dist" => dist::run(&repository, rest),
        "static" => static_binary::run(&repository),
        "peers" => peers::run(&repository),
        "readers" => readers::run(&repository),
        _ => deny::run(&repository),
    }
}

/// Whether `cargo xtask NAME` exists; the README is checked with this.
pub(crate) fn is_chore(name: &str) -> bool {
    HELP.lines()
        .filter_map(|line| line.strip_prefix("  "))
        .any(|line| line.split(' ').next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::is_chore;

    #[test]
    fn the_chores_are_those_that_the_help_tells_of() {
        for name in [
            "test", "tidy", "bench", "truth", "dist", "static", "peers", "ceph", "readers", "deny",
            "help",
        ] {
            assert!(is_chore(name), "{name}");
        }
        assert!(!is_chore("cargo") && !is_chore("") && !is_chore("tests"));
    }
}
