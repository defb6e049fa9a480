//! What an I/O engine lacks, as the results know it.

use stormeter_disk::{DeviceError, EngineNote};
use stormeter_uring::Note;

/// The notes of an engine as facts.
pub(crate) fn engine_notes(notes: &[Note]) -> Vec<EngineNote> {
    notes.iter().map(engine_note).collect()
}

fn engine_note(note: &Note) -> EngineNote {
    match *note {
        Note::Refused(ref refusal) => EngineNote::RingRefused { said: refusal.to_string() },
        Note::Positional { threads, in_flight } => {
            EngineNote::Positional { threads, outstanding: in_flight }
        }
        Note::SocketsRefused(ref refusal) => {
            EngineNote::RingRefusedForConnections { said: refusal.to_string() }
        }
        Note::Epoll => EngineNote::Epoll,
        Note::WithoutDeferredTaskWork => EngineNote::WithoutDeferredTaskWork,
        Note::WithoutCooperativeTaskWork => EngineNote::WithoutCooperativeTaskWork,
        Note::FilesNotRegistered { errno } => {
            EngineNote::FilesNotRegistered { error: DeviceError(errno) }
        }
        Note::BuffersNotRegistered { errno, bytes } => {
            EngineNote::BuffersNotRegistered { error: DeviceError(errno), bytes }
        }
    }
}
