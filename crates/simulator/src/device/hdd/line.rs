//! Accesses that wait for the heads, and the choice of the next one.
//!
//! Of the accesses that the disk knows (as many as its queue is deep, in order of arrival), the one
//! that the heads reach first is next: shortest positioning time first (Seltzer, Chen and Ousterhout,
//! "Disk scheduling revisited", USENIX Winter 1990; Jacobson and Wilkes, "Disk scheduling algorithms
//! based on rotational position", HP Laboratories HPL-CSP-91-7). That alone would let some accesses
//! starve, so, as in both papers, waiting makes an access appear nearer. Background work goes when
//! there is no other, when it has waited very long, or when it was given a share of the turns.

use std::collections::VecDeque;

use super::geometry::Geometry;

/// How much nearer an access appears for each nanosecond of waiting: one that arrived a second
/// earlier than another is 10 ms ahead of it, about the longest positioning time. An assumption,
/// like `PATIENCE_NS`: manufacturers do not publish theirs.
const NEARER_PER_NS: f64 = 0.01;

/// After this wait, background work goes before other accesses every other time, whatever its
/// share.
const PATIENCE_NS: u64 = 250_000_000;

/// A waiting access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) access: u32,
    pub(crate) start_byte: u64,
    pub(crate) track: u32,
    pub(crate) angle: f64,
    /// Not before this time: its command has been decoded, and the data to write is in the buffer.
    pub(crate) ready_ns: u64,
    pub(crate) arrived_ns: u64,
    pub(crate) write: bool,
}

/// Where free heads are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Above {
    pub(crate) track: u32,
    /// The byte that they read next if they read on; `u64::MAX`: they do not.
    pub(crate) byte: u64,
    /// Up to which byte a read may start that they reach without moving, if they read on.
    pub(crate) near_byte: u64,
    /// Time per byte of reading on.
    pub(crate) ns_per_byte: f64,
}

impl Above {
    /// For heads that do not read on.
    pub(crate) fn track(track: u32) -> Self {
        Self { track, byte: u64::MAX, near_byte: 0, ns_per_byte: 0.0 }
    }

    /// Whether the heads reach an access by reading on.
    #[inline]
    pub(crate) fn comes_to(&self, waiting: &Waiting) -> bool {
        waiting.start_byte >= self.byte && waiting.start_byte <= self.near_byte && !waiting.write
    }
}

/// All waiting accesses.
#[derive(Debug)]
pub(crate) struct Line {
    depth: usize,
    foreground: VecDeque<Waiting>,
    background: VecDeque<Waiting>,
    /// The background work's share of the turns, and how much of its next turn has accumulated.
    background_share: f64,
    credit: f64,
    /// Whether background work has just gone first because it had waited very long.
    gave_way: bool,
}

impl Line {
    /// With this queue depth.
    pub(crate) fn new(depth: u32) -> Self {
        Self {
            depth: depth.max(1) as usize,
            foreground: VecDeque::new(),
            background: VecDeque::new(),
            background_share: 0.0,
            credit: 0.0,
            gave_way: false,
        }
    }

    /// Background work gets this share of the turns if others wait, 0 to 1.
    pub(crate) fn set_background_share(&mut self, share: f64) {
        self.background_share = share.clamp(0.0, 1.0);
    }

