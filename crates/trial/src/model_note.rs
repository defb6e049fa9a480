//! What a reader of a predicted trial should know of the model, as facts.

use serde::{Deserialize, Serialize};
use stormeter_units::{format_bytes, format_duration_ns};

/// A remark of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "remark")]
pub enum ModelNote {
    /// A write memory was still filling in the window: writes are as fast as the memory, not as the disks behind it.
    StillFilling {
        /// The component.
        component: String,
        /// Bytes that came in during the window.
        came_bytes: u64,
        /// Bytes that went out.
        went_bytes: u64,
        /// How long the load has to last until the memory is full.
        full_after_ns: u64,
    },
    /// A write memory was taken to be full, because the load fills it: writes are as fast as the disks behind it.
    Steady {
        /// The component.
        component: String,
        /// How long a fresh one would take writes at its own speed.
        fresh_for_ns: u64,
        /// Bytes a second that it takes while it is fresh.
        fresh_bytes_per_s: u64,
        /// Bytes a second that it took in the window, when it was full.
        steady_bytes_per_s: u64,
    },
    /// Bytes of VMs are lost.
    Lost {
        /// The loss.
        loss: Loss,
    },
    /// A node was lost while VMs ran on it.
    NodeLost {
        /// The storage.
        storage: String,
        /// The node.
        node: u32,
        /// When, on the model's clock.
        at_ns: u64,
    },
    /// No replica is left of bytes that should be copied again.
    NoReplicaLeft {
        /// The storage.
        storage: String,
        /// Their number.
        bytes: u64,
    },
    /// No node can take another replica of lost data.
    NoNodeLeft {
        /// The storage.
        storage: String,
        /// Bytes of this data.
        bytes: u64,
    },
    /// Lost data has not been copied again yet, because its node may come back.
    RepairDelayed {
        /// The storage.
        storage: String,
        /// Bytes of this data.
        bytes: u64,
    },
    /// A resync was still in progress.
    Resyncing {
        /// The storage.
        storage: String,
        /// Bytes of lost data that had not been copied again yet.
        bytes: u64,
    },
}

/// Bytes of VMs that a fault took from a model, so that requests for them fail.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "loss")]
pub enum Loss {
    /// An array went offline.
    Offline {
        /// The component.
        component: String,
        /// When, on the model's clock.
        since_ns: u64,
        /// Disks that are lost or not rebuilt, of those that share redundancy.
        disks: u32,
        /// The number of them that may be lost.
        bears: u32,
        /// Bytes that were only in its memory.
        dirty_bytes: u64,
    },
    /// No replica of parts of virtual disks is there.
    NoReplica {
        /// The storage.
        storage: String,
        /// Bytes of these parts.
        bytes: u64,
    },
    /// Stored by a version that kept only the sentence.
    Early {
        /// The sentence.
        said: String,
    },
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Offline { component, since_ns, disks, bears, dirty_bytes } => {
                write!(
                    f,
                    "{component}: offline since {}, {disks} of the disks that keep each other's bytes are lost or \
                     not rebuilt and they bear {bears}; what they had is gone",
                    format_duration_ns(*since_ns as f64)
                )?;
                match dirty_bytes {
                    0 => Ok(()),
                    bytes => write!(f, ", and {} that only its memory had", format_bytes(*bytes)),
                }
            }
            Self::NoReplica { storage, bytes } => {
                write!(
                    f,
                    "{storage}: no replica is there of {} of virtual disks",
                    format_bytes(*bytes)
                )
            }
            Self::Early { said } => f.write_str(said),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_has_its_sentence() {
        let offline = |dirty_bytes| Loss::Offline {
            component: "disk".into(),
            since_ns: 2_000_000_000,
            disks: 2,
            bears: 1,
            dirty_bytes,
        };
        for (loss, expected) in [
            (
                offline(0),
                "disk: offline since 2.00s, 2 of the disks that keep each other's bytes are lost or not rebuilt and \
                 they bear 1; what they had is gone",
            ),
            (
                offline(1 << 20),
                "disk: offline since 2.00s, 2 of the disks that keep each other's bytes are lost or not rebuilt and \
                 they bear 1; what they had is gone, and 1MiB that only its memory had",
            ),
            (
                Loss::NoReplica { storage: "vsan".into(), bytes: 512 << 20 },
                "vsan: no replica is there of 512MiB of virtual disks",
            ),
            (Loss::Early { said: "as it was said".into() }, "as it was said"),
        ] {
            assert_eq!(loss.to_string(), expected);
        }
    }
}
