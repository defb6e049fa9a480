//! How messages describe site files, and the texts that their positions refer to.

use stormeter_yaml::Form;

/// The source number of changes; 0 is the file.
pub(super) const CHANGES: usize = 1;
/// The source number of the library.
pub(super) const LIBRARY: usize = 2;

/// How messages describe site files.
pub(super) const FORM: Form = Form {
    name: "a site file",
    holds: "site",
    levels: "six",
    empty: "the file is empty; write at least hosts, stacks, disk-groups and datastores, such as\n  \
            hosts: {pc: {cores: 4, clock: 3GHz}}\n  \
            stacks: {disk: {protocol: local, per-read: 20000 cycles, per-write: 20000 cycles}}\n  \
            disk-groups: {ssd: {device: {like: sata-ssd-480gb}}}\n  \
            datastores: {local: {hosts: pc, stack: disk, disks: ssd}}",
    hint: |_| None,
};
