//! Edge cases: ends of files, refusals, buffers in use, waiting, dropping.

use std::fs::{self, File};
use std::sync::Arc;

use super::both;
use super::fixture::{
    Held, LONG_NS, dirty_bytes, file_with, operation, reap_all, result_of, scratch,
};
use crate::{BUFFER_ALIGNMENT, Engine, EngineChoice, EngineOptions, Kind, RawOperation, Refusal};

both!(
    short_read_at_the_end_of_the_file,
    write_to_a_read_only_file_gives_its_errno,
    flush_completes_and_needs_no_buffer,
    only_flushes_and_durable_writes_leave_nothing_in_memory,
    what_is_out_of_range_is_refused,
    more_than_in_flight_is_refused,
    buffers_are_aligned_rounded_up_and_zeroed,
    a_read_owns_its_buffer,
    writes_share_their_buffer,
    waiting_ends_with_nothing,
    one_completion_ends_the_wait,
    nothing_in_flight_sleeps_and_returns,
    reap_without_wait_submits,
    drop_with_operations_in_flight,
    drop_leaves_memory_that_may_still_be_written,
);

fn one_file(choice: EngineChoice, content: &[u8]) -> (tempfile::TempDir, Engine) {
    let directory = scratch();
    let (_, file) = file_with(directory.path(), "file", content);
    let options = EngineOptions::new(vec![file]).buffers(4, 8192).in_flight(4);
    (directory, Engine::open(choice, options).unwrap())
}

fn short_read_at_the_end_of_the_file(choice: EngineChoice) {
    let (_directory, mut engine) = one_file(choice, &[9; 5000]);
    assert_eq!(result_of(&mut engine, operation(Kind::Read, 0, 4000, 4096, 0)), 1000);
    let buffer = engine.buffer(0).unwrap();
    assert_eq!((buffer[999], buffer[1000]), (9, 0));
    assert_eq!(result_of(&mut engine, operation(Kind::Read, 0, 5000, 4096, 1)), 0);
    assert_eq!(result_of(&mut engine, operation(Kind::Read, 0, i64::MAX as u64, 0, 1)), 0);
}

fn write_to_a_read_only_file_gives_its_errno(choice: EngineChoice) {
    let directory = scratch();
    let (path, _) = file_with(directory.path(), "file", &[1; 100]);
    let file = File::open(&path).unwrap();
    let options = EngineOptions::new(vec![file]).buffers(1, 4096).in_flight(1);
    let mut engine = Engine::open(choice, options).unwrap();
    assert_eq!(result_of(&mut engine, operation(Kind::Write, 0, 0, 100, 0)), -libc::EBADF);
    assert_eq!(fs::read(&path).unwrap(), [1; 100]);
    // The errno is an ordinary completion: the buffer is free again.
    assert!(engine.buffer_mut(0).is_some());
}

fn flush_completes_and_needs_no_buffer(choice: EngineChoice) {
    let (_directory, mut engine) = one_file(choice, &[0; 100]);
    assert_eq!(result_of(&mut engine, operation(Kind::Write, 0, 0, 4096, 0)), 4096);
    let flush = operation(Kind::Flush, 0, u64::MAX, u32::MAX, u32::MAX);
    assert_eq!(result_of(&mut engine, flush), 0);
    // A flush that refers to a buffer in range must not release it either.
    engine.push(operation(Kind::Read, 0, 0, 100, 1)).unwrap();
    engine.push(operation(Kind::Flush, 0, 0, 0, 1)).unwrap();
    engine.push(operation(Kind::Write, 0, 0, 100, 2)).unwrap();
    let results: Vec<_> = reap_all(&mut engine).iter().map(|done| done.result).collect();
    assert_eq!(results.iter().sum::<i32>(), 200, "{results:?}");
    for index in 0..4 {
        assert!(engine.buffer_mut(index).is_some(), "buffer {index}");
    }
}

fn only_flushes_and_durable_writes_leave_nothing_in_memory(choice: EngineChoice) {
    let cases: [(&[Kind], bool); 3] = [
        (&[Kind::Write], true),
        (&[Kind::DurableWrite], false),
        (&[Kind::Write, Kind::Flush], false),
    ];
    for refuse_buffers in [None, Some(libc::ENOMEM)] {
        for (kinds, is_dirty) in cases {
            let directory = scratch();
            let (_, file) = file_with(directory.path(), "file", b"");
            let again = file.try_clone().unwrap();
            let mut options = EngineOptions::new(vec![file]).buffers(1, 8192).in_flight(1);
            options.knobs.refuse_buffers = refuse_buffers;
            let mut engine = Engine::open(choice, options).unwrap();
            for &kind in kinds {
                let expected = if kind == Kind::Flush { 0 } else { 8192 };
                assert_eq!(result_of(&mut engine, operation(kind, 0, 0, 8192, 0)), expected);
            }
            let dirty = dirty_bytes(&again);
            if is_dirty && dirty == 0 {
                eprintln!("NOT RUN: nothing is dirty on the file system of the build");
                return;
            }
            assert_eq!(dirty > 0, is_dirty, "{kinds:?}");
        }
    }
}

