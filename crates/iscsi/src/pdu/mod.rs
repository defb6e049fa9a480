//! Protocol data units (RFC 7143 §11): the 48-byte header of each, and the framing by additional
//! headers, digests and padding.
//!
//! A PDU is a plain value that is decoded from and encoded to a [`Bhs`]; both directions exist for
//! each, because tests and recorded streams need the target's PDUs as well as ours.

mod bhs;
pub mod flags;
mod frame;
mod units;
mod words;

pub use bhs::{BHS_BYTES, Bhs};
pub(crate) use frame::put_header;
pub use frame::{Data, Digests, FrameError, Whole, crc, header_bytes, padding_bytes, parse, put};
pub(crate) use frame::{check_data, check_header};
pub use units::{
    AsyncMessage, DataIn, DataOut, LoginRequest, LoginResponse, LogoutRequest, LogoutResponse,
    NopIn, NopOut, R2t, Reject, ScsiCommand, ScsiResponse, TextRequest, TextResponse,
};
pub use words::{async_event, logout_response, opcode_name, reject_reason};

/// The tag that identifies no task (RFC 7143 §11.2.1.8).
pub const NO_TAG: u32 = 0xffff_ffff;
