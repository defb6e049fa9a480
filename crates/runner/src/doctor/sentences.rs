//! The way to a datastore in words.

use stormeter_datastore::{Call, RoundTrips, TransferSizes};
use stormeter_units::{format_bytes, format_duration_ns};

use super::link::Link;
use super::way::{RunNeeds, Way};

impl Way {
    /// What was found, as names and sentences.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        rows.extend(self.round_trips.as_ref().map(|found| ("round trip", round_trips(found))));
        rows.extend(self.transfer_sizes.as_ref().map(|sizes| ("sizes", transfer_sizes(sizes))));
        if !self.negotiated.is_empty() {
            let pairs = self.negotiated.iter().map(|one| format!("{} {}", one.name, one.value));
            rows.push(("negotiated", pairs.collect::<Vec<_>>().join(", ")));
        }
        rows.extend(self.space.map(|space| {
            let (free, reserve) =
                (format_bytes(space.free_bytes), format_bytes(space.reserve_bytes));
            ("space", format!("{free} free, of which a run leaves {reserve} free"))
        }));
        if let Some(bytes) = self.capacity_bytes {
            rows.push(("capacity", format!("{}, used from its start", format_bytes(bytes))));
        }
        rows.extend(self.links.iter().map(|found| ("link", link(found))));
        rows.extend(self.run.as_ref().map(|needs| ("default run", run(needs))));
        rows
    }
}

fn time(ns: u64) -> String {
    format_duration_ns(ns as f64)
}

fn round_trips(found: &RoundTrips) -> String {
    let call = match found.call {
        Call::NfsNull => "NULL calls",
        Call::NopOut => "NOP-Outs",
    };
    format!(
        "{} (median of {} {call}; half of them {} to {}, all {} to {})",
        time(found.median_ns),
        found.count,
        time(found.lower_quartile_ns),
        time(found.upper_quartile_ns),
        time(found.least_ns),
        time(found.most_ns),
    )
}

fn transfer_sizes(sizes: &TransferSizes) -> String {
    let bytes = |bytes: u32| format_bytes(u64::from(bytes));
    format!(
        "READ up to {} (rtmax), preferred {}; WRITE up to {} (wtmax), preferred {}",
        bytes(sizes.read_max_bytes),
        bytes(sizes.read_preferred_bytes),
        bytes(sizes.write_max_bytes),
        bytes(sizes.write_preferred_bytes),
    )
}

fn link(link: &Link) -> String {
    let server = link.server;
    let mtu = link.mtu_bytes.map_or("unknown MTU".into(), |bytes| format!("MTU {bytes}"));
    if link.is_loopback {
        return format!(
            "to {server} by {}, {mtu}: the server is on this machine, no network is measured",
            link.interface
        );
    }
    let speed = match link.speed_mbit_per_s {
        None => "speed unknown (the driver reports none)".into(),
        Some(mbit) if mbit % 1000 == 0 => format!("{} Gbit/s", mbit / 1000),
        Some(mbit) if mbit > 1000 => format!("{} Gbit/s", f64::from(mbit) / 1000.0),
        Some(mbit) => format!("{mbit} Mbit/s"),
    };
    format!("to {server} by {}, {speed}, {mtu}", link.interface)
}

fn run(needs: &RunNeeds) -> String {
    let prepared = format_bytes(needs.prepared_bytes);
    if let Some(reason) = &needs.refused {
        return format!("would write {prepared} here, which is refused: {reason}");
    }
    format!(
        "writes {prepared} here, which fits, then measures for {} ({} trials of each datastore) to {}",
        time(needs.least_ns),
        needs.least_trials,
        time(needs.most_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::super::way::{FreeSpace, Parameter};
    use super::*;

    fn text(way: &Way) -> String {
        way.rows().into_iter().map(|(name, value)| format!("{name}: {value}\n")).collect()
    }

    #[test]
    fn every_figure_has_its_sentence() {
        let link = Link {
            server: "192.0.2.7".parse().unwrap(),
            interface: "eth0".into(),
            is_loopback: false,
            speed_mbit_per_s: Some(25_000),
            mtu_bytes: Some(9000),
        };
        let slow = Link { speed_mbit_per_s: Some(100), ..link.clone() };
        let between = Link { speed_mbit_per_s: Some(2500), ..link.clone() };
        let unknown = Link { speed_mbit_per_s: None, mtu_bytes: None, ..link.clone() };
        let here = Link { is_loopback: true, interface: "lo".into(), ..link.clone() };
        let way = Way {
            round_trips: Some(RoundTrips::of(Call::NopOut, vec![100_000, 200_000, 400_000])),
            transfer_sizes: Some(TransferSizes {
                read_max_bytes: 1 << 20,
                read_preferred_bytes: 128 << 10,
                write_max_bytes: 64 << 10,
                write_preferred_bytes: 32 << 10,
            }),
            negotiated: vec![Parameter { name: "ImmediateData".into(), value: "Yes".into() }],
            space: Some(FreeSpace { free_bytes: 5 << 30, reserve_bytes: 1 << 30 }),
            capacity_bytes: Some(2 << 30),
            links: vec![link, slow, between, unknown, here],
            run: Some(RunNeeds {
                prepared_bytes: 1 << 30,
                least_trials: 5,
                least_ns: 50_000_000_000,
                most_ns: 600_000_000_000,
                refused: None,
            }),
        };
        assert_eq!(
            text(&way),
            "\
round trip: 200µs (median of 3 NOP-Outs; half of them 100µs to 200µs, all 100µs to 400µs)
sizes: READ up to 1MiB (rtmax), preferred 128KiB; WRITE up to 64KiB (wtmax), preferred 32KiB
negotiated: ImmediateData Yes
space: 5GiB free, of which a run leaves 1GiB free
capacity: 2GiB, used from its start
link: to 192.0.2.7 by eth0, 25 Gbit/s, MTU 9000
link: to 192.0.2.7 by eth0, 100 Mbit/s, MTU 9000
link: to 192.0.2.7 by eth0, 2.5 Gbit/s, MTU 9000
link: to 192.0.2.7 by eth0, speed unknown (the driver reports none), unknown MTU
link: to 192.0.2.7 by lo, MTU 9000: the server is on this machine, no network is measured
default run: writes 1GiB here, which fits, then measures for 50.0s (5 trials of each datastore) to 10.0min
"
        );
        let refused = RunNeeds { refused: Some("no room".into()), ..way.run.unwrap() };
        let way = Way { run: Some(refused), ..Way::default() };
        assert_eq!(text(&way), "default run: would write 1GiB here, which is refused: no room\n");
    }
}
