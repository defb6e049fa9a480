//! No text makes reading hang: four times the text takes about four times the work. Work is what is allocated, in bytes and
//! in pieces, which is the same in every run; copies of long names and growing lists are in it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use hostile::{hostile, read_any};

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes and pieces.
fn work(name: &str, text: &str) -> (usize, usize) {
    let region = Region::new(MEMORY);
    drop(read_any(name, text));
    let change = region.change();
    let moved = change.bytes_reallocated.unsigned_abs();
    (change.bytes_allocated + moved, change.allocations + change.reallocations)
}

// One test: another thread's memory would count, too.
#[test]
fn work_grows_with_the_text() {
    let mut over = Vec::new();
    for ((name, short), (_, long)) in hostile(40 << 10).into_iter().zip(hostile(160 << 10)) {
        assert!(read_any(name, &short).is_some(), "{name} is of no format");
        let ((bytes, pieces), (more_bytes, more_pieces)) = (work(name, &short), work(name, &long));
        if more_bytes > 5 * bytes + (256 << 10) || more_pieces > 5 * pieces + 1000 {
            over.push(format!(
                "{name}: {bytes} to {more_bytes} bytes, {pieces} to {more_pieces} pieces"
            ));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}
