//! What a reader should know of how a trial was measured, as a clause without full stop.

use stormeter_trial::{NoteFact, TrialNote};
use stormeter_units::format_duration_ns;

use super::datastore::{datastore_fact, engine_note};
use super::model::model_note;
use crate::wording::plural;

/// A note with what it is about: `esx1: the clients: …`.
pub(crate) fn note(note: &TrialNote) -> String {
    let host = note.host.as_ref().map_or_else(String::new, |host| format!("{host}: "));
    let clients = if note.of_clients { "the clients: " } else { "" };
    format!("{host}{clients}{}", fact(&note.fact))
}

fn fact(fact: &NoteFact) -> String {
    match fact {
        NoteFact::Engine { engine } => engine_note(engine),
        NoteFact::Prepared { disks } => datastore_fact(disks),
        NoteFact::Model { model } => model_note(model),
        NoteFact::Early { said } => said.clone(),
        NoteFact::NotPinned => "a driving thread could not be pinned to a CPU".into(),
        NoteFact::HostFilesUnreadable { files } => {
            format!("the host's activity is not fully known: cannot read {}", files.join(", "))
        }
        NoteFact::NoMonitor { said } => {
            format!("the host's activity is unknown: no thread could be started for it ({said})")
        }
        NoteFact::GuestsUnwatched { said } => {
            format!("what the guests of the rack did is not fully known: {said}")
        }
        NoteFact::TargetUnknown { why } => why.to_string(),
        NoteFact::LateStart { late_ns } => {
            format!("learned of the common start {} late", format_duration_ns(*late_ns as f64))
        }
        NoteFact::StartRepeated { times } => format!(
            "a host learned of the common start too late, so it was repeated ({})",
            plural((*times).into(), "time")
        ),
    }
}

#[cfg(test)]
mod tests {
    use stormeter_results::{DatastoreFact, EngineNote};
    use stormeter_trial::{ModelNote, TargetUnknown};

    use super::*;

    #[test]
    fn every_note_has_its_sentence() {
        let said = || "as it was said".to_owned();
        let why = TargetUnknown::Hidden("10.0.0.5:2049".into());
        for (one, expected) in [
            (
                NoteFact::Engine { engine: EngineNote::Epoll },
                "epoll serves the connections: each transfer is a separate system call",
            ),
            (
                NoteFact::Prepared { disks: DatastoreFact::KeepsNothing },
                "the LUN keeps nothing of what is written to it",
            ),
            (
                NoteFact::Model {
                    model: ModelNote::NoReplicaLeft { storage: "vsan".into(), bytes: 1 << 30 },
                },
                "vsan: 1GiB are lost, no replica of them is left",
            ),
            (NoteFact::Early { said: said() }, "as it was said"),
            (NoteFact::NotPinned, "a driving thread could not be pinned to a CPU"),
            (
                NoteFact::HostFilesUnreadable { files: vec!["/proc/stat".into(), "/sys".into()] },
                "the host's activity is not fully known: cannot read /proc/stat, /sys",
            ),
            (
                NoteFact::NoMonitor { said: said() },
                "the host's activity is unknown: no thread could be started for it (as it was said)",
            ),
            (
                NoteFact::GuestsUnwatched { said: said() },
                "what the guests of the rack did is not fully known: as it was said",
            ),
            (
                NoteFact::TargetUnknown { why },
                "the process that listens on 10.0.0.5:2049 belongs to another user, so the CPU time of the target is \
                 not known; run as root or as the server's user",
            ),
            (NoteFact::LateStart { late_ns: 1_500_000 }, "learned of the common start 1.50ms late"),
            (
                NoteFact::StartRepeated { times: 2 },
                "a host learned of the common start too late, so it was repeated (2 times)",
            ),
        ] {
            assert_eq!(fact(&one), expected);
        }
        let clients =
            TrialNote { host: Some("esx1".into()), of_clients: true, ..NoteFact::NotPinned.into() };
        assert_eq!(
            note(&clients),
            "esx1: the clients: a driving thread could not be pinned to a CPU"
        );
    }
}
