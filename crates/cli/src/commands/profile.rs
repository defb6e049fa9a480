//! `stormeter profile`: the built-in workloads with their sources, and each as a study file writes it.

use stormeter_import::{FioSetting, fio_job_of};
use stormeter_study::{
    StudyProfile, StudyWorkload, WorkloadKind, parse_study, profile_sets, study_profile,
    study_profiles, workloads_text,
};

use crate::arguments::ProfileOptions;
use crate::commands::import::study_of_job;
use crate::exit::{Exit, Failure};
use crate::live::wrapped;
use crate::output::{print, print_tables, terminal_width};

/// Lines are at most this wide.
const WIDTH: usize = 100;

pub(crate) fn run(options: &ProfileOptions) -> Result<Exit, Failure> {
    if let Some(job) = &options.from_fio {
        let study = parse_study(&study_of_job(job)?)
            .map_err(|errors| Failure::Usage(format!("{}: {errors}", job.display())))?;
        print(&workloads_text(&study.workloads))?;
        return Ok(Exit::Done);
    }
    let profiles = match &options.name {
        Some(name) => study_profile(name).map_err(|error| Failure::Usage(error.to_string()))?,
        None => study_profiles(),
    };
    let width = terminal_width().unwrap_or(WIDTH).min(WIDTH);
    if options.fio {
        print(&fio(&profiles)?)?;
        return Ok(Exit::Done);
    }
    match (options.json, &options.name) {
        (true, _) => print(&json(&profiles)?)?,
        (false, Some(_)) => print(&yaml(&profiles, width))?,
        (false, None) => print_tables(&table(&profiles, width))?,
    }
    Ok(Exit::Done)
}

/// A line for each profile, under its source.
fn table(profiles: &[StudyProfile], columns: usize) -> String {
    let sets = profile_sets();
    let names = profiles.iter().map(|profile| profile.workload.name.as_str());
    let names = names.chain(sets.iter().map(|set| set.name));
    let width = names.map(str::len).max().unwrap_or(0) + 2;
    let mut text = String::new();
    let mut source = "";
    for profile in profiles {
        // A source of several profiles is printed once, above them.
        if profile.source != source {
            source = profile.source;
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", wrapped(source, columns));
        }
        text += &format!("  {:width$}{}\n", profile.workload.name, profile.summary);
    }
    text += "\nsets, named as one in study files\n";
    for set in sets {
        text += &format!("  {:width$}{}\n", set.name, set.summary);
    }
    text
}

/// The profiles as a study file has them, with summary and sources as comments.
fn yaml(profiles: &[StudyProfile], width: usize) -> String {
    let mut text = String::new();
    if let [only] = profiles {
        text += &format!("# {}\n", only.summary);
    }
    let mut source = "";
    for profile in profiles.iter().filter(|profile| {
        let is_new = profile.source != source;
        source = profile.source;
        is_new
    }) {
        for line in wrapped(&format!("Source: {}", profile.source), width.saturating_sub(2)).lines()
        {
            text += &format!("# {line}\n");
        }
    }
    let workloads: Vec<StudyWorkload> = profiles.iter().map(|p| p.workload.clone()).collect();
    text + &workloads_text(&workloads)
}

/// The profiles as jobs of fio with the window of a study that says nothing else.
fn fio(profiles: &[StudyProfile]) -> Result<String, Failure> {
    const DISK_BYTES: u64 = 1 << 30;
    let setting = FioSetting {
        directory: ".".into(),
        vms: 1,
        ramp_ns: 2_000_000_000,
        duration_ns: 10_000_000_000,
    };
    let mut workloads = Vec::new();
    for StudyProfile { workload, .. } in profiles {
        let WorkloadKind::Io(io) = &workload.kind else {
            return Err(Failure::Usage(format!(
                "{} is no load for a time, and fio has no job for it; `stormeter profile` lists the others",
                workload.name
            )));
        };
        workloads.push((io, workload.disk_bytes.unwrap_or(DISK_BYTES)));
    }
    fio_job_of(&workloads, &setting)
        .map_err(|refused| Failure::Usage(format!("fio cannot do this:\n{refused}")))
}

fn json(profiles: &[StudyProfile]) -> Result<String, Failure> {
    let values = profiles.iter().map(|StudyProfile { workload, summary, source }| {
        serde_json::json!({
            "name": workload.name,
            "summary": summary,
            "source": source,
            "workload": workload,
        })
    });
    let values: Vec<serde_json::Value> = values.collect();
    let text =
        serde_json::to_string_pretty(&values).map_err(|error| Failure::File(error.to_string()))?;
    Ok(format!("{text}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_by_a_study() {
        for name in ["vm-4k", "iozone", "transfers", "file-server", "deploy"] {
            let profiles = study_profile(name).unwrap();
            let text = format!("datastores: {{a: /a}}\n{}", yaml(&profiles, WIDTH));
            let plan = stormeter_study::parse_study(&text).unwrap();
            let expected: Vec<_> = profiles.into_iter().map(|profile| profile.workload).collect();
            assert_eq!(plan.workloads, expected);
        }
    }

    #[test]
    fn the_table_fits_and_has_everything() {
        let text = table(&study_profiles(), WIDTH);
        for profile in study_profiles() {
            assert!(text.contains(&format!("  {} ", profile.workload.name)), "{text}");
        }
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