fn what_is_out_of_range_is_refused(choice: EngineChoice) {
    let (_directory, mut engine) = one_file(choice, &[0; 100]);
    for kind in [Kind::Read, Kind::Write, Kind::DurableWrite] {
        let good = operation(kind, 0, 0, 100, 0);
        let cases = [
            (RawOperation { file: 1, ..good }, Refusal::File),
            (RawOperation { file: u32::MAX, ..good }, Refusal::File),
            (RawOperation { buffer: 4, ..good }, Refusal::Buffer),
            (RawOperation { buffer: u32::MAX, ..good }, Refusal::Buffer),
            (RawOperation { length: 8193, ..good }, Refusal::Length),
            (RawOperation { length: u32::MAX, ..good }, Refusal::Length),
            (RawOperation { offset: 1 << 63, ..good }, Refusal::Offset),
            (RawOperation { offset: u64::MAX, ..good }, Refusal::Offset),
        ];
        for (operation, refusal) in cases {
            assert_eq!(engine.push(operation), Err(refusal), "{operation:?}");
        }
    }
    assert_eq!(engine.push(operation(Kind::Flush, 1, 0, 0, 0)), Err(Refusal::File));
    assert!(engine.buffer(4).is_none() && engine.buffer_mut(4).is_none());
    assert!(engine.buffer(u32::MAX).is_none() && engine.buffer_mut(u32::MAX).is_none());
    // A refusal has no effect.
    assert_eq!(engine.in_flight(), 0);
    for index in 0..4 {
        assert!(engine.buffer_mut(index).is_some());
    }
}

fn more_than_in_flight_is_refused(choice: EngineChoice) {
    let mut held = Held::new(choice, Kind::Read, |options| options.in_flight = 3);
    for buffer in 0..3 {
        held.engine.push(operation(Kind::Read, 0, 0, 4096, buffer)).unwrap();
    }
    let another = operation(Kind::Read, 0, 0, 4096, 3);
    assert_eq!(held.engine.push(another), Err(Refusal::Full));
    assert_eq!(held.engine.in_flight(), 3);
    assert!(held.engine.buffer_mut(3).is_some());
    held.release(3);
    let mut out = Vec::new();
    held.engine.reap(Some(LONG_NS), &mut out, |raw| raw).unwrap();
    assert!(!out.is_empty());
    held.engine.push(another).unwrap();
}

fn buffers_are_aligned_rounded_up_and_zeroed(choice: EngineChoice) {
    let options = EngineOptions::new(Vec::new()).buffers(3, 4097);
    let mut engine = Engine::open(choice, options).unwrap();
    assert_eq!((engine.buffer_count(), engine.buffer_bytes()), (3, 8192));
    for index in 0..3 {
        let buffer = engine.buffer_mut(index).unwrap();
        assert_eq!(buffer.len(), 8192);
        assert_eq!(buffer.as_ptr() as usize % BUFFER_ALIGNMENT, 0);
        assert!(buffer.iter().all(|byte| *byte == 0));
        buffer.fill(index as u8 + 1);
    }
    for index in 0..3 {
        assert!(engine.buffer(index).unwrap().iter().all(|byte| *byte == index as u8 + 1));
    }
}

fn a_read_owns_its_buffer(choice: EngineChoice) {
    let mut held = Held::new(choice, Kind::Read, |_| {});
    let read = operation(Kind::Read, 0, 0, 4096, 2);
    held.engine.push(read).unwrap();
    let mut out = Vec::new();
    // Before and after its submission.
    for _ in 0..2 {
        assert!(held.engine.buffer_mut(2).is_none());
        assert!(held.engine.buffer(2).is_none());
        assert!(held.engine.buffer_mut(1).is_some());
        assert_eq!(held.engine.push(read), Err(Refusal::Busy));
        let write = RawOperation { kind: Kind::Write, ..read };
        assert_eq!(held.engine.push(write), Err(Refusal::Busy));
        held.engine.reap(None, &mut out, |raw| raw).unwrap();
        assert!(out.is_empty());
    }
    held.release(1);
    assert_eq!(reap_all(&mut held.engine)[0].result, 1);
    assert_eq!(held.engine.buffer_mut(2).unwrap()[0], b'x');
}

