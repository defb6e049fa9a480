//! What the load generator itself costs, side by side with fio: the figures of docs/performance.md.
//!
//! Wall-clock rates on a shared machine move by tens of per cent, so the gates are counts: user
//! instructions per I/O, as the slope between a short and a long run of the same command under
//! callgrind, which leaves start-up out. Rates, CPU times and latencies are medians of interleaved
//! pairs with their spread, for a person to judge.
//!
//! Each measured run of either side is a process of its own, so that both are started, pinned and
//! accounted for in the same way. Ours is this program again, with the hidden command `drive`.

mod agreement;
mod arguments;
mod document;
mod drive;
mod file;
mod fio;
mod instructions;
mod line;
mod machine;
mod null;
mod ours;
mod pairs;
mod process;
mod scale;

use std::process::ExitCode;

use crate::arguments::{Arguments, Command};
use crate::line::Line;
use crate::ours::Store;

/// What went wrong, in words: a bench has nobody who would handle it.
type Failure = String;

fn main() -> ExitCode {
    let outcome = match arguments::parse(std::env::args().skip(1)) {
        Ok(Command::Drive(drive)) => drive::run(&drive).map(|()| true),
        Ok(Command::Bench(bench)) => run(&bench),
        Err(reason) => Err(reason),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("stormeter-bench: {reason}");
            ExitCode::from(2)
        }
    }
}

/// Measures, prints and perhaps writes the table. Gives whether every gate holds.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let machine = machine::describe()?;
    let store = Store::new(&arguments.directory)?;
    let mut lines = Vec::new();
    let wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    if wanted("null") {
        lines.extend(null::measure(arguments)?);
    }
    if wanted("file") {
        lines.extend(file::measure(arguments, &store)?);
    }
    if wanted("agreement") && !arguments.short {
        lines.extend(agreement::measure(arguments, &store)?);
    }
    if wanted("scale") && !arguments.short {
        lines.extend(scale::measure(arguments, &store)?);
    }
    drop(store);
    let section = document::section(&machine, &arguments.spelled(), &lines);
    println!("{section}");
    if let Some(path) = &arguments.write {
        document::write(path, &section)?;
    }
    let broken: Vec<&Line> = lines.iter().filter(|line| line.gate && !line.holds).collect();
    for line in &broken {
        eprintln!("stormeter-bench: gate broken: {} ({} {})", line.what, line.measure, line.bound);
    }
    Ok(broken.is_empty())
}
