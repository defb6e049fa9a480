//! Runs independent tasks, one thread per core, with outcomes in the order of the tasks.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// The number of threads; 0: one per CPU.
pub(crate) fn threads(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        wanted => wanted,
    }
}

/// Runs `count` tasks, numbered from 0, on `threads` threads, and passes the outcome of each to `on_end` on this
/// thread, in the order of their numbers. It ends early when `cancel` is set or `on_end` returns an error; running
/// tasks are waited for.
///
/// # Errors
/// The error of `on_end`.
pub(crate) fn in_order<T: Send, E>(
    threads: usize,
    count: usize,
    cancel: &AtomicBool,
    task: impl Fn(usize) -> T + Sync,
    mut on_end: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let over = AtomicBool::new(false);
    let is_over = || over.load(Ordering::Relaxed) || cancel.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        // The queue is short: threads far ahead of the slowest task block.
        let (sender, receiver) = mpsc::sync_channel(2 * threads);
        for _ in 0..threads.min(count) {
            let sender = sender.clone();
            let (next, task, is_over) = (&next, &task, &is_over);
            scope.spawn(move || {
                while !is_over() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || sender.send((number, task(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        let mut result = Ok(());
        for (number, outcome) in receiver {
            waiting.insert(number, outcome);
            while let Some(outcome) = waiting.remove(&due) {
                if result.is_ok() && !cancel.load(Ordering::Relaxed) {
                    result = on_end(due, outcome);
                    over.fetch_or(result.is_err(), Ordering::Relaxed);
                }
                due += 1;
            }
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_in_order_whichever_thread_is_first() {
        for threads in [1, 2, 7] {
            let mut taken = Vec::new();
            let square = |number: usize| {
                // The early ones take longer.
                let mut sum = 0u64;
                (0..(100 - number as u64) * 1000).for_each(|n| sum = sum.wrapping_add(n * n));
                std::hint::black_box(sum);
                number * number
            };
            let cancel = AtomicBool::new(false);
            let result: Result<(), ()> = in_order(threads, 100, &cancel, square, |number, one| {
                taken.push((number, one));
                Ok(())
            });
            assert_eq!(result, Ok(()));
            assert_eq!(taken, (0..100).map(|n| (n, n * n)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let mut taken = 0;
        let cancel = AtomicBool::new(false);
        let result = in_order(
            2,
            1000,
            &cancel,
            |number| number,
            |number, _| {
                taken += 1;
                if number == 3 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((result, taken), (Err("enough"), 4));
    }
}
