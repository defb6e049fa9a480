//! The corpus and mutations of it, through the entry points for fuzzers. `STORMETER_FUZZ_RUNS` sets
//! the number of mutations; a finding is printed with its seed and as hexadecimal digits.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

#[path = "model/random.rs"]
mod random;
#[path = "model/server.rs"]
#[expect(dead_code, reason = "the corpus needs the server's replies only")]
mod server;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use random::Random;
use stormeter_disk::Completion;
use stormeter_nfs::{NfsSession, fuzz};
use stormeter_wire::{Heap, Outbox, Session};

const DEFAULT_RUNS: u64 = 20_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = folder(name);
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no corpus in {}", folder.display());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Boundary values for lengths.
const EXTREME: [u32; 12] = [
    0,
    1,
    3,
    65,
    401,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffc,
    0xffff_fffd,
    0xffff_ffff,
    10_008,
];

fn mutate(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let place = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[place] ^= 1 << random.below(8),
            1 => bytes[place] = random.next() as u8,
            2 => bytes.truncate(place),
            3 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                bytes.truncate(place);
                bytes.extend_from_slice(&other[from..]);
            }
            4 => {
                // Words are at multiples of four.
                let place = place & !3;
                let value = EXTREME[random.below(EXTREME.len())].to_be_bytes();
                let end = bytes.len().min(place + 4);
                bytes[place..end].copy_from_slice(&value[..end - place]);
            }
            _ => {
                let end = place + random.below(bytes.len() - place);
                let part = bytes[place..end].to_vec();
                bytes.splice(place..place, part);
            }
        }
    }
    bytes
}

fn run(name: &str, target: fn(&[u8])) {
    let runs = match std::env::var("STORMETER_FUZZ_RUNS") {
        Ok(text) => text.parse().expect("STORMETER_FUZZ_RUNS is a number"),
        Err(_) => DEFAULT_RUNS,
    };
    let corpus = corpus(name);
    let check = |what: &str, bytes: &[u8]| {
        if catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err() {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            panic!("{name}: {what} fails: {hex}");
        }
    };
    for (number, bytes) in corpus.iter().enumerate() {
        check(&format!("file {number} of the corpus"), bytes);
    }
    for seed in 0..runs {
        let bytes = mutate(&corpus, &mut Random::new(seed));
        check(&format!("seed {seed}"), &bytes);
    }
}

#[test]
fn replies_are_read_or_refused() {
    run("replies", fuzz::replies);
}

#[test]
fn a_session_bears_any_stream() {
    run("session", fuzz::session);
}

/// Every file of the corpus must bring its session to the end: otherwise mutations of it reach
/// nothing.
#[test]
fn the_corpus_completes_its_operations() {
    for bytes in corpus("session") {
        let (script, _) = bytes.split_first_chunk::<4>().unwrap();
        if script[3] != 255 {
            continue;
        }
        assert!(completes(&bytes), "{script:?}");
    }
}

fn completes(bytes: &[u8]) -> bool {
    let script = fuzz::Script::from_bytes(bytes[..4].try_into().unwrap());
    let mut session = script.session();
    let mut memory = Heap::new(16, 64 << 10);
    let (mut out, mut done) = (Outbox::default(), Vec::new());
    session.connected(0, &memory, &mut out);
    let operations = script.operations();
    for operation in &operations {
        session.submit(operation, 0, &memory, &mut out);
    }
    // Fragment by fragment, as when it was recorded: numbers depend on the order of events.
    let mut rest = &bytes[4..];
    while let Some(mark) = rest.first_chunk::<4>() {
        let length = 4 + (u32::from_be_bytes(*mark) & !(1 << 31)) as usize;
        let (fragment, after) = rest.split_at(length);
        session.receive(fragment, 0, &mut memory, &mut out, &mut done).unwrap();
        flush(script, &mut session, &memory, &mut out, &mut done);
        rest = after;
    }
    session.outstanding() == 0
}

/// Submits the flushes that follow what has completed, and completes those that make no call.
fn flush(
    script: fuzz::Script,
    session: &mut NfsSession,
    memory: &Heap,
    out: &mut Outbox,
    done: &mut Vec<Completion>,
) {
    for flush in done.drain(..).filter_map(|one| script.flush_after(&one)) {
        session.submit(&flush, 0, memory, out);
    }
    session.tick(0, memory, out, done).unwrap();
    done.clear();
}

/// The corpus becomes outdated when scripts or sessions change: with `STORMETER_WRITE_CORPUS` set
/// this rewrites `corpus/session` with streams of the model's server.
#[test]
fn the_session_corpus_is_what_the_model_says() {
    let writes = std::env::var_os("STORMETER_WRITE_CORPUS").is_some();
    use server::{Faults, Server};

    let quiet = Faults::default();
    let faults = [
        quiet,
        Faults { bare: true, ..quiet },
        Faults { verifier_bytes: true, fragment: 400, ..quiet },
        Faults { short: 400, ..quiet },
        Faults { duplicate: 300, wrong_xid: 300, ..quiet },
        Faults { fail_read: 500, eager: 500, ..quiet },
        Faults { lying: 500, silent_restart: 200, ..quiet },
        Faults { short: 200, fragment: 300, bare: true, ..quiet },
    ];
    std::fs::create_dir_all(folder("session")).unwrap();
    for (number, faults) in faults.into_iter().enumerate() {
        for unstable in [false, true] {
            let script = fuzz::Script {
                unstable,
                // Data that is lost and cannot be made stable would end the connection.
                flushes: number != 6,
                operations: 2 + number as u32 % 4,
                part_bytes: 16 << (2 * (number % 4)),
                break_after: if number == 7 { 5 } else { 255 },
            };
            let mut server = Server::new(2, 6 << 16, number as u64, faults);
            let mut session = script.session();
            let mut memory = Heap::new(16, 64 << 10);
            let (mut out, mut done) = (Outbox::default(), Vec::new());
            let mut bytes = script.bytes().to_vec();
            session.connected(0, &memory, &mut out);
            for operation in &script.operations() {
                session.submit(operation, 0, &memory, &mut out);
            }
            loop {
                server.take(&out.gather(&memory));
                while server.carry_out_one() {}
                let reply = server.send_one();
                if reply.is_empty() {
                    break;
                }
                bytes.extend_from_slice(&reply);
                let taken = session.receive(&reply, 0, &mut memory, &mut out, &mut done).unwrap();
                assert_eq!(taken, reply.len());
                flush(script, &mut session, &memory, &mut out, &mut done);
            }
            let name = format!("{number}-{}", if unstable { "unstable" } else { "stable" });
            let path = folder("session").join(name);
            if writes {
                std::fs::write(&path, &bytes).unwrap();
            }
            let kept = std::fs::read(&path).unwrap();
            assert!(kept == bytes, "{} is stale: set STORMETER_WRITE_CORPUS", path.display());
        }
    }
}
