//! Holds the simulator against published findings that were left out of the fit: the only claim that is made about how
//! far its predictions of other people's storage can be trusted.
//!
//! ```text
//! stormeter-truth DIRECTORY [NAME...]    the studies in a directory, or some of them
//! ```
//!
//! Prints tables in Markdown. The same studies give the same figures on every machine. No choice is made with what is
//! left out in view: what a fit may use is in `leave_out`, and priors are in the files of relations.

mod bands;
mod case;
mod leave_out;
mod links;
mod relation;
mod score;
mod table;

use std::path::Path;
use std::process::ExitCode;

use case::Case;

/// The studies.
const STUDIES: [&str; 5] = ["tr3808", "nfs-datastore", "vsan", "virtual-physical", "mpls-servers"];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(directory) = words.next() else {
        eprintln!("usage: stormeter-truth DIRECTORY [NAME...]");
        return ExitCode::from(2);
    };
    let names: Vec<String> = words.collect();
    match run(Path::new(&directory), &names) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(directory: &Path, names: &[String]) -> Result<String, String> {
    let wanted = |name: &&&str| names.is_empty() || names.iter().any(|one| one == **name);
    let cases = STUDIES
        .iter()
        .filter(wanted)
        .map(|name| Case::read(&directory.join(name)).map_err(|error| format!("{name}: {error}")))
        .collect::<Result<Vec<_>, _>>()?;
    let (mut conditions, mut studies) = (Vec::new(), Vec::new());
    for case in &cases {
        eprintln!("{}: {} relations", case.name, case.relations.len());
        conditions.push(leave_out::conditions(case)?);
        studies.push(leave_out::study(case)?);
    }
    let pairs: Vec<_> = cases.iter().zip(&conditions).collect();
    let mut text = table::scores("A condition left out", &pairs);
    text += &table::scores("The study left out", &cases.iter().zip(&studies).collect::<Vec<_>>());
    text += &bands::table(&pairs);
    text += &table::every(&pairs);
    Ok(text)
}
