//! What the components of a machine did in its window.

use super::Machine;
use super::component::{ComponentUse, SitePart};
use super::load::Window;
use super::meter::{Meter, Reading, UnitCount, busy_shares};
use crate::storage::Store;

impl Machine {
    /// Takes the readings that are due before `at_ns`, and the looks at write memories.
    #[inline]
    pub(super) fn read_meter(&mut self, at_ns: u64) {
        self.settle_until(at_ns);
        while self.meter.due_ns <= at_ns {
            let reading = self.reading(self.meter.due_ns);
            self.meter.read(reading);
        }
    }

    /// Reads components in this window and no other: from its start, interval by interval, for the
    /// last time at `until_ns`. Earlier readings are discarded.
    pub fn measure(&mut self, window: Window, until_ns: u64) {
        self.meter = Meter::new(window.from_ns, window.interval_ns, until_ns);
    }

    /// Ends the window now, if its end was not known before.
    pub fn end_window(&mut self) {
        self.read_meter(self.now_ns);
        if self.meter.due_ns != u64::MAX {
            let reading = self.reading(self.now_ns);
            self.meter.read(reading);
            self.meter.due_ns = u64::MAX;
        }
    }

    #[cold]
    fn reading(&self, at_ns: u64) -> Reading {
        let mut units = Vec::new();
        for (number, component) in self.components.iter().enumerate() {
            for &station in &component.stations {
                let station = &self.stations[station as usize];
                let usage = station.usage(at_ns);
                units.push(UnitCount {
                    component: number as u32,
                    servers: station.servers(),
                    busy_ns: usage.busy_ns,
                    waited_ns: usage.waited_ns,
                    visits: usage.visits,
                });
            }
        }
        for store in &self.stores {
            store.usage(at_ns, &mut |component, usage| {
                units.push(UnitCount {
                    component,
                    servers: usage.servers,
                    busy_ns: usage.busy_ns,
                    waited_ns: usage.waited_ns,
                    visits: usage.accesses,
                });
            });
        }
        let residence_ns = self.components.iter().map(|component| component.residence_ns);
        let lost = self.components.iter().map(|component| component.lost).collect();
        let fills = self.stores.iter().filter_map(Store::fill).collect();
        Reading { at_ns, units, residence_ns: residence_ns.collect(), lost, fills }
    }

    /// What each component stands for in the site, in the order of [`Machine::usage`].
    pub fn parts(&self) -> Vec<Option<SitePart>> {
        self.components.iter().map(|component| component.part).collect()
    }

    /// What each component did in the window, up to its last whole interval; empty before the end of
    /// the first.
    pub fn usage(&self) -> Vec<ComponentUse> {
        let Some((first, last, series)) = self.meter.window() else { return Vec::new() };
        if last.at_ns == first.at_ns {
            return Vec::new();
        }
        let length_ns = (last.at_ns - first.at_ns) as f64;
        let residence = |component: usize| {
            last.residence_ns[component].saturating_sub(first.residence_ns[component])
        };
        let all_ns: u64 = (0..self.components.len()).map(residence).sum();
        let busy = busy_shares(first, last);
        let uses = self.components.iter().enumerate().map(|(number, component)| {
            let units: Vec<(UnitCount, UnitCount)> = first
                .units
                .iter()
                .zip(&last.units)
                .filter(|(_, after)| after.component as usize == number)
                .map(|(before, after)| (*before, *after))
                .collect();
            let busy_of = |(before, after): &(UnitCount, UnitCount)| {
                after.busy_ns.saturating_sub(before.busy_ns)
            };
            let busy_ns: u64 = units.iter().map(busy_of).sum();
            let waited_ns: u64 = units
                .iter()
                .map(|(before, after)| after.waited_ns.saturating_sub(before.waited_ns))
                .sum();
            let most = units
                .iter()
                .map(|unit| busy_of(unit) as f64 / (length_ns * f64::from(unit.1.servers.max(1))));
            ComponentUse {
                name: component.name.clone(),
                kind: component.kind,
                units: units.len() as u32,
                utilisation: busy[number],
                utilisation_most: most.fold(0.0, f64::max),
                busy_ns,
                queue_mean: (busy_ns + waited_ns) as f64 / length_ns,
                visits: units.iter().map(|(before, after)| after.visits - before.visits).sum(),
                lost: last.lost[number] - first.lost[number],
                response_share: match all_ns {
                    0 => 0.0,
                    all_ns => residence(number) as f64 / all_ns as f64,
                },
                series: series.iter().map(|row| row[number]).collect(),
            }
        });
        uses.collect()
    }
}