    pub(crate) fn push(&mut self, waiting: Waiting, background: bool) {
        match background {
            false => self.foreground.push_back(waiting),
            true => self.background.push_back(waiting),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.foreground.is_empty() && self.background.is_empty()
    }

    /// Takes the nearest of the accesses that the heads reach by reading on.
    pub(crate) fn next_of_run(&mut self, free: Above) -> Option<Waiting> {
        let nearest = |line: &VecDeque<Waiting>, depth: usize| {
            let near = line.iter().take(depth).enumerate().filter(|(_, one)| free.comes_to(one));
            near.min_by_key(|(_, one)| one.start_byte).map(|(number, _)| number)
        };
        if let Some(number) = nearest(&self.foreground, self.depth) {
            return self.foreground.remove(number);
        }
        let number = nearest(&self.background, self.depth)?;
        self.background.remove(number)
    }

    /// Takes the next access, for heads that are free.
    #[inline]
    pub(crate) fn next(
        &mut self,
        now_ns: u64,
        free: Above,
        geometry: &Geometry,
    ) -> Option<Waiting> {
        if !self.background.is_empty() && (self.foreground.is_empty() || self.gives_way(now_ns)) {
            return take(&mut self.background, self.depth, now_ns, free, geometry);
        }
        take(&mut self.foreground, self.depth, now_ns, free, geometry)
    }

    /// Whether background work goes before other accesses that are waiting.
    fn gives_way(&mut self, now_ns: u64) -> bool {
        self.credit += self.background_share;
        if self.credit >= 1.0 {
            self.credit -= 1.0;
            return true;
        }
        let late = |waiting: &Waiting| now_ns.saturating_sub(waiting.arrived_ns) > PATIENCE_NS;
        self.gave_way = !self.gave_way && self.background.front().is_some_and(late);
        self.gave_way
    }
}

#[inline]
fn take(
    line: &mut VecDeque<Waiting>,
    depth: usize,
    now_ns: u64,
    free: Above,
    geometry: &Geometry,
) -> Option<Waiting> {
    if line.len() <= 1 {
        return line.pop_front();
    }
    let mut best = (f64::INFINITY, 0);
    for (number, waiting) in line.iter().take(depth).enumerate() {
        let age_ns = (now_ns - waiting.arrived_ns) as i64 as f64;
        if free.comes_to(waiting) {
            // Reading on does not wait for the command to be decoded.
            let way_ns = (waiting.start_byte - free.byte) as f64 * free.ns_per_byte;
            let distance = way_ns - NEARER_PER_NS * age_ns;
            if distance < best.0 {
                best = (distance, number);
            }
            continue;
        }
        let from_ns = waiting.ready_ns.max(now_ns);
        let positioning_ns = geometry.positioning_ns(
            from_ns,
            free.track,
            waiting.track,
            waiting.angle,
            waiting.write,
        );
        let distance = (from_ns - now_ns) as i64 as f64 + positioning_ns - NEARER_PER_NS * age_ns;
        if distance < best.0 {
            best = (distance, number);
        }
    }
    line.remove(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::hdd::tests::cheetah;

    /// Serves near accesses, one after another, until the far one is served; returns when.
    fn until_far_is_served(far_is_background: bool) -> u64 {
        let geometry = Geometry::new(&cheetah(), 1.0);
        let mut line = Line::new(32);
        let waiting = |access, start_byte, now_ns| {
            let place = geometry.place(start_byte);
            Waiting {
                access,
                start_byte,
                track: place.track,
                angle: geometry.angle(&place),
                ready_ns: now_ns,
                arrived_ns: now_ns,
                write: false,
            }
        };
        line.push(waiting(0, 290_000_000_000, 0), far_is_background);
        let mut now_ns = 0;
        for near in 0..100_000 {
            line.push(waiting(1, near * 4096 % 100_000, now_ns), false);
            // Two, so that one is always left.
            line.push(waiting(1, near * 4096 % 70_000, now_ns), false);
            let free = Above::track(0);
            let next = line.next(now_ns, free, &geometry).expect("one that waits");
            if next.access == 0 {
                return now_ns;
            }
            now_ns += 100_000;
        }
        u64::MAX
    }

    #[test]
    fn no_request_starves() {
        let served_ns = until_far_is_served(false);
        assert!(served_ns > 1_000_000 && served_ns < 2_000_000_000, "{served_ns}");
        let served_ns = until_far_is_served(true);
        assert!(served_ns > 200_000_000 && served_ns < 300_000_000, "{served_ns}");
    }

    #[test]
    fn background_work_gets_its_share_of_the_turns() {
        let geometry = Geometry::new(&cheetah(), 1.0);
        for (share, expected) in [(0.0, 0), (0.25, 250), (0.625, 625), (1.0, 1000)] {
            let mut line = Line::new(32);
            line.set_background_share(share);
            let waiting = |access| Waiting {
                access,
                start_byte: 4096,
                track: 0,
                angle: 0.5,
                ready_ns: 0,
                arrived_ns: 0,
                write: false,
            };
            (0..2).for_each(|access| line.push(waiting(access), access == 1));
            let mut gone = 0;
            for _ in 0..1000 {
                let next = line.next(0, Above::track(0), &geometry).expect("one that waits");
                gone += next.access;
                line.push(next, next.access == 1);
            }
            assert_eq!(gone, expected, "share {share}");
        }
    }

    #[test]
    fn the_nearest_is_next_and_only_of_those_that_the_disk_knows() {
        let geometry = Geometry::new(&cheetah(), 1.0);
        let places = [250_000_000_000, 100_000_000_000, 50_000_000, 4096];
        for (depth, expected) in [(1, 0), (2, 1), (3, 2)] {
            let mut line = Line::new(depth);
            for (access, start_byte) in places.into_iter().enumerate() {
                let track = geometry.place(start_byte).track;
                line.push(
                    Waiting {
                        access: access as u32,
                        start_byte,
                        track,
                        // As far around for all of them: the seeks take no, one and two revolutions more.
                        angle: 0.3,
                        ready_ns: 0,
                        arrived_ns: 0,
                        write: false,
                    },
                    false,
                );
            }
            let free = Above::track(0);
            let next = line.next(0, free, &geometry).expect("one that waits");
            assert_eq!(next.access, expected, "depth {depth}");
        }
    }
}
