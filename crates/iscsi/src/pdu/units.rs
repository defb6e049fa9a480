//! Every PDU of a normal or discovery session as a table of fields with their byte offsets.
//! Lengths, flags and serial numbers are kept as they are on the wire; the session interprets them.

use super::bhs::{BHS_BYTES, Bhs, Field};

macro_rules! pdu {
    ($($(#[$about:meta])* $name:ident = $opcode:literal {
        $($(#[$doc:meta])* $field:ident: $type:ty = $at:literal,)*
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
            /// Length of the data segment in bytes (24 bits), without padding.
            pub data_bytes: u32,
        }

        impl $name {
            /// The opcode in byte 0.
            pub const OPCODE: u8 = $opcode;

            /// The header.
            #[inline]
            pub fn encode(&self) -> Bhs {
                let mut bhs = Bhs([0; BHS_BYTES]);
                bhs.0[0] = $opcode;
                $(self.$field.put(&mut bhs.0, $at);)*
                bhs.set_data_bytes(self.data_bytes);
                bhs
            }

            /// Decodes a header whose opcode is known to be this one.
            #[inline]
            pub fn decode(bhs: &Bhs) -> Self {
                Self {
                    $($field: <$type>::get(&bhs.0, $at),)*
                    data_bytes: bhs.data_bytes(),
                }
            }
        }
    )*};
}

pdu! {
    /// NOP-Out (RFC 7143 §11.18).
    NopOut = 0x00 {
        /// I bit.
        immediate: bool = 0,
        /// [`FINAL`](super::flags::FINAL).
        flags: u8 = 1,
        /// Logical unit, copied from the NOP-In that is answered.
        lun: u64 = 8,
        /// Our tag, or [`NO_TAG`](super::NO_TAG) if no answer is wanted.
        task_tag: u32 = 16,
        /// The target's tag in an answer.
        transfer_tag: u32 = 20,
        /// CmdSN.
        cmd_sn: u32 = 24,
        /// ExpStatSN.
        exp_stat_sn: u32 = 28,
    }
    /// SCSI Command (RFC 7143 §11.3).
    ScsiCommand = 0x01 {
        /// I bit.
        immediate: bool = 0,
        /// FINAL, READ, WRITE and the task attribute.
        flags: u8 = 1,
        /// Logical unit.
        lun: u64 = 8,
        /// Our tag.
        task_tag: u32 = 16,
        /// Number of bytes to move.
        expected_bytes: u32 = 20,
        /// CmdSN.
        cmd_sn: u32 = 24,
        /// ExpStatSN.
        exp_stat_sn: u32 = 28,
        /// The command descriptor block, padded with zeros.
        cdb: [u8; 16] = 32,
    }
    /// Login Request (RFC 7143 §11.12).
    LoginRequest = 0x03 {
        /// I bit: always set.
        immediate: bool = 0,
        /// TRANSIT, CONTINUE, current and next stage.
        flags: u8 = 1,
        /// Highest version supported.
        version_max: u8 = 2,
        /// Lowest version supported.
        version_min: u8 = 3,
        /// Initiator session identifier.
        isid: [u8; 6] = 8,
        /// Target session identifying handle: 0 for a new session.
        tsih: u16 = 14,
        /// Our tag, the same for the whole login.
        task_tag: u32 = 16,
        /// Connection within the session.
        cid: u16 = 20,
        /// CmdSN: the session's initial number.
        cmd_sn: u32 = 24,
        /// ExpStatSN.
        exp_stat_sn: u32 = 28,
    }
    /// Text Request (RFC 7143 §11.10).
    TextRequest = 0x04 {
        /// I bit.
        immediate: bool = 0,
        /// FINAL or CONTINUE.
        flags: u8 = 1,
        /// Logical unit, copied from the answer that is continued.
        lun: u64 = 8,
        /// Our tag.
        task_tag: u32 = 16,
        /// The target's tag from the answer that is continued.
        transfer_tag: u32 = 20,
        /// CmdSN.
        cmd_sn: u32 = 24,
        /// ExpStatSN.
        exp_stat_sn: u32 = 28,
    }
    /// SCSI Data-Out (RFC 7143 §11.7).
    DataOut = 0x05 {
        /// FINAL.
        flags: u8 = 1,
        /// Logical unit, as in the R2T.
        lun: u64 = 8,
        /// Tag of the command.
        task_tag: u32 = 16,
        /// The R2T's tag, or [`NO_TAG`](super::NO_TAG) when unsolicited.
        transfer_tag: u32 = 20,
        /// ExpStatSN.
        exp_stat_sn: u32 = 28,
        /// Number within its sequence.
        data_sn: u32 = 36,
        /// Offset within the command's data.
        buffer_offset: u32 = 40,
    }
    /// Logout Request (RFC 7143 §11.14).
    LogoutRequest = 0x06 {
        /// I bit.
        immediate: bool = 0,
        /// FINAL and the reason: 0 closes the session.
        flags: u8 = 1,
        /// Our tag.
        task_tag: u32 = 16,
        /// Connection.
        cid: u16 = 20,
        /// CmdSN.
        cmd_sn: u32 = 24,
        /// ExpStatSN.
        exp_stat_sn: u32 = 28,
    }
    /// NOP-In (RFC 7143 §11.19).
    NopIn = 0x20 {
        /// [`FINAL`](super::flags::FINAL).
        flags: u8 = 1,
        /// Logical unit.
        lun: u64 = 8,
        /// Our tag in an answer.
        task_tag: u32 = 16,
        /// The target's tag if it wants an answer.
        transfer_tag: u32 = 20,
        /// StatSN.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
    }
    /// SCSI Response (RFC 7143 §11.4).
    ScsiResponse = 0x21 {
        /// FINAL, UNDERFLOW, OVERFLOW.
        flags: u8 = 1,
        /// 0 if the command was completed; otherwise the target failed.
        response: u8 = 2,
        /// SCSI status.
        status: u8 = 3,
        /// Tag of the command.
        task_tag: u32 = 16,
        /// SNACK tag.
        snack_tag: u32 = 20,
        /// StatSN.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// Number of R2T or Data-In PDUs that the target sent.
        exp_data_sn: u32 = 36,
        /// Residual of the read half of a bidirectional command.
        bidirectional_residual_bytes: u32 = 40,
        /// Residual, in bytes.
        residual_bytes: u32 = 44,
    }
    /// Login Response (RFC 7143 §11.13).
    LoginResponse = 0x23 {
        /// TRANSIT, CONTINUE, current and next stage.
        flags: u8 = 1,
        /// Highest version supported.
        version_max: u8 = 2,
        /// Version in use.
        version_active: u8 = 3,
        /// Initiator session identifier.
        isid: [u8; 6] = 8,
        /// The session's handle, in the last answer.
        tsih: u16 = 14,
        /// Our tag.
        task_tag: u32 = 16,
        /// StatSN: the connection's initial number.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// Status class: 0 success, 1 redirection, 2 our error, 3 the target's error.
        status_class: u8 = 36,
        /// Status detail.
        status_detail: u8 = 37,
    }
    /// Text Response (RFC 7143 §11.11).
    TextResponse = 0x24 {
        /// FINAL or CONTINUE.
        flags: u8 = 1,
        /// Logical unit, to be copied.
        lun: u64 = 8,
        /// Our tag.
        task_tag: u32 = 16,
        /// The target's tag if more follows.
        transfer_tag: u32 = 20,
        /// StatSN.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
    }
    /// SCSI Data-In (RFC 7143 §11.7).
    DataIn = 0x25 {
        /// FINAL, OVERFLOW, UNDERFLOW, STATUS.
        flags: u8 = 1,
        /// SCSI status, with STATUS.
        status: u8 = 3,
        /// Logical unit.
        lun: u64 = 8,
        /// Tag of the command.
        task_tag: u32 = 16,
        /// The target's tag.
        transfer_tag: u32 = 20,
        /// StatSN, with STATUS.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// Number within the command.
        data_sn: u32 = 36,
        /// Offset within the command's data.
        buffer_offset: u32 = 40,
        /// Residual in bytes, with STATUS.
        residual_bytes: u32 = 44,
    }
    /// Logout Response (RFC 7143 §11.15).
    LogoutResponse = 0x26 {
        /// FINAL.
        flags: u8 = 1,
        /// 0 on success.
        response: u8 = 2,
        /// Our tag.
        task_tag: u32 = 16,
        /// StatSN.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// Seconds to wait before logging in again.
        time2wait_s: u16 = 40,
        /// Seconds for which tasks are kept.
        time2retain_s: u16 = 42,
    }
    /// Ready To Transfer (RFC 7143 §11.8).
    R2t = 0x31 {
        /// FINAL.
        flags: u8 = 1,
        /// Logical unit.
        lun: u64 = 8,
        /// Tag of the command.
        task_tag: u32 = 16,
        /// The target's tag, to be copied.
        transfer_tag: u32 = 20,
        /// The next StatSN; not taken by this PDU.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// Number within the command.
        r2t_sn: u32 = 36,
        /// Start offset within the command's data.
        buffer_offset: u32 = 40,
        /// Number of bytes requested.
        desired_bytes: u32 = 44,
    }
    /// Asynchronous Message (RFC 7143 §11.9).
    AsyncMessage = 0x32 {
        /// FINAL.
        flags: u8 = 1,
        /// Logical unit, for SCSI events.
        lun: u64 = 8,
        /// Always [`NO_TAG`](super::NO_TAG).
        task_tag: u32 = 16,
        /// StatSN.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// The event.
        event: u8 = 36,
        /// The vendor's code.
        vendor_code: u8 = 37,
        /// Parameter 1.
        parameter1: u16 = 38,
        /// Parameter 2.
        parameter2: u16 = 40,
        /// Parameter 3: seconds, for a requested logout.
        parameter3: u16 = 42,
    }
    /// Reject (RFC 7143 §11.17).
    Reject = 0x3f {
        /// FINAL.
        flags: u8 = 1,
        /// The reason.
        reason: u8 = 2,
        /// Always [`NO_TAG`](super::NO_TAG).
        task_tag: u32 = 16,
        /// StatSN.
        stat_sn: u32 = 24,
        /// ExpCmdSN.
        exp_cmd_sn: u32 = 28,
        /// MaxCmdSN.
        max_cmd_sn: u32 = 32,
        /// DataSN or R2TSN.
        data_sn: u32 = 36,
    }
}