fn writes_share_their_buffer(choice: EngineChoice) {
    let mut held = Held::new(choice, Kind::Write, |_| {});
    let write = operation(Kind::Write, 0, 0, 4096, 1);
    held.engine.push(write).unwrap();
    held.engine.push(write).unwrap();
    assert!(held.engine.buffer_mut(1).is_none());
    assert_eq!(held.engine.buffer(1).map(<[u8]>::len), Some(4096));
    let read = RawOperation { kind: Kind::Read, ..write };
    assert_eq!(held.engine.push(read), Err(Refusal::Busy));
    held.release(2);
    let mut out = Vec::new();
    while out.is_empty() {
        held.engine.reap(Some(LONG_NS), &mut out, |raw| raw).unwrap();
    }
    if out.len() == 1 {
        assert!(held.engine.buffer_mut(1).is_none(), "the other write still uses it");
    }
    out.extend(reap_all(&mut held.engine));
    assert_eq!(out.iter().map(|done| done.result).collect::<Vec<_>>(), [4096, 4096]);
    assert!(held.engine.buffer_mut(1).is_some());
}

fn waiting_ends_with_nothing(choice: EngineChoice) {
    let mut held = Held::new(choice, Kind::Read, |_| {});
    held.engine.push(operation(Kind::Read, 0, 0, 4096, 0)).unwrap();
    let mut out = Vec::new();
    // The first call submits as well, the second only waits.
    for wait_ns in [2_000_000, 2_000_000, 1, 0] {
        held.engine.reap(Some(wait_ns), &mut out, |raw| raw).unwrap();
        assert!(out.is_empty());
        assert_eq!(held.engine.in_flight(), 1);
    }
    held.release(1);
    assert_eq!(reap_all(&mut held.engine).len(), 1);
}

fn one_completion_ends_the_wait(choice: EngineChoice) {
    let mut held = Held::new(choice, Kind::Read, |_| {});
    held.engine.push(operation(Kind::Read, 0, 0, 4096, 0)).unwrap();
    let mut out = Vec::new();
    held.engine.reap(Some(1), &mut out, |raw| raw).unwrap();
    held.release(1);
    // The longest possible wait would never end if the completion did not end it.
    while held.engine.in_flight() > 0 {
        held.engine.reap(Some(u64::MAX), &mut out, |raw| raw).unwrap();
    }
    assert_eq!(out.len(), 1);
}

fn nothing_in_flight_sleeps_and_returns(choice: EngineChoice) {
    let (_directory, mut engine) = one_file(choice, &[0; 100]);
    let mut out = Vec::new();
    for wait in [None, Some(0), Some(1), Some(1_000_000)] {
        engine.reap(wait, &mut out, |raw| raw).unwrap();
        assert!(out.is_empty());
    }
}

fn reap_without_wait_submits(choice: EngineChoice) {
    let (_directory, mut engine) = one_file(choice, &[3; 100]);
    engine.push(operation(Kind::Read, 0, 0, 100, 0)).unwrap();
    let mut out = Vec::new();
    // Peeking alone must complete it, or this loops forever.
    while out.is_empty() {
        engine.reap(None, &mut out, |raw| raw).unwrap();
        std::thread::yield_now();
    }
    assert_eq!(out[0].result, 100);
    assert_eq!(engine.buffer(0).unwrap()[..100], [3; 100]);
}

fn drop_with_operations_in_flight(choice: EngineChoice) {
    for submitted in [false, true] {
        let mut held = Held::new(choice, Kind::Read, |_| {});
        for buffer in 0..4 {
            held.engine.push(operation(Kind::Read, 0, 0, 4096, buffer)).unwrap();
        }
        if submitted {
            held.start(4);
        }
        let (engine, release) = held.into_parts();
        let mapping = Arc::downgrade(match &engine {
            Engine::Ring(ring) => ring.mapping(),
            Engine::Positional(positional) => positional.mapping(),
        });
        match engine {
            // Nothing ever writes to the pipe: only the cancellation ends the reads.
            Engine::Ring(ring) => {
                drop(ring);
                release();
            }
            Engine::Positional(positional) => {
                release();
                drop(positional);
            }
        }
        assert!(mapping.upgrade().is_none(), "the memory must be free after an orderly end");
    }
}

fn drop_leaves_memory_that_may_still_be_written(choice: EngineChoice) {
    let mut held = Held::new(choice, Kind::Read, |options| options.knobs.patience_ms = 1);
    held.engine.push(operation(Kind::Read, 0, 0, 4096, 0)).unwrap();
    held.start(1);
    let (mut engine, release) = held.into_parts();
    let mapping = Arc::downgrade(match &mut engine {
        // A pipe's read can be cancelled; a disk that never answers is only simulated in the count.
        Engine::Ring(ring) => {
            ring.count_one_more_in_flight();
            ring.mapping()
        }
        Engine::Positional(positional) => positional.mapping(),
    });
    drop(engine);
    assert!(mapping.upgrade().is_some(), "the memory must outlive what may write to it");
    release();
}
