//! User-space instructions per I/O: callgrind's count for a long run minus that for a short one,
//! divided by the difference in I/Os. Start-up, the same in both, cancels.

use crate::failure::Failure;
use crate::process::Ended;

/// The command prefix for callgrind, which counts every instruction of all threads.
pub(crate) fn callgrind() -> Vec<String> {
    ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"].map(str::to_owned).to_vec()
}

/// The same for our own runs, counting only threads that the process starts: the I/O threads. The
/// main thread only waits for them, but before that it calibrates the clock in a number of rounds
/// that varies between runs by more than a slope over few I/Os tolerates.
pub(crate) fn callgrind_of_threads() -> Vec<String> {
    [callgrind(), vec!["--toggle-collect=*thread_start*".to_owned()]].concat()
}

/// The number of instructions that callgrind collected.
pub(crate) fn collected(ended: &Ended) -> Result<u64, Failure> {
    parse(&ended.errors).ok_or_else(|| format!("callgrind gave no count:\n{}", ended.errors))
}

fn parse(errors: &str) -> Option<u64> {
    let line = errors.lines().rev().find(|line| line.contains("Collected : "))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Cost per I/O from runs of two lengths, which `run` makes. If a long run was delayed for so long that
/// it did few I/Os, both are repeated.
pub(crate) fn measure<L: Copy>(
    lengths: [L; 2],
    mut run: impl FnMut(L) -> Result<(u64, u64), Failure>,
) -> Result<f64, Failure> {
    const ATTEMPTS: u32 = 4;
    let mut outcome = Err("nothing was run".into());
    for _ in 0..ATTEMPTS {
        outcome = slope(run(lengths[0])?, run(lengths[1])?);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Cost per I/O from two runs, each `(cost, I/Os)`.
pub(crate) fn slope(short: (u64, u64), long: (u64, u64)) -> Result<f64, Failure> {
    let cost = long.0 as f64 - short.0 as f64;
    let operations = long.1 as f64 - short.1 as f64;
    // Runs of nearly equal length would divide noise by noise.
    if operations < long.1 as f64 / 4.0 || cost <= 0.0 {
        return Err(format!("runs of {} and {} I/Os differ too little", short.1, long.1));
    }
    Ok(cost / operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_the_last_line_that_has_one() {
        let text = "==7== Collected : 12\n==8== \n==8== Collected : 345\n==8== I   refs: 345\n";
        assert_eq!(parse(text), Some(345));
        assert_eq!(parse("valgrind: no such tool"), None);
    }

    #[test]
    fn start_up_falls_out_of_the_slope() {
        let run = |operations: u64| (1_000_000 + 37 * operations, operations);
        assert_eq!(slope(run(1000), run(5000)), Ok(37.0));
        assert!(slope(run(1000), run(1001)).is_err());
    }

    #[test]
    fn a_long_run_that_was_held_up_is_made_again() {
        let mut held_up = 1;
        let run = |operations: u64| {
            let held = operations == 5000 && held_up > 0;
            held_up -= u32::from(held);
            let operations = if held { 900 } else { operations };
            Ok((1_000_000 + 37 * operations, operations))
        };
        assert_eq!(measure([1000, 5000], run), Ok(37.0));
        assert!(measure([1000, 5000], |_| Ok((1000, 1000))).is_err());
    }
}
