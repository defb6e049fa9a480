//! The bits of byte 1, by the PDU that has them (RFC 7143 §11.3 to §11.19).

/// F: the last PDU of its sequence; set unless stated otherwise.
pub const FINAL: u8 = 0x80;
/// SCSI Command: data comes from the target.
pub const READ: u8 = 0x40;
/// SCSI Command: data goes to the target.
pub const WRITE: u8 = 0x20;
/// SCSI Command: task attribute SIMPLE.
pub const SIMPLE: u8 = 0x01;
/// Login and Text: more keys follow in the next PDU.
pub const CONTINUE: u8 = 0x40;
/// Login: the sender is ready to leave this stage.
pub const TRANSIT: u8 = 0x80;
/// Data-In: the status is in this PDU.
pub const STATUS: u8 = 0x01;
/// SCSI Response and Data-In: less was moved than expected.
pub const UNDERFLOW: u8 = 0x02;
/// SCSI Response and Data-In: more could have been moved than expected.
pub const OVERFLOW: u8 = 0x04;
