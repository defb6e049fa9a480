//! Future events, in order of time.
//!
//! An event is 16 bytes: the time, a sequence number, and a token that says what it is. Simultaneous
//! events occur in the order in which they were added, so that a simulation is the same on every
//! machine. A heap with four children per node, because it is half as deep as one with two and its
//! children share a cache line.

/// Events by time.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<Event>,
    turn: u32,
}

/// Time in the upper 64 bits, sequence number and token below.
type Event = u128;

const CHILDREN: usize = 4;

impl EventQueue {
    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, at_ns: u64, token: u32) {
        let event = u128::from(at_ns) << 64 | u128::from(self.turn) << 32 | u128::from(token);
        // After 2^32 events the sequence number wraps: two simultaneous events may then be swapped.
        self.turn = self.turn.wrapping_add(1);
        let mut hole = self.heap.len();
        self.heap.push(event);
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            if self.heap[parent] <= event {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = event;
    }

    /// The time of the next event; `u64::MAX` without one.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.heap.first().map_or(u64::MAX, |event| (event >> 64) as u64)
    }

    /// Takes the next event: its time and token.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(parts(last)) };
        let length = self.heap.len();
        let mut hole = 0;
        loop {
            let from = hole * CHILDREN + 1;
            if from >= length {
                break;
            }
            let least = match self.heap.get(from..from + CHILDREN) {
                // Without branches: which child is first cannot be predicted.
                Some(&[a, b, c, d]) => {
                    let (ab, first) = if b < a { (1, b) } else { (0, a) };
                    let (cd, second) = if d < c { (3, d) } else { (2, c) };
                    from + if second < first { cd } else { ab }
                }
                _ => (from + 1..length).fold(from, |least, child| {
                    if self.heap[child] < self.heap[least] { child } else { least }
                }),
            };
            if self.heap[least] >= last {
                break;
            }
            self.heap[hole] = self.heap[least];
            hole = least;
        }
        self.heap[hole] = last;
        Some(parts(first))
    }
}

#[inline]
fn parts(event: Event) -> (u64, u32) {
    ((event >> 64) as u64, event as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_and_then_of_arrival() {
        let mut queue = EventQueue::default();
        let mut expected: Vec<(u64, u32)> = Vec::new();
        let mut state = 7u64;
        for token in 0..5000u32 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at_ns = (state >> 33) % 500;
            queue.push(at_ns, token);
            expected.push((at_ns, token));
        }
        expected.sort();
        let found: Vec<(u64, u32)> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(found, expected);
        assert_eq!(queue.next_ns(), u64::MAX);
    }
}
