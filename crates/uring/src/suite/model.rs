//! Random operations on several files, checked against a plain model in memory and, at the end,
//! against a plain read of each file.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::both;
use super::fixture::{LONG_NS, SplitMix, scratch};
use crate::{Engine, EngineChoice, EngineOptions, Kind, Note, RawCompletion, RawOperation};

both!(
    model_holds,
    model_holds_unregistered,
    model_holds_over_many_chunks,
    model_holds_on_older_set_ups,
    model_holds_direct,
    model_holds_in_memory,
);

const FILES: usize = 3;
/// Not a multiple of anything, so that reads end short.
const FILE_BYTES: usize = 200_001;
const BUFFERS: u32 = 24;
const BUFFER_BYTES: u32 = 3 * 4096;
const IN_FLIGHT: u32 = 16;

fn is_write(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::DurableWrite)
}

/// Operations in flight, found by their number.
struct Flight {
    operation: RawOperation,
    /// What the write writes.
    content: Vec<u8>,
}

/// An engine and the plain model of its files.
struct Model {
    engine: Engine,
    files: Vec<Vec<u8>>,
    flights: Vec<Option<Flight>>,
    out: Vec<RawCompletion>,
    seen_short: u32,
}

impl Model {
    /// Whether running both concurrently could have more than one outcome.
    fn conflicts(&self, new: &RawOperation) -> bool {
        self.flights.iter().flatten().any(|Flight { operation: old, .. }| {
            old.file == new.file
                && (is_write(old.kind) || is_write(new.kind))
                && old.offset < new.offset + u64::from(new.length)
                && new.offset < old.offset + u64::from(old.length)
        })
    }

    /// Reaps once and checks each completion against the model.
    fn reap(&mut self) {
        self.out.clear();
        self.engine.reap(Some(LONG_NS), &mut self.out, |raw| raw).unwrap();
        for done in &self.out {
            let flight = self.flights[done.user as usize].take().expect("one end an operation");
            let RawOperation { file, kind, offset, length, buffer, .. } = flight.operation;
            let content = &mut self.files[file as usize];
            let start = offset as usize;
            match kind {
                Kind::Flush => assert_eq!(done.result, 0),
                Kind::Write | Kind::DurableWrite => {
                    assert_eq!(done.result, length as i32);
                    content[start..start + length as usize].copy_from_slice(&flight.content);
                }
                Kind::Read => {
                    let end = content.len().min(start + length as usize);
                    assert_eq!(done.result, (end - start) as i32, "{:?}", flight.operation);
                    self.seen_short += u32::from(end - start < length as usize);
                    let read = self.engine.buffer(buffer).expect("its read has ended");
                    assert!(read[..end - start] == content[start..end], "{:?}", flight.operation);
                }
            }
        }
    }
}

/// Runs `operations` random ones from `seed` on files in `directory`; offsets and lengths are
/// multiples of `grain`, and `direct` opens with `O_DIRECT`. False if the file system refuses that.
fn run(
    choice: EngineChoice,
    directory: &Path,
    (seed, operations): (u64, u32),
    (grain, direct): (usize, bool),
    shape: impl FnOnce(&mut EngineOptions),
    check_notes: impl FnOnce(&[Note]),
) -> bool {
    let mut random = SplitMix(seed);
    let file_bytes = FILE_BYTES - if grain == 1 { 0 } else { FILE_BYTES % grain };
    let mut contents = Vec::new();
    let mut opened = Vec::new();
    for number in 0..FILES {
        let mut content = vec![0; file_bytes];
        random.fill(&mut content);
        let path = directory.join(format!("file-{number}"));
        fs::write(&path, &content).unwrap();
        let flags = if direct { libc::O_DIRECT } else { 0 };
        match OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path) {
            Ok(file) => opened.push(file),
            Err(error) if direct && error.raw_os_error() == Some(libc::EINVAL) => return false,
            Err(error) => panic!("{error}"),
        }
        contents.push(content);
    }
    let mut options =
        EngineOptions::new(opened).buffers(BUFFERS, BUFFER_BYTES).in_flight(IN_FLIGHT);
    shape(&mut options);
    let engine = Engine::open(choice, options).unwrap();
    check_notes(engine.notes());

    let flights = (0..IN_FLIGHT).map(|_| None).collect();
    let mut model = Model { engine, files: contents, flights, out: Vec::new(), seen_short: 0 };
    let grains = (file_bytes / grain) as u64;
    let mut shared = 0;
    for _ in 0..operations {
        let kind = match random.below(40) {
            0 => Kind::Flush,
            1 => Kind::DurableWrite,
            2..=20 => Kind::Write,
            _ => Kind::Read,
        };
        let file = random.below(FILES as u64) as u32;
        let length = random.below(u64::from(BUFFER_BYTES) / grain as u64 + 1) * grain as u64;
        let mut offset = random.below(grains) * grain as u64;
        if is_write(kind) {
            offset = offset.min(file_bytes as u64 - length);
        } else if random.below(8) == 0 {
            // Past the end, which a uniform offset rarely hits.
            offset = file_bytes as u64 - random.below(2) * grain as u64;
        }
        let buffer = random.below(u64::from(BUFFERS)) as u32;
        let mut operation =
            RawOperation { user: 0, file, kind, offset, length: length as u32, buffer };
        while model.conflicts(&operation) || !model.flights.iter().any(Option::is_none) {
            model.reap();
        }
        let mut content = Vec::new();
        match kind {
            Kind::Flush => {}
            Kind::Read => {
                while model.engine.buffer_mut(buffer).is_none() {
                    model.reap();
                }
                // What a read leaves untouched must not look like what it should have returned.
                random.fill(model.engine.buffer_mut(buffer).unwrap());
            }
            Kind::Write | Kind::DurableWrite => {
                if let Some(bytes) = model.engine.buffer_mut(buffer) {
                    random.fill(bytes);
                }
                // Otherwise other writes use it: this one writes the same contents elsewhere.
                while model.engine.buffer(buffer).is_none() {
                    model.reap();
                }
                shared += u32::from(model.engine.buffer_mut(buffer).is_none());
                let bytes = model.engine.buffer(buffer).unwrap();
                content = bytes[..length as usize].to_vec();
            }
        }
        let slot = model.flights.iter().position(Option::is_none).unwrap();
        operation.user = slot as u32;
        model.engine.push(operation).unwrap();
        model.flights[slot] = Some(Flight { operation, content });
    }
    while model.engine.in_flight() > 0 {
        model.reap();
    }
    assert!(model.flights.iter().all(Option::is_none));
    assert!(model.seen_short > 0 && shared > 0, "the run has to meet short reads and sharing");
    drop(model.engine);
    for (number, content) in model.files.iter().enumerate() {
        assert!(fs::read(directory.join(format!("file-{number}"))).unwrap() == *content);
    }
    true
}

