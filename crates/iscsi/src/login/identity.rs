//! Who logs in: what an initiator says of itself (RFC 7143 §4.2.7).

use super::isid::Isid;
use crate::chap::Credentials;

/// The initiator's identity.
#[derive(Debug, Clone)]
pub struct Identity {
    /// InitiatorName.
    pub initiator_name: String,
    /// Our part of the session identifier.
    pub isid: Isid,
    /// Our CHAP credentials, if any.
    pub chap: Option<Credentials>,
}
