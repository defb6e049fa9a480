//! `stormeter lab`: a rack in guests on this machine.

use std::time::Instant;

use stormeter_fault::{FaultSpec, FaultSpecError};
use stormeter_lab::{
    Cache, Faults, LabError, Snapshots, UpOptions, console, down, parse_lab, status, status_text,
    up,
};
use stormeter_report::printable;

use super::lab_start::{binary, say};
use crate::arguments_lab::{
    LabBuildOptions, LabCommand, LabDirectory, LabDoOptions, LabImages, LabOptions, LabUpOptions,
};
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::signals::cancel_on_signals;
use crate::text_file::read_text;

pub(crate) fn run(options: &LabOptions) -> Result<Exit, Failure> {
    match &options.command {
        LabCommand::Build(options) => build(options),
        LabCommand::Up(options) => bring_up(options),
        LabCommand::Status(LabDirectory { dir }) => {
            let text = status_text(&status(dir)?);
            // Names come from the file, which may be untrusted.
            let lines = text.lines().map(|line| format!("{}\n", printable(line)));
            print_tables(&lines.collect::<String>())?;
            Ok(Exit::Done)
        }
        LabCommand::Do(options) => perform(options),
        LabCommand::Durable(options) => super::lab_durable::run(options),
        LabCommand::Ceph(options) => super::lab_ceph::run(options),
        LabCommand::Snapshot(LabDirectory { dir }) => {
            let begin = Instant::now();
            Snapshots::open(dir)?.take()?;
            say(&format!("snapshot: taken in {:.2} s", begin.elapsed().as_secs_f64()));
            Ok(Exit::Done)
        }
        LabCommand::Rollback(LabDirectory { dir }) => {
            let begin = Instant::now();
            Snapshots::open(dir)?.roll_back()?;
            say(&format!("rollback: done in {:.2} s", begin.elapsed().as_secs_f64()));
            Ok(Exit::Done)
        }
        LabCommand::Console(options) => {
            console(&options.directory.dir, &options.name, &mut say)?;
            Ok(Exit::Done)
        }
        LabCommand::Down(LabDirectory { dir }) => {
            let ended = down(dir)?;
            say(&format!("{} guests ended", ended.guests));
            Ok(Exit::Done)
        }
    }
}

fn build(options: &LabBuildOptions) -> Result<Exit, Failure> {
    let begin = Instant::now();
    let LabImages { cache, .. } = &options.images;
    let images =
        Cache::at(cache.as_deref()).build(&binary(&options.images)?, &options.suites, &mut say)?;
    let took = begin.elapsed().as_secs_f64();
    print(&format!("images are in {} ({took:.1} s)\n", images.system.display()))?;
    Ok(Exit::Done)
}

fn bring_up(options: &LabUpOptions) -> Result<Exit, Failure> {
    let text = read_text(&options.file, "lab file")?;
    let name = options.file.display().to_string();
    let lab =
        parse_lab(&text).map_err(|errors| Failure::Usage(errors.in_file(name).to_string()))?;
    let cancel = cancel_on_signals();
    let cache = Cache::at(options.images.cache.as_deref());
    let images = cache.images(&binary(&options.images)?, lab.suites(), &mut say)?;
    let accelerator = options.accelerator.choice();
    let how = UpOptions { accelerator, cold: options.cold, logs_writes: false };
    let dir = &options.directory.dir;
    match up(&lab, dir, &images, how, &mut say, &cancel) {
        Ok(started) => {
            let (guests, took) = (started.guests, started.took.as_secs_f64());
            let froze = started.froze.as_secs_f64();
            let before = if froze < 0.5 {
                String::new()
            } else {
                format!(", after {froze:.1} s of freezing")
            };
            print(&format!("{guests} guests are up in {took:.2} s{before}\n"))?;
            Ok(Exit::Done)
        }
        Err(LabError::Interrupted) => {
            say("interrupted; all that was started is ended");
            Ok(Exit::Interrupted)
        }
        Err(error) => Err(error.into()),
    }
}

fn perform(options: &LabDoOptions) -> Result<Exit, Failure> {
    let fault: FaultSpec = options
        .action
        .join(" ")
        .parse()
        .map_err(|error: FaultSpecError| Failure::Usage(error.to_string()))?;
    let begin = Instant::now();
    Faults::open(&options.directory.dir)?.by_hand(&fault)?;
    say(&format!("{fault}: done in {:.2} s", begin.elapsed().as_secs_f64()));
    Ok(Exit::Done)
}