fn model_holds(choice: EngineChoice) {
    for seed in 1..=3 {
        let directory = scratch();
        run(
            choice,
            directory.path(),
            (seed, 4000),
            (1, false),
            |_| {},
            |notes| {
                // A limit on locked memory may refuse the buffers, nothing else.
                let expected = |note: &Note| {
                    matches!(note, Note::Positional { .. } | Note::BuffersNotRegistered { .. })
                        || matches!(note, Note::WithoutDeferredTaskWork)
                };
                assert!(notes.iter().all(expected), "{notes:?}");
            },
        );
    }
}

fn model_holds_unregistered(choice: EngineChoice) {
    let refusals = [(Some(libc::ENOMEM), None), (None, Some(libc::EMFILE))];
    for (seed, (buffers, files)) in refusals.into_iter().enumerate() {
        let directory = scratch();
        let shape = |options: &mut EngineOptions| {
            options.knobs.refuse_buffers = buffers;
            options.knobs.refuse_files = files;
        };
        run(choice, directory.path(), (seed as u64, 2000), (1, false), shape, |notes| {
            if choice == EngineChoice::Uring {
                let bytes = u64::from(BUFFERS * BUFFER_BYTES);
                let buffers = buffers.map(|errno| Note::BuffersNotRegistered { errno, bytes });
                let files = files.map(|errno| Note::FilesNotRegistered { errno });
                let note = buffers.or(files).unwrap();
                assert!(notes.contains(&note), "{notes:?}");
            }
        });
    }
}

fn model_holds_over_many_chunks(choice: EngineChoice) {
    // One, two (of three that would fit) and sixteen buffers per chunk: the last one is half empty.
    for buffers_a_chunk in [1, 3, 16] {
        let directory = scratch();
        let shape = |options: &mut EngineOptions| {
            options.knobs.registration_bytes = (BUFFER_BYTES * buffers_a_chunk) as usize;
        };
        run(choice, directory.path(), (9, 2000), (1, false), shape, |_| {});
    }
}

fn model_holds_on_older_set_ups(choice: EngineChoice) {
    let rungs = [(1, Note::WithoutDeferredTaskWork), (2, Note::WithoutCooperativeTaskWork)];
    for (skip_rungs, expected) in rungs {
        let directory = scratch();
        let shape = |options: &mut EngineOptions| options.knobs.skip_rungs = skip_rungs;
        run(choice, directory.path(), (5, 2000), (1, false), shape, |notes| {
            if choice == EngineChoice::Uring {
                assert_eq!(notes.first(), Some(&expected));
            }
        });
    }
}

fn model_holds_direct(choice: EngineChoice) {
    let directory = scratch();
    if !run(choice, directory.path(), (11, 2000), (4096, true), |_| {}, |_| {}) {
        eprintln!("left out: the file system of the build refuses O_DIRECT");
    }
}

fn model_holds_in_memory(choice: EngineChoice) {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(directory) => {
            assert!(run(choice, directory.path(), (13, 2000), (1, false), |_| {}, |_| {}));
            // Since Linux 6.6 tmpfs accepts O_DIRECT.
            run(choice, directory.path(), (17, 2000), (4096, true), |_| {}, |_| {});
        }
        Err(error) => eprintln!("left out: no /dev/shm ({error})"),
    }
}
