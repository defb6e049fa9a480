//! Storage that is measured, as a truth for the simulator: this machine's, and that of a lab. Other work on the machine
//! affects the measurements: leave the machine alone meanwhile.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child::{output, succeed};
use crate::repository::{Repository, without_user};
use crate::unseen::{cells, judged, of};

/// What stands in the study of the lab for the address and the target of its LUNs.
const LAB_TARGET: &str = "iscsi://LAB";

/// This machine's storage: a site made from the short measurements of `measure-site`, and its predictions of loads
/// that the fit has never seen.
pub(crate) fn machine(repository: &Repository) -> Result<(), String> {
    let bench = Bench::new(repository, "truth")?;
    let stores = ["local=embedded:local", "nfs=embedded:nfs", "iscsi=embedded:iscsi"];
    bench.measure_site(&stores, &[])?;
    let study = bench.example("kept-back.yaml");
    let seen = cells(&bench.run(&study)?)?;
    let predicted = cells(&bench.predict(&study, "site.yaml")?)?;
    judged(&seen, &predicted)?;
    bench.remove();
    Ok(())
}

/// Arrays of a lab whose disks answer a known number of requests a second: predicted from that number, with nothing
/// fitted; and two of its LUNs from the short measurements of `measure-site`.
pub(crate) fn lab(repository: &Repository) -> Result<(), String> {
    let bench = Bench::new(repository, "truth-lab")?;
    succeed(&mut bench.stormeter(&["lab", "build"]))?;
    succeed(&mut bench.stormeter(&["lab", "up", &bench.example("lab.yaml")]))?;
    let ended = in_lab(&bench);
    succeed(&mut bench.stormeter(&["lab", "down"]))?;
    ended?;
    bench.remove();
    Ok(())
}

/// What is done while the lab is up.
fn in_lab(bench: &Bench) -> Result<(), String> {
    let status = output(&mut bench.stormeter(&["lab", "status"]))?;
    let target = status
        .split_whitespace()
        .find_map(|word| Some(word.strip_prefix("iscsi://")?.rsplit_once('/')?.0))
        .ok_or("the lab has no LUN")?;
    let target = format!("iscsi://{target}");
    let study = bench.example("lab-kept-back.yaml");
    let text = std::fs::read_to_string(&study).map_err(|error| format!("{study}: {error}"))?;
    let study = bench.directory.join("lab-kept-back.yaml").display().to_string();
    let text = text.replace(LAB_TARGET, &target);
    std::fs::write(&study, &text).map_err(|error| format!("{study}: {error}"))?;
    let seen = bench.run(&study)?;
    println!("Arrays, from the rate of a disk alone");
    let predicted = cells(&bench.predict(&study, &bench.example("lab-site.yaml"))?)?;
    let arrays = judged(&of(cells(&seen)?, &["ten", "five", "six"]), &predicted);
    println!("LUNs that were measured briefly");
    let (alone, five) = (format!("alone={target}/0"), format!("five={target}/2"));
    bench.measure_site(&[&alone, &five], &["--size", "16MiB", "--duration", "2s"])?;
    let both = bench.directory.join("measured.yaml").display().to_string();
    let others = |line: &&str| !line.starts_with("  ten:") && !line.starts_with("  six:");
    let text: Vec<&str> = text.lines().filter(others).collect();
    std::fs::write(&both, text.join("\n")).map_err(|error| format!("{both}: {error}"))?;
    let predicted = cells(&bench.predict(&both, "site.yaml")?)?;
    let measured = judged(&of(cells(&seen)?, &["alone", "five"]), &predicted);
    arrays.and(measured)
}

/// The released program, and a directory for what it writes.
struct Bench {
    program: PathBuf,
    examples: PathBuf,
    directory: PathBuf,
}

impl Bench {
    fn new(repository: &Repository, name: &str) -> Result<Self, String> {
        let build = ["build", "--release", "--quiet", "--package", "stormeter"];
        succeed(&mut repository.cargo(&build))?;
        Ok(Self {
            program: repository.target.join("release/stormeter"),
            examples: repository.root.join("examples/calibration"),
            directory: repository.scratch(name)?,
        })
    }

    fn stormeter(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.directory).args(words);
        without_user(&mut command, &self.directory);
        command
    }

    fn example(&self, name: &str) -> String {
        let path: &Path = &self.examples.join(name);
        path.display().to_string()
    }

    fn measure_site(&self, stores: &[&str], how: &[&str]) -> Result<(), String> {
        let site = ["--write", "site.yaml", "--threads", "1", "--quiet"];
        let words = [&["measure-site"], stores, how, &site].concat();
        print!("{}", output(&mut self.stormeter(&words))?);
        Ok(())
    }

    /// A study on real storage: its report.
    fn run(&self, study: &str) -> Result<String, String> {
        let run = ["run", study, "--output", "seen.db", "--quiet", "--json"];
        output(&mut self.stormeter(&run))
    }

    /// A study on a site: its report.
    fn predict(&self, study: &str, site: &str) -> Result<String, String> {
        let name = Path::new(site).file_stem().unwrap_or_default().display().to_string();
        let results = format!("predicted-{name}.db");
        let predict = ["predict", study, "--site", site, "--output", &results];
        let how = ["--no-elasticity", "--quiet", "--json"];
        output(&mut self.stormeter(&[&predict[..], &how[..]].concat()))
    }

    fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
