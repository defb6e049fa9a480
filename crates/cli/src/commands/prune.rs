//! `stormeter prune`.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use stormeter_kept::{Cache, Choice, Criteria, Kept, Stay, Summary, choose, delete, read_all};
use stormeter_report::{printable, utc};
use stormeter_units::format_bytes;

use super::list::{files_in, own_directory, subject_of, threads};
use crate::arguments_kept::PruneOptions;
use crate::exit::{Exit, Failure};
use crate::output::print;

const NS_PER_MS: u64 = 1_000_000;

pub(crate) fn run(options: &PruneOptions) -> Result<Exit, Failure> {
    let directory = match &options.dir {
        Some(directory) => directory.clone(),
        None => own_directory()?,
    };
    let files = files_in(&directory, options.dir.is_some())?;
    let all = read_all(&files, threads(), &Cache::default(), &|file| {
        Ok(Summary { subject: subject_of(&file.header()?), ..Summary::default() })
    });
    let criteria = Criteria {
        older_than_ms: options.older_than.map(|ns| ns / NS_PER_MS),
        keep: options.keep,
        incomplete: options.incomplete,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let choice = choose(all, &criteria, now.as_millis() as u64);
    if options.yes { deleted(&directory, &choice) } else { shown(&choice) }
}

/// Prints what would go.
fn shown(choice: &Choice) -> Result<Exit, Failure> {
    let lines: String = choice.go.iter().map(line).collect();
    let files = count(choice.go.len());
    let (bytes, kept) = (total_bytes(&choice.go), kept(choice));
    let advice = match choice.go.len() {
        0 => "",
        _ => "; nothing was deleted, repeat the command with --yes for that",
    };
    print(&format!("{lines}{files} ({bytes}) would go{kept}{advice}.\n"))?;
    Ok(Exit::Done)
}

/// Deletes what goes. A file that cannot be deleted holds up no other.
fn deleted(directory: &Path, choice: &Choice) -> Result<Exit, Failure> {
    let (mut gone, mut failed) = (Vec::new(), 0);
    for one in &choice.go {
        match delete(directory, &one.path) {
            Ok(()) => {
                print(&line(one))?;
                gone.push(one.clone());
            }
            Err(error) => {
                failed += 1;
                eprintln!("{}", printable(&format!("not deleted: {error}")));
            }
        }
    }
    let (files, bytes, kept) = (count(gone.len()), total_bytes(&gone), kept(choice));
    print(&format!("{files} ({bytes}) deleted{kept}.\n"))?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

fn line(one: &Kept) -> String {
    let subject = one.content.as_ref().map(|content| content.summary.subject.as_str());
    let text = format!(
        "{}  {} ({}): {}",
        utc(one.at_unix_ms()),
        one.path.display(),
        format_bytes(one.bytes),
        subject.unwrap_or_default()
    );
    printable(&text) + "\n"
}

fn count(files: usize) -> String {
    match files {
        1 => "1 results file".into(),
        files => format!("{files} results files"),
    }
}

fn total_bytes(files: &[Kept]) -> String {
    format_bytes(files.iter().map(|one| one.bytes).sum())
}

/// What stays although it may have been meant.
fn kept(choice: &Choice) -> String {
    let number =
        |of: &dyn Fn(&Stay) -> bool| choice.stay.iter().filter(|(_, stay)| of(stay)).count();
    let running = number(&|stay| *stay == Stay::Running);
    let unreadable = number(&|stay| matches!(stay, Stay::Unreadable(_)));
    let imported = number(&|stay| *stay == Stay::Imported);
    let mut text = String::new();
    if running > 0 {
        text += &format!("; {running} in use");
    }
    if imported > 0 {
        text += &format!("; {imported} of other tools");
    }
    if unreadable > 0 {
        text += &format!("; {unreadable} that cannot be read");
    }
    if !text.is_empty() {
        text += " stay";
    }
    text
}
