//! What components did between two moments: cumulative counts, read at the start of the window and
//! at the end of each interval.

use crate::storage::Fill;

/// Counts of one unit (a station, a disk) since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UnitCount {
    pub(crate) component: u32,
    pub(crate) servers: u32,
    pub(crate) busy_ns: u64,
    pub(crate) waited_ns: u64,
    pub(crate) visits: u64,
}

/// All counts at a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    pub(crate) at_ns: u64,
    pub(crate) units: Vec<UnitCount>,
    /// By component.
    pub(crate) residence_ns: Vec<u64>,
    /// Messages lost, by component.
    pub(crate) lost: Vec<u64>,
    /// Write memories, one for each that a component has.
    pub(crate) fills: Vec<Fill>,
}

/// Readings of a window.
#[derive(Debug)]
pub(crate) struct Meter {
    /// When the next reading is due; `u64::MAX`: none.
    pub(crate) due_ns: u64,
    interval_ns: u64,
    until_ns: u64,
    first: Option<Reading>,
    last: Option<Reading>,
    /// By interval and component: busy share.
    series: Vec<Vec<f64>>,
}

impl Meter {
    /// Reads from `from_ns` on, every `interval_ns`, and for the last time at `until_ns`.
    pub(crate) fn new(from_ns: u64, interval_ns: u64, until_ns: u64) -> Self {
        Self {
            due_ns: from_ns,
            interval_ns: interval_ns.max(1),
            until_ns,
            first: None,
            last: None,
            series: Vec::new(),
        }
    }

    /// Takes a reading.
    pub(crate) fn read(&mut self, reading: Reading) {
        self.due_ns = match reading.at_ns >= self.until_ns {
            true => u64::MAX,
            false => reading.at_ns.saturating_add(self.interval_ns).min(self.until_ns),
        };
        match &self.last {
            None => self.first = Some(reading.clone()),
            Some(last) if last.at_ns < reading.at_ns => {
                self.series.push(busy_shares(last, &reading))
            }
            Some(_) => return,
        }
        self.last = Some(reading);
    }

    /// The window's first and last readings, and the busy shares in between: by interval, then
    /// component.
    pub(crate) fn window(&self) -> Option<(&Reading, &Reading, &[Vec<f64>])> {
        Some((self.first.as_ref()?, self.last.as_ref()?, &self.series))
    }
}

/// Busy share of all servers of each component.
pub(crate) fn busy_shares(from: &Reading, to: &Reading) -> Vec<f64> {
    let mut busy = vec![0.0; to.residence_ns.len()];
    let mut servers = vec![0u64; to.residence_ns.len()];
    for (before, after) in from.units.iter().zip(&to.units) {
        let component = after.component as usize;
        busy[component] += after.busy_ns.saturating_sub(before.busy_ns) as f64;
        servers[component] += u64::from(after.servers);
    }
    let length_ns = (to.at_ns - from.at_ns) as f64;
    let share = |(busy, servers): (f64, u64)| match servers {
        0 => 0.0,
        servers => busy / (length_ns * servers as f64),
    };
    busy.into_iter().zip(servers).map(share).collect()
}
