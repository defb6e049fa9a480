//! `stormeter init`: a commented file to begin with, complete and valid, that no existing file gives way to.

mod lab;
mod place;
mod seen;
mod site;
mod study;
mod words;

use std::io::Write;
use std::path::{Path, PathBuf};

use stormeter_datastore::RealClock;
use stormeter_report::shell_command;

use crate::arguments_init::{InitCommand, InitFile, InitOptions};
use crate::commands::measure_site::named::all_named;
use crate::exit::{Exit, Failure};
use crate::output::{is_stdout, print};
use place::Place;

/// The file that is written, and the command that reads it.
struct Starter {
    text: String,
    usual: &'static str,
    next: &'static str,
}

pub(crate) fn run(options: &InitOptions) -> Result<Exit, Failure> {
    let (file, starter) = match &options.what {
        InitCommand::Study(file) => {
            let found = places(file)?;
            let found = if found.is_empty() { seen::places() } else { found };
            let text = study::text(&found)?;
            (file, Starter { text, usual: "study.yaml", next: "run FILE --plan" })
        }
        InitCommand::Site(file) => {
            let clock_hz = RealClock::new().counter_hz();
            let text = site::text(&places(file)?, cores(), clock_hz)?;
            (file, Starter { text, usual: "site.yaml", next: "site check FILE" })
        }
        InitCommand::Lab(file) => {
            let text = lab::text(&places(file)?)?;
            (file, Starter { text, usual: "lab.yaml", next: "lab up FILE" })
        }
    };
    keep(&starter, file.output.as_deref())
}

/// The datastores of the command line.
fn places(file: &InitFile) -> Result<Vec<Place>, Failure> {
    Ok(all_named(&file.datastores)?.iter().map(Place::of).collect())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Writes the file, or prints it.
fn keep(starter: &Starter, output: Option<&Path>) -> Result<Exit, Failure> {
    let path = output.map_or_else(|| PathBuf::from(starter.usual), Path::to_path_buf);
    if is_stdout(&path) {
        print(&starter.text)?;
        return Ok(Exit::Done);
    }
    let shown = path.display();
    let mut file = std::fs::File::create_new(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::Usage(format!(
            "{shown} exists and is left as it is; give another name with --output, or --output - to print"
        )),
        _ => Failure::File(format!("{shown} cannot be written: {error}")),
    })?;
    file.write_all(starter.text.as_bytes())
        .map_err(|error| Failure::File(format!("{shown} cannot be written: {error}")))?;
    let name = path.to_string_lossy();
    let words = std::iter::once("stormeter").chain(starter.next.split(' '));
    let words: Vec<String> =
        words.map(|word| if word == "FILE" { name.to_string() } else { word.into() }).collect();
    eprintln!(
        "Written to {shown}. Read it, change what does not fit, and then:\n  {}",
        shell_command(&words)
    );
    Ok(Exit::Done)
}
