//! SCSI status codes (SAM-5 §5.3).

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// GOOD, or the equivalent CONDITION MET.
    Good,
    /// CHECK CONDITION: sense data has the reason.
    CheckCondition,
    /// BUSY.
    Busy,
    /// RESERVATION CONFLICT: another host has reserved the unit.
    ReservationConflict,
    /// TASK SET FULL.
    TaskSetFull,
    /// ACA ACTIVE.
    AcaActive,
    /// TASK ABORTED: by another initiator.
    TaskAborted,
    /// Any other status.
    Other(u8),
}

impl Status {
    /// The status with this code.
    #[inline]
    pub fn of(code: u8) -> Self {
        match code {
            0x00 | 0x04 => Self::Good,
            0x02 => Self::CheckCondition,
            0x08 => Self::Busy,
            0x18 => Self::ReservationConflict,
            0x28 => Self::TaskSetFull,
            0x30 => Self::AcaActive,
            0x40 => Self::TaskAborted,
            other => Self::Other(other),
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::CheckCondition => "check condition",
            Self::Busy => "busy",
            Self::ReservationConflict => "reserved by another host",
            Self::TaskSetFull => "task set full",
            Self::AcaActive => "auto contingent allegiance active",
            Self::TaskAborted => "task aborted by another initiator",
            Self::Other(code) => return write!(f, "status {code:#04x}"),
        })
    }
}
