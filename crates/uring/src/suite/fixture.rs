//! What the tests share: scratch files, a small generator, operations held in flight.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::gate::Gate;
use crate::{Engine, EngineChoice, EngineOptions, Kind, RawCompletion, RawOperation};

/// Long enough for any I/O of a test to end on a busy machine; not waited for if all is well.
pub(super) const LONG_NS: u64 = 60_000_000_000;

/// A directory on the file system of the build, which is on a disk more often than `/tmp` is.
pub(crate) fn scratch() -> TempDir {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    fs::create_dir_all(&target).unwrap();
    tempfile::Builder::new().prefix("uring-test-").tempdir_in(target).unwrap()
}

/// A file with these contents, open for reading and writing.
pub(super) fn file_with(directory: &Path, name: &str, content: &[u8]) -> (PathBuf, File) {
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    (path, file)
}

pub(super) fn operation(
    kind: Kind,
    file: u32,
    offset: u64,
    length: u32,
    buffer: u32,
) -> RawOperation {
    RawOperation { user: 7, file, kind, offset, length, buffer }
}

/// Reaps until nothing is in flight.
pub(super) fn reap_all(engine: &mut Engine) -> Vec<RawCompletion> {
    let mut out = Vec::new();
    while engine.in_flight() > 0 {
        engine.reap(Some(LONG_NS), &mut out, |raw| raw).unwrap();
    }
    out
}

/// Pushes one operation and returns its result.
pub(super) fn result_of(engine: &mut Engine, operation: RawOperation) -> i32 {
    engine.push(operation).unwrap();
    let out = reap_all(engine);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].user, operation.user);
    out[0].result
}

/// Bytes of a file that were in memory and not on storage: the kernel counts, for each thread, those that it need not
/// write any more because the thread cut a file short (proc(5), `cancelled_write_bytes`). The file is empty then.
pub(crate) fn dirty_bytes(file: &File) -> u64 {
    let cancelled = || {
        let text = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("cancelled_write_bytes: "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = cancelled();
    file.set_len(0).unwrap();
    cancelled() - before
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}

/// An engine whose operations on file 0 do not end before [`release`](Held::release): a read then
/// returns one byte (or several of them together, one for each to be released), a write 4096.
///
/// On the ring, file 0 is a pipe, empty or full. A pipe cannot be read by position (ESPIPE), so
/// there a gate holds the threads.
pub(super) struct Held {
    pub(super) engine: Engine,
    hold: Hold,
    _directory: TempDir,
}

enum Hold {
    Reads(std::io::PipeWriter),
    Writes(std::io::PipeReader),
    Threads(Gate),
}

/// Capacity of a new pipe in bytes, see `pipe(7)`.
const PIPE_BYTES: usize = 65_536;

impl Held {
    /// `shape` sets options beyond four buffers of 4 KiB and eight operations.
    pub(super) fn new(
        choice: EngineChoice,
        kind: Kind,
        shape: impl FnOnce(&mut EngineOptions),
    ) -> Self {
        let directory = scratch();
        let (file, hold) = if choice == EngineChoice::Positional {
            (file_with(directory.path(), "held", b"x").1, Hold::Threads(Gate::shut()))
        } else {
            let (reader, mut writer) = std::io::pipe().unwrap();
            if kind == Kind::Read {
                (File::from(OwnedFd::from(reader)), Hold::Reads(writer))
            } else {
                writer.write_all(&[0; PIPE_BYTES]).unwrap();
                (File::from(OwnedFd::from(writer)), Hold::Writes(reader))
            }
        };
        let mut options = EngineOptions::new(vec![file]).buffers(4, 4096).in_flight(8);
        if let Hold::Threads(gate) = &hold {
            options.knobs.gate = gate.clone();
        }
        shape(&mut options);
        Self { engine: Engine::open(choice, options).unwrap(), hold, _directory: directory }
    }

    /// Lets `operations` held operations end.
    pub(super) fn release(&mut self, operations: usize) {
        match &mut self.hold {
            Hold::Reads(writer) => {
                writer.write_all(&vec![b'x'; operations]).unwrap();
            }
            Hold::Writes(reader) => {
                reader.read_exact(&mut vec![0; operations * 4096]).unwrap();
            }
            Hold::Threads(gate) => gate.open(),
        }
    }

    /// Submits, and waits until `operations` have reached the threads or the kernel.
    pub(super) fn start(&mut self, operations: usize) {
        self.engine.reap(None, &mut Vec::new(), |raw| raw).unwrap();
        if let Hold::Threads(gate) = &self.hold {
            gate.wait_for(operations);
        }
    }

    /// The engine, and what releases its threads if it has any.
    pub(super) fn into_parts(self) -> (Engine, impl FnOnce()) {
        let Self { engine, hold, _directory } = self;
        (engine, move || {
            if let Hold::Threads(gate) = &hold {
                gate.open();
            }
            drop((hold, _directory));
        })
    }
}
