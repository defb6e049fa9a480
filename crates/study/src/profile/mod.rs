//! The built-in workloads, each with its source.
//!
//! Timed load ([`io`]) can be used wherever a workload is needed; trials of fixed work ([`fixed_work`]) are for
//! studies only. Several profiles that belong together form a set, which has a name too.

mod fixed_work;
mod io;
mod value;

use stormeter_units::nearest;

pub(crate) use fixed_work::DEPLOYMENT;
pub use value::{Profile, ProfileSet, StudyProfile};

use crate::study_plan::{StudyWorkload, WorkloadKind};

/// A name that is not a profile's, or not that of a suitable one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownProfile {
    /// There is none with this name, but a similar one exists.
    #[error(
        "there is no workload {name:?}; did you mean {meant}? `stormeter profile` lists them all"
    )]
    Mistyped {
        /// The name that was given.
        name: String,
        /// The similar name.
        meant: String,
    },
    /// There is none with this name.
    #[error("there is no workload {name:?}; the built-in ones are {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The existing names.
        known: String,
    },
    /// It ends when its work is done, but a timed comparison needs a timed load.
    #[error(
        "{0} is not load for a time but work that ends when it is done; name it in a study file \
         and carry that out with `stormeter run`"
    )]
    FixedWork(String),
}

/// All built-in loads, in the order of tables.
pub fn profiles() -> Vec<Profile> {
    io::all().into_iter().map(|(profile, _)| profile).collect()
}

/// The built-in load with this name.
pub fn profile(name: &str) -> Result<Profile, UnknownProfile> {
    if let Some(profile) = profiles().into_iter().find(|profile| profile.workload.name == name) {
        return Ok(profile);
    }
    if fixed_work::all().iter().any(|profile| profile.workload.name == name)
        || profile_sets().iter().any(|set| set.name == name)
    {
        return Err(UnknownProfile::FixedWork(name.into()));
    }
    Err(unknown(name, profiles().into_iter().map(|profile| profile.workload.name).collect()))
}

/// All built-in workloads that a study can refer to, in the order of tables.
pub fn study_profiles() -> Vec<StudyProfile> {
    let io = io::all().into_iter().map(|(profile, disk_bytes)| StudyProfile {
        workload: StudyWorkload {
            name: profile.workload.name.clone(),
            disk_bytes,
            kind: WorkloadKind::Io(profile.workload),
        },
        summary: profile.summary.into(),
        source: profile.source,
    });
    io.chain(fixed_work::all()).collect()
}

/// The sets of profiles.
pub fn profile_sets() -> Vec<ProfileSet> {
    let fixed_work_trials = fixed_work::all();
    let names = |is_member: fn(&WorkloadKind) -> bool| {
        let members = fixed_work_trials.iter().filter(|profile| is_member(&profile.workload.kind));
        members.map(|profile| profile.workload.name.clone()).collect()
    };
    vec![
        ProfileSet {
            name: "iozone",
            summary: "the six file tests, one after the other",
            members: names(|kind| matches!(kind, WorkloadKind::File(_))),
        },
        ProfileSet {
            name: "transfers",
            summary: "every size, direction and sink of the transfers",
            members: names(|kind| matches!(kind, WorkloadKind::Transfer(_))),
        },
    ]
}

/// The profile with this name, or all profiles of the set with this name.
pub fn study_profile(name: &str) -> Result<Vec<StudyProfile>, UnknownProfile> {
    let all = study_profiles();
    let set = profile_sets().into_iter().find(|set| set.name == name);
    let found: Vec<StudyProfile> = all
        .iter()
        .filter(|profile| {
            let own = &profile.workload.name;
            own == name || set.as_ref().is_some_and(|set| set.members.contains(own))
        })
        .cloned()
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    Err(unknown(name, study_profile_names()))
}

fn unknown(name: &str, known: Vec<String>) -> UnknownProfile {
    let name = name.to_owned();
    match nearest(&name, known.iter().map(String::as_str)) {
        Some(meant) => UnknownProfile::Mistyped { meant: meant.into(), name },
        None => UnknownProfile::Unknown { known: known.join(", "), name },
    }
}

/// The names of all profiles and sets; of the transfers only the set's name.
pub fn study_profile_names() -> Vec<String> {
    let all = study_profiles().into_iter();
    let short = all.filter(|profile| !matches!(profile.workload.kind, WorkloadKind::Transfer(_)));
    short
        .map(|profile| profile.workload.name)
        .chain(profile_sets().into_iter().map(|set| set.name.into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_can_be_driven_and_found() {
        for Profile { workload, summary, source } in profiles() {
            assert_eq!(workload.check(1 << 30), Ok(()), "{}", workload.name);
            assert_eq!(profile(&workload.name).unwrap().workload, workload);
            assert!(!summary.is_empty() && !source.is_empty());
        }
        for StudyProfile { workload, .. } in study_profiles() {
            let found = study_profile(&workload.name).unwrap();
            assert_eq!(found.len(), 1, "{}", workload.name);
            assert_eq!(found[0].workload, workload);
        }
    }

    #[test]
    fn no_name_is_there_twice() {
        let mut names: Vec<String> =
            study_profiles().into_iter().map(|profile| profile.workload.name).collect();
        names.extend(profile_sets().into_iter().map(|set| set.name.to_owned()));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_names_of_the_published_studies_are_there() {
        let names = [
            "vm-4k",
            "vm-8k",
            "bst",
            "st",
            "rt",
            "wt",
            "ht",
            "sht",
            "aft",
            "srt",
            "swt",
            "oltp",
            "seq-write-4k",
            "seq-write-32k",
            "iozone-write",
            "iozone-rewrite",
            "iozone-read",
            "iozone-reread",
            "iozone-random-read",
            "iozone-random-write",
            "deploy",
            "memory-write-100kb",
            "disk-read-100mb",
        ];
        for name in names {
            assert_eq!(study_profile(name).unwrap().len(), 1, "{name}");
        }
        assert_eq!(study_profile("iozone").unwrap().len(), 6);
        assert_eq!(study_profile("transfers").unwrap().len(), 16);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_a_mistyped_one_names_what_was_meant() {
        let message = profile("mine").unwrap_err().to_string();
        assert!(message.contains("mine") && message.contains("vm-4k, vm-8k"), "{message}");
        let message = profile("vm-5k").unwrap_err().to_string();
        assert!(message.contains("vm-5k") && message.contains("vm-4k"), "{message}");
        assert!(!message.contains("oltp"), "{message}");
    }

    #[test]
    fn fixed_work_is_sent_to_run() {
        for name in ["iozone-write", "deploy", "iozone"] {
            let message = profile(name).unwrap_err().to_string();
            assert!(message.contains("stormeter run"), "{message}");
        }
    }
}
