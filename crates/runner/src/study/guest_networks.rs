//! The networks of guests that have an agent.
//!
//! From outside, the bytes on a guest's links cannot be seen: its links are sockets of its process, and neither the
//! kernel nor QEMU counts what passes through them. Agents count what their guests send and receive, in rows of their
//! own, which the guests' rows get as means over their intervals.

use stormeter_results::HostShare;
use stormeter_study::{Reach, StudyHost};
use stormeter_trial::{GuestActivity, GuestRow, MonitorRow};

/// Gives the guests that are hosts of the study the network rates that their agents have read.
pub(crate) fn add_networks(
    guests: &mut [GuestActivity],
    hosts: &[StudyHost],
    shares: &[HostShare],
) {
    for guest in guests {
        let is_guest = |host: &StudyHost| host.reached_by == Reach::Lab(guest.name.clone());
        let Some(place) = hosts.iter().position(is_guest) else { continue };
        let Some(share) = shares.iter().find(|share| share.number as usize == place) else {
            continue;
        };
        for row in &mut guest.rows {
            let mean = |rate: fn(&MonitorRow) -> f64| mean_within(row, &share.monitor, rate);
            let receive = mean(|row| row.network_receive_bytes_per_s);
            let transmit = mean(|row| row.network_transmit_bytes_per_s);
            row.network_receive_bytes_per_s = receive;
            row.network_transmit_bytes_per_s = transmit;
        }
    }
}

/// The mean of a rate over the time that the rows have in common with the guest's; `None` if they have none.
fn mean_within(row: &GuestRow, rows: &[MonitorRow], rate: fn(&MonitorRow) -> f64) -> Option<f64> {
    let end = |at_ns: u64, length_ns: u64| at_ns.saturating_add(length_ns);
    let (mut moved, mut time_ns) = (0.0, 0.0);
    for one in rows {
        let from = one.at_ns.max(row.at_ns);
        let to = end(one.at_ns, one.length_ns).min(end(row.at_ns, row.length_ns));
        let common_ns = to.saturating_sub(from) as f64;
        moved += rate(one) * common_ns;
        time_ns += common_ns;
    }
    (time_ns > 0.0).then(|| moved / time_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_mean_over_the_time_in_common() {
        let row = |at_ns, length_ns, rate| MonitorRow {
            at_ns,
            length_ns,
            network_receive_bytes_per_s: rate,
            ..MonitorRow::default()
        };
        let rows = [row(0, 10, 1.0), row(10, 10, 5.0), row(20, 10, 100.0)];
        let of = |at_ns, length_ns| {
            let guest = GuestRow { at_ns, length_ns, ..GuestRow::default() };
            mean_within(&guest, &rows, |row| row.network_receive_bytes_per_s)
        };
        assert_eq!(of(5, 15), Some((5.0 * 1.0 + 10.0 * 5.0) / 15.0));
        assert_eq!(of(25, 100), Some(100.0));
        assert_eq!(of(30, 5), None);
    }
}
