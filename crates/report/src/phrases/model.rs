//! What a reader of a prediction should know of the model, as a clause without full stop.

use stormeter_trial::ModelNote;
use stormeter_units::{format_bytes, format_duration_ns};

pub(super) fn model_note(note: &ModelNote) -> String {
    match note {
        ModelNote::StillFilling { component, came_bytes, went_bytes, full_after_ns } => {
            let moved = match went_bytes {
                0 => format!("{} came in and nothing went out", format_bytes(*came_bytes)),
                went => {
                    let ratio = *came_bytes as f64 / *went as f64;
                    format!("{ratio:.1} bytes came in for each byte that went out")
                }
            };
            let full = format_duration_ns(*full_after_ns as f64);
            format!(
                "{component}: was still filling, {moved}; after about {full} more of it writes go at the speed \
                 of the disks"
            )
        }
        ModelNote::Steady { component, fresh_for_ns, fresh_bytes_per_s, steady_bytes_per_s } => {
            let rate = |bytes: u64| format!("{:.1} MB/s", bytes as f64 / 1e6);
            format!(
                "{component}: predicted as full, which this load makes it; while it fills, for about {}, writes come \
                 at {} instead of {}",
                format_duration_ns(*fresh_for_ns as f64),
                rate(*fresh_bytes_per_s),
                rate(*steady_bytes_per_s)
            )
        }
        ModelNote::Lost { loss } => loss.to_string(),
        ModelNote::NodeLost { storage, node, at_ns } => format!(
            "{storage}: node {node} was lost at {}; its VMs are taken to go on at once, on a host like it without data",
            format_duration_ns(*at_ns as f64)
        ),
        ModelNote::NoReplicaLeft { storage, bytes } => {
            format!("{storage}: {} are lost, no replica of them is left", format_bytes(*bytes))
        }
        ModelNote::NoNodeLeft { storage, bytes } => format!(
            "{storage}: {} of lost data cannot be copied again: every other node already has a replica or no space; \
             add nodes or devices",
            format_bytes(*bytes)
        ),
        ModelNote::RepairDelayed { storage, bytes } => format!(
            "{storage}: {} of lost data has not been copied again yet, because its node may come back; a shorter \
             repair-delay shows the resync",
            format_bytes(*bytes)
        ),
        ModelNote::Resyncing { storage, bytes } => format!(
            "{storage}: a resync was still in progress, {} of lost data had not been copied again yet",
            format_bytes(*bytes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use stormeter_trial::Loss;

    use super::*;

    #[test]
    fn every_remark_has_its_sentence() {
        const GIB: u64 = 1 << 30;
        let storage = || "vsan".to_owned();
        let filling = |came_bytes, went_bytes| ModelNote::StillFilling {
            component: "vsan cache".into(),
            came_bytes,
            went_bytes,
            full_after_ns: 173_999_999_999,
        };
        for (note, expected) in [
            (
                filling(108 << 20, 90 << 20),
                "vsan cache: was still filling, 1.2 bytes came in for each byte that went out; after about 2.90min more \
                 of it writes go at the speed of the disks",
            ),
            (
                filling(10 << 20, 0),
                "vsan cache: was still filling, 10MiB came in and nothing went out; after about 2.90min more of it writes \
                 go at the speed of the disks",
            ),
            (
                ModelNote::Steady {
                    component: storage(),
                    fresh_for_ns: 2_100_000_000_000,
                    fresh_bytes_per_s: 352_500_000,
                    steady_bytes_per_s: 5_800_000,
                },
                "vsan: predicted as full, which this load makes it; while it fills, for about 35.0min, writes come at \
                 352.5 MB/s instead of 5.8 MB/s",
            ),
            (
                ModelNote::Lost { loss: Loss::NoReplica { storage: storage(), bytes: GIB } },
                "vsan: no replica is there of 1GiB of virtual disks",
            ),
            (
                ModelNote::NodeLost { storage: storage(), node: 1, at_ns: 1_000_000_000 },
                "vsan: node 1 was lost at 1.00s; its VMs are taken to go on at once, on a host like it without data",
            ),
            (
                ModelNote::NoReplicaLeft { storage: storage(), bytes: GIB },
                "vsan: 1GiB are lost, no replica of them is left",
            ),
            (
                ModelNote::NoNodeLeft { storage: storage(), bytes: GIB },
                "vsan: 1GiB of lost data cannot be copied again: every other node already has a replica or no space; \
                 add nodes or devices",
            ),
            (
                ModelNote::RepairDelayed { storage: storage(), bytes: GIB },
                "vsan: 1GiB of lost data has not been copied again yet, because its node may come back; a shorter \
                 repair-delay shows the resync",
            ),
            (
                ModelNote::Resyncing { storage: storage(), bytes: GIB },
                "vsan: a resync was still in progress, 1GiB of lost data had not been copied again yet",
            ),
        ] {
            assert_eq!(model_note(&note), expected);
        }
    }
}
