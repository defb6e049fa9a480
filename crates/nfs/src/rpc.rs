//! Remote procedure calls (RFC 5531): the headers of calls and replies.

use crate::error::NfsError;
use crate::rpc_error::{AuthStatus, RpcError};
use crate::xdr::{Decoder, XdrError, put_opaque, put_u32};

/// The version of the RPC protocol.
const RPC_VERSION: u32 = 2;
const CALL: u32 = 0;
const REPLY: u32 = 1;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;
/// The longest credential or verifier (RFC 5531 section 8.2).
const MAX_AUTH_BYTES: usize = 400;
/// The most groups that AUTH_SYS carries (RFC 5531 appendix A).
const MAX_GROUPS: usize = 16;
/// The longest machine name that AUTH_SYS carries.
const MAX_MACHINE_BYTES: usize = 255;

/// The caller's credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    flavor: u32,
    body: Vec<u8>,
}

/// Credentials that AUTH_SYS cannot carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// More than 16 groups.
    #[error("AUTH_SYS carries at most 16 further groups, {0} were given; name the ones that count")]
    Groups(usize),
    /// A machine name of more than 255 bytes.
    #[error("AUTH_SYS carries a machine name of at most 255 bytes, {0} were given; shorten it")]
    Machine(usize),
}

impl Auth {
    /// AUTH_NONE: anonymous.
    #[must_use]
    pub fn none() -> Self {
        Self { flavor: AUTH_NONE, body: Vec::new() }
    }

    /// AUTH_SYS (RFC 5531 appendix A): a user and groups that the server trusts or squashes.
    ///
    /// # Errors
    /// More than 16 groups, or a machine name of more than 255 bytes.
    pub fn sys(uid: u32, gid: u32, groups: &[u32], machine: &str) -> Result<Self, AuthError> {
        if groups.len() > MAX_GROUPS {
            return Err(AuthError::Groups(groups.len()));
        }
        if machine.len() > MAX_MACHINE_BYTES {
            return Err(AuthError::Machine(machine.len()));
        }
        let mut body = Vec::new();
        // The stamp may be any number. A constant one lets a server's credential cache hit.
        put_u32(&mut body, 0);
        put_opaque(&mut body, machine.as_bytes());
        put_u32(&mut body, uid);
        put_u32(&mut body, gid);
        put_u32(&mut body, groups.len() as u32);
        for group in groups {
            put_u32(&mut body, *group);
        }
        Ok(Self { flavor: AUTH_SYS, body })
    }
}

/// Appends the header of a call, without record mark.
pub(crate) fn put_call_head(
    out: &mut Vec<u8>,
    xid: u32,
    program: u32,
    version: u32,
    procedure: u32,
    auth: &Auth,
) {
    for word in [xid, CALL, RPC_VERSION, program, version, procedure, auth.flavor] {
        put_u32(out, word);
    }
    put_opaque(out, &auth.body);
    put_u32(out, AUTH_NONE);
    put_u32(out, 0);
}

/// Reads a reply's header from after the XID up to the procedure's results.
///
/// # Errors
/// The server's refusal, or bytes that are not a valid reply.
#[inline(always)]
pub(crate) fn decode_reply_head(decoder: &mut Decoder<'_>) -> Result<(), NfsError> {
    let direction = decoder.u32("the message type")?;
    if direction != REPLY {
        return Err(XdrError::Undefined { what: "the type of a reply", value: direction }.into());
    }
    let state = decoder.u32("the reply's state")?;
    if state != 0 {
        return Err(decode_denied(decoder, state));
    }
    decoder.u32("the verifier's flavor")?;
    let length = decoder.u32("the verifier's length")? as usize;
    if length != 0 {
        skip_verifier(decoder, length)?;
    }
    match decoder.u32("the call's acceptance")? {
        0 => Ok(()),
        other => Err(decode_refused(decoder, other)),
    }
}

#[cold]
fn skip_verifier(decoder: &mut Decoder<'_>, length: usize) -> Result<(), XdrError> {
    let what = "the verifier";
    if length > MAX_AUTH_BYTES {
        return Err(XdrError::TooLong { what, length, limit: MAX_AUTH_BYTES });
    }
    decoder.skip(length.next_multiple_of(4), what)
}

#[cold]
fn decode_denied(decoder: &mut Decoder<'_>, state: u32) -> NfsError {
    if state != 1 {
        return XdrError::Undefined { what: "the reply's state", value: state }.into();
    }
    let mut denied = || -> Result<RpcError, XdrError> {
        match decoder.u32("the reason of denial")? {
            0 => Ok(RpcError::RpcMismatch { low: decoder.u32("low")?, high: decoder.u32("high")? }),
            1 => Ok(RpcError::Auth(AuthStatus(decoder.u32("the authentication's state")?))),
            value => Err(XdrError::Undefined { what: "the reason of denial", value }),
        }
    };
    denied().map_or_else(NfsError::from, NfsError::from)
}

#[cold]
fn decode_refused(decoder: &mut Decoder<'_>, state: u32) -> NfsError {
    let mut refused = || -> Result<RpcError, XdrError> {
        Ok(match state {
            1 => RpcError::ProgramUnavailable,
            2 => RpcError::ProgramMismatch { low: decoder.u32("low")?, high: decoder.u32("high")? },
            3 => RpcError::ProcedureUnavailable,
            4 => RpcError::GarbageArguments,
            5 => RpcError::System,
            value => return Err(XdrError::Undefined { what: "the call's acceptance", value }),
        })
    };
    refused().map_or_else(NfsError::from, NfsError::from)
}
