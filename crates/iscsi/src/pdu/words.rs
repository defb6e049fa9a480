//! The codes in PDUs as words (RFC 7143 §11), for messages to people.

/// The name of an opcode, or `unknown`.
pub fn opcode_name(opcode: u8) -> &'static str {
    match opcode & 0x3f {
        0x00 => "NOP-Out",
        0x01 => "SCSI Command",
        0x02 => "Task Management Request",
        0x03 => "Login Request",
        0x04 => "Text Request",
        0x05 => "Data-Out",
        0x06 => "Logout Request",
        0x10 => "SNACK",
        0x20 => "NOP-In",
        0x21 => "SCSI Response",
        0x22 => "Task Management Response",
        0x23 => "Login Response",
        0x24 => "Text Response",
        0x25 => "Data-In",
        0x26 => "Logout Response",
        0x31 => "R2T",
        0x32 => "Asynchronous Message",
        0x3f => "Reject",
        _ => "unknown",
    }
}

/// The reason of a Reject (RFC 7143 §11.17.1).
pub fn reject_reason(reason: u8) -> &'static str {
    match reason {
        0x02 => "data digest error",
        0x03 => "SNACK rejected",
        0x04 => "protocol error",
        0x05 => "command not supported",
        0x06 => "too many immediate commands",
        0x07 => "task in progress",
        0x08 => "invalid data acknowledgement",
        0x09 => "invalid PDU field",
        0x0a => "long operation, out of resources",
        0x0b => "negotiation reset",
        0x0c => "waiting for logout",
        _ => "unknown reason",
    }
}

/// The event of an asynchronous message (RFC 7143 §11.9.1).
pub fn async_event(event: u8) -> &'static str {
    match event {
        0 => "SCSI event",
        1 => "the target asks for logout",
        2 => "the target drops this connection",
        3 => "the target drops all connections of this session",
        4 => "the target asks for a new negotiation",
        5 => "all tasks of a logical unit are ended",
        248..=255 => "vendor's event",
        _ => "unknown event",
    }
}

/// The result of a logout (RFC 7143 §11.15.1).
pub fn logout_response(response: u8) -> &'static str {
    match response {
        0 => "closed",
        1 => "connection not found",
        2 => "recovery not supported",
        3 => "cleanup failed",
        _ => "unknown response",
    }
}
