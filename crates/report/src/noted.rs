//! Notes from several sources: each is shown once, however often it was taken.

use stormeter_results::{DatastoreFact, DatastoreNote, EventKind};
use stormeter_trial::{NoteFact, TrialNote};

use crate::phrases::{datastore_note, event_sentence, note};

/// A note and where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noted<'a> {
    /// Something that happened to the run.
    Event(&'a EventKind),
    /// A note of a datastore.
    Datastore(&'a DatastoreNote),
    /// A note of a trial.
    Trial(&'a TrialNote),
}

impl Noted<'_> {
    /// The note as a sentence.
    pub(crate) fn sentence(self) -> String {
        match self {
            Noted::Event(kind) => event_sentence(kind),
            Noted::Datastore(of_datastore) => datastore_note(of_datastore),
            Noted::Trial(of_trial) => note(of_trial),
        }
    }

    /// Whether both say the same of the same subject: what an engine lacks is noted of a datastore and of each trial on it.
    /// Of an early note there is nothing but its sentence.
    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            _ if self.is_early() || other.is_early() => self.sentence() == other.sentence(),
            (Noted::Datastore(of_datastore), Noted::Trial(of_trial))
            | (Noted::Trial(of_trial), Noted::Datastore(of_datastore)) => {
                is_both(of_datastore, of_trial)
            }
            _ => self == other,
        }
    }

    fn is_early(self) -> bool {
        match self {
            Noted::Event(kind) => matches!(kind, EventKind::Note { .. }),
            Noted::Datastore(note) => matches!(note.fact, DatastoreFact::Early { .. }),
            Noted::Trial(note) => matches!(note.fact, NoteFact::Early { .. }),
        }
    }
}

fn is_both(of_datastore: &DatastoreNote, of_trial: &TrialNote) -> bool {
    let has_place = of_datastore.host.is_some() || of_trial.host.is_some() || of_trial.of_clients;
    !has_place
        && match (&of_datastore.fact, &of_trial.fact) {
            (DatastoreFact::Engine { engine }, NoteFact::Engine { engine: in_trial }) => {
                engine == in_trial
            }
            (fact, NoteFact::Prepared { disks }) => fact == disks,
            _ => false,
        }
}

/// The notes with their subjects, each once.
pub(crate) fn each_once<'a>(
    notes: impl IntoIterator<Item = (String, Noted<'a>)>,
) -> Vec<(String, Noted<'a>)> {
    let mut all: Vec<(String, Noted<'a>)> = Vec::new();
    for (subject, note) in notes {
        if !all.iter().any(|(about, known)| *about == subject && known.is_like(note)) {
            all.push((subject, note));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use stormeter_results::EngineNote;

    use super::*;

    #[test]
    fn what_was_noted_in_several_places_is_shown_once() {
        let engine = || EngineNote::Epoll;
        let of_datastore = DatastoreNote::from(DatastoreFact::Engine { engine: engine() });
        let of_host = DatastoreNote { host: Some("esx1".into()), ..of_datastore.clone() };
        let of_trial = TrialNote::from(NoteFact::Engine { engine: engine() });
        let late = |late_ns| TrialNote::from(NoteFact::LateStart { late_ns });
        let said = datastore_note(&of_datastore);
        let early = TrialNote::from(NoteFact::Early { said });
        let (first, second) = (late(1), late(2));
        let a = |note| ("a".to_owned(), note);
        let notes = [
            a(Noted::Datastore(&of_datastore)),
            a(Noted::Datastore(&of_host)),
            a(Noted::Trial(&of_trial)),
            ("b".to_owned(), Noted::Trial(&of_trial)),
            a(Noted::Trial(&first)),
            a(Noted::Trial(&second)),
            a(Noted::Trial(&first)),
            a(Noted::Trial(&early)),
        ];
        let expected = [0, 1, 3, 4, 5].map(|place| notes[place].clone());
        assert_eq!(each_once(notes), expected);
    }
}
