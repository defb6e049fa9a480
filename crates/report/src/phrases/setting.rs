//! The settings that remedies name.

/// A setting, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// How long a trial is measured.
    Duration,
    /// How long it runs before it is measured.
    Ramp,
    /// How many threads drive the load.
    Threads,
    /// How many VMs have a disk.
    Vms,
    /// How long the whole run may take.
    TimeLimit,
    /// How often the cells are measured.
    Blocks,
    /// The same rate for all datastores.
    EqualLoad,
    /// A prediction with the study's own ramp, window and blocks.
    AsPlanned,
    /// The size of a virtual disk.
    DiskSize,
    /// The sizes of requests.
    RequestSize,
    /// The alignment of offsets.
    Alignment,
    /// The share of blocks that are copies of others.
    Dedupable,
    /// The share of reads.
    ReadShare,
    /// How many I/Os of a VM are outstanding.
    Outstanding,
    /// Whether every write is durable.
    Durable,
    /// When the disks are flushed.
    Flush,
    /// Whether all reads are compared with the written content.
    Verify,
    /// The compared metric.
    Metric,
    /// A flush after every write.
    FlushEveryWrite,
}

/// The name of a setting where a reader of the report can change it.
pub type SettingNames = fn(Setting) -> &'static str;

/// The names of settings in a study file.
pub fn study_key(setting: Setting) -> &'static str {
    match setting {
        Setting::Duration => "measure.duration",
        Setting::Ramp => "measure.ramp",
        Setting::Threads => "measure.threads",
        Setting::Vms => "load.vms",
        Setting::TimeLimit => "design.time-limit",
        Setting::Blocks => "design.blocks",
        Setting::EqualLoad => "the same rate for all datastores",
        Setting::AsPlanned => "the whole study",
        Setting::DiskSize => "disk.size",
        Setting::RequestSize => "request-size",
        Setting::Alignment => "align",
        Setting::Dedupable => "dedupable",
        Setting::ReadShare => "read",
        Setting::Outstanding => "load.outstanding",
        Setting::Durable => "durable",
        Setting::Flush => "flush",
        Setting::Verify => "measure.verify",
        Setting::Metric => "design.metric",
        Setting::FlushEveryWrite => "flush: every write",
    }
}
