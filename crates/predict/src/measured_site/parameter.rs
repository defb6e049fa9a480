//! The parameters of a datastore's site that the cells of the plan are to determine.

/// A parameter of the device, with the bounds of its search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    Read,
    Write,
    PerByte,
    PerWrittenByte,
    SharedPerIo,
    SharedPerWrite,
    SharedPerByte,
    SharedPerWrittenByte,
}

impl Parameter {
    /// In the order of the file.
    pub(crate) const ALL: [Parameter; 8] = [
        Parameter::Read,
        Parameter::Write,
        Parameter::PerByte,
        Parameter::PerWrittenByte,
        Parameter::SharedPerIo,
        Parameter::SharedPerWrite,
        Parameter::SharedPerByte,
        Parameter::SharedPerWrittenByte,
    ];

    /// Its key in the device.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Parameter::Read => "read",
            Parameter::Write => "write",
            Parameter::PerByte => "per-byte",
            Parameter::PerWrittenByte => "per-written-byte",
            Parameter::SharedPerIo => "shared-per-io",
            Parameter::SharedPerWrite => "shared-per-write",
            Parameter::SharedPerByte => "shared-per-byte",
            Parameter::SharedPerWrittenByte => "shared-per-written-byte",
        }
    }

    /// Its bounds, in nanoseconds. The lower ones are next to nothing: a fiftieth of what a processor needs for it.
    pub(crate) fn bounds_ns(self) -> (f64, f64) {
        match self {
            Parameter::Read | Parameter::Write => (100.0, 1e9),
            Parameter::SharedPerIo | Parameter::SharedPerWrite => (20.0, 1e8),
            Parameter::PerByte
            | Parameter::PerWrittenByte
            | Parameter::SharedPerByte
            | Parameter::SharedPerWrittenByte => (0.001, 1e4),
        }
    }
}

/// A cost of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StackCost {
    Read,
    Write,
    Byte,
}

impl StackCost {
    /// In the order of the file.
    pub(crate) const ALL: [StackCost; 3] = [StackCost::Read, StackCost::Write, StackCost::Byte];

    /// Its key in the stack.
    pub(crate) fn key(self) -> &'static str {
        match self {
            StackCost::Read => "per-read",
            StackCost::Write => "per-write",
            StackCost::Byte => "per-byte",
        }
    }

    /// Its bounds as time on this machine, in nanoseconds.
    pub(crate) fn bounds_ns(self) -> (f64, f64) {
        match self {
            StackCost::Read | StackCost::Write => (50.0, 1e7),
            StackCost::Byte => (0.0005, 100.0),
        }
    }
}

/// A value and how much is known about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    /// In nanoseconds.
    pub(crate) value_ns: f64,
    pub(crate) by: Source,
}

/// Where a value is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// Measured, with its interval in nanoseconds.
    Measured { low_ns: f64, high_ns: f64 },
    /// The search changed it, but the measurements do not determine it.
    Undetermined,
    /// It is too small to be seen.
    NotSeen,
    /// A starting value.
    Assumed,
}
