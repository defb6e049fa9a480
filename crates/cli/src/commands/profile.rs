//! `stormeter profile`: the built-in workloads with their sources, and each as a study file writes it.

use stormeter_study::{
    StudyProfile, StudyWorkload, profile_sets, study_profile, study_profiles, workloads_text,
};

use crate::arguments::ProfileOptions;
use crate::exit::{Exit, Failure};
use crate::live::wrapped;
use crate::output::print;

pub(crate) fn run(options: &ProfileOptions) -> Result<Exit, Failure> {
    let profiles = match &options.name {
        Some(name) => study_profile(name).map_err(|error| Failure::Usage(error.to_string()))?,
        None => study_profiles(),
    };
    print(&match (options.json, &options.name) {
        (true, _) => json(&profiles)?,
        (false, Some(_)) => yaml(&profiles),
        (false, None) => table(&profiles),
    })?;
    Ok(Exit::Done)
}

/// A line each, and the source under it, within 100 columns.
fn table(profiles: &[StudyProfile]) -> String {
    let sets = profile_sets();
    let names = profiles.iter().map(|profile| profile.workload.name.as_str());
    let names = names.chain(sets.iter().map(|set| set.name));
    let width = names.map(str::len).max().unwrap_or(0) + 2;
    let mut text = String::new();
    let mut source = "";
    for profile in profiles {
        // What several have in common is said once, above them.
        if profile.source != source {
            source = profile.source;
            let gap = if text.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", wrapped(source, 100));
        }
        text += &format!("  {:width$}{}\n", profile.workload.name, profile.summary);
    }
    text += "\nsets, named as one in study files\n";
    for set in sets {
        text += &format!("  {:width$}{}\n", set.name, set.summary);
    }
    text
}

/// With its first and its source as comments.
fn yaml(profiles: &[StudyProfile]) -> String {
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
        for line in wrapped(&format!("Source: {}", profile.source), 98).lines() {
            text += &format!("# {line}\n");
        }
    }
    let workloads: Vec<StudyWorkload> = profiles.iter().map(|p| p.workload.clone()).collect();
    text + &workloads_text(&workloads)
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
            let text = format!("datastores: {{a: /a}}\n{}", yaml(&profiles));
            let plan = stormeter_study::parse_study(&text).unwrap();
            let expected: Vec<_> = profiles.into_iter().map(|profile| profile.workload).collect();
            assert_eq!(plan.workloads, expected);
        }
    }

    #[test]
    fn the_table_fits_and_has_everything() {
        let text = table(&study_profiles());
        for profile in study_profiles() {
            assert!(text.contains(&format!("  {} ", profile.workload.name)), "{text}");
        }
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
