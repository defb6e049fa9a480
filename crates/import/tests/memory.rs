//! Whatever the text is, reading it takes at most ten times its size in heap memory, and half a mebibyte: the highest sum
//! of bytes that are allocated at one time, with the result, and without the text. Half a mebibyte is what the
//! decompression of a histogram takes, and a log of 500 bytes with 5000 counts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damage;
mod hostile;

use peak_alloc::PeakAlloc;

use hostile::{hostile, read_any, samples};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const TIMES: usize = 10;
const LEAST: usize = 512 << 10;

/// Reads the text; how many bytes were allocated at the most.
fn peak(name: &str, text: &str) -> usize {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let read = read_any(name, text);
    let peak = MEMORY.peak_usage().saturating_sub(before);
    drop(read);
    peak
}

fn check(name: &str, text: &str, over: &mut Vec<String>) {
    let peak = peak(name, text);
    let bound = TIMES * text.len() + LEAST;
    if peak > bound {
        let times = (peak - LEAST) as f64 / text.len() as f64;
        over.push(format!("{name}: {peak} bytes for {} ({times:.1} times)", text.len()));
    }
}

// One test: another thread's memory would count, too.
#[test]
fn reading_takes_ten_times_the_text_at_most() {
    let mut over = Vec::new();
    for (name, text) in hostile(200 << 10) {
        check(name, &text, &mut over);
    }
    let runs: u64 =
        std::env::var("STORMETER_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    for (name, text) in samples() {
        check(&name, &text, &mut over);
        check(&name, &text.repeat((100 << 10) / text.len() + 1), &mut over);
        for seed in 1..=runs {
            let damaged = damage::damaged(&text, seed);
            check(&name, &damaged, &mut over);
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}
