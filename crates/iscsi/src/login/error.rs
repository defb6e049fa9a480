//! Why a login failed, and what to do about it.

use super::identity::Identity;
use crate::chap::{ChapError, Credentials};
use crate::text::TextError;

/// A login that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// Status class 1: the target has moved.
    #[error("the target is {} at {address}: use that address", if *.permanent { "now" } else { "for now" })]
    Redirected {
        /// Host and port as the target wrote them, without the portal group.
        address: String,
        /// Whether the move is permanent.
        permanent: bool,
    },
    /// Status class 1 without an address.
    #[error("the target has moved and does not say where: run a discovery and use what it finds")]
    RedirectedNowhere,
    /// Status 0201 when no user was given.
    #[error(
        "the target wants CHAP, and no user was given: give a user and a password, or allow this initiator on the target without CHAP"
    )]
    CredentialsWanted,
    /// Status 0201.
    #[error("the target does not accept user {user} with this password: {advice}")]
    AuthenticationFailed {
        /// The CHAP user name.
        user: String,
        /// What to do.
        advice: &'static str,
    },
    /// Status 0202.
    #[error("the target does not allow this initiator: add {initiator} to its access list")]
    NotAllowed {
        /// Our initiator name.
        initiator: String,
    },
    /// Status 0203.
    #[error("no target named {target} on this portal: check its name, or run a discovery")]
    NotFound {
        /// The requested name.
        target: String,
    },
    /// Status 0204.
    #[error("the target {target} was removed and no new address is known: run a discovery")]
    Removed {
        /// The requested name.
        target: String,
    },
    /// Status 0206.
    #[error("the target has too many connections: close other sessions, or raise its limit")]
    TooManyConnections,
    /// Any other status of class 2: the target rejects something we sent.
    #[error("the target refuses the login: {reason} (status {class:#04x}{detail:02x}); {advice}")]
    Refused {
        /// The reason in words.
        reason: &'static str,
        /// Status class.
        class: u8,
        /// Status detail.
        detail: u8,
        /// What to do.
        advice: &'static str,
    },
    /// Status 0301.
    #[error("the target is not in service at the moment: try again later, and look at its log")]
    Unavailable,
    /// Status 0302.
    #[error("the target is out of resources: close other sessions, or try again later")]
    OutOfResources,
    /// Any other status of class 3: the target failed.
    #[error("the target failed (status {class:#04x}{detail:02x}): look at its log")]
    TargetFailed {
        /// Status class.
        class: u8,
        /// Status detail.
        detail: u8,
    },
    /// CHAP failed.
    #[error(transparent)]
    Chap(#[from] ChapError),
    /// Invalid text keys.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The target requires another authentication method.
    #[error(
        "the target wants AuthMethod={found}, offered was {offered}: give a CHAP name and secret if it wants them, or change its settings"
    )]
    Method {
        /// The target's method.
        found: String,
        /// The methods that we offered.
        offered: &'static str,
    },
    /// An answer that violates the rules of negotiation.
    #[error(
        "{key}: the target answered {found} to our {offered}, which is not what was proposed: change that setting of the target, or propose something else"
    )]
    Answer {
        /// The key.
        key: String,
        /// The target's value.
        found: String,
        /// Our value.
        offered: String,
    },
    /// A key was sent twice.
    #[error("{key} came twice: the target negotiates what is settled; look for an update of it")]
    Twice {
        /// The key.
        key: String,
    },
    /// A login response that does not fit the state of the login.
    #[error(
        "the target's login response is out of place ({what}): look for an update of the target"
    )]
    OutOfPlace {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The login does not come to an end.
    #[error(
        "the login did not finish after {rounds} answers: the target does not reach a decision"
    )]
    Endless {
        /// Number of answers so far.
        rounds: u32,
    },
}

impl LoginError {
    /// The error for a status other than success (RFC 7143 §11.13.5).
    pub(crate) fn of_status(
        class: u8,
        detail: u8,
        identity: &Identity,
        target: Option<&str>,
        address: Option<&str>,
    ) -> Self {
        let target = target.unwrap_or("of that name").to_owned();
        let refused = |reason, advice| Self::Refused { reason, class, detail, advice };
        match (class, detail) {
            (1, _) => match address {
                Some(address) => {
                    let address = address.rsplit_once(',').map_or(address, |halves| halves.0);
                    Self::Redirected { address: address.to_owned(), permanent: detail == 2 }
                }
                None => Self::RedirectedNowhere,
            },
            (2, 1) => Self::not_authenticated(identity.chap.as_ref()),
            (2, 2) => Self::NotAllowed { initiator: identity.initiator_name.clone() },
            (2, 3) => Self::NotFound { target },
            (2, 4) => Self::Removed { target },
            (2, 5) => refused("version not supported", "look for an update of the target"),
            (2, 6) => Self::TooManyConnections,
            (2, 7) => refused("a parameter is missing", "check initiator's and target's names"),
            (2, 8) => refused("this connection cannot join the session", "try again"),
            (2, 9) => refused("session type not supported", "use another portal of the target"),
            (2, 10) => refused("session does not exist", "try again"),
            (2, 11) => {
                refused("request not valid during login", "look for an update of the target")
            }
            (2, _) => refused("initiator error", "look at the target's log for the reason"),
            (3, 1) => Self::Unavailable,
            (3, 2) => Self::OutOfResources,
            _ => Self::TargetFailed { class, detail },
        }
    }

    fn not_authenticated(credentials: Option<&Credentials>) -> Self {
        let Some(Credentials { name, mutual, .. }) = credentials else {
            return Self::CredentialsWanted;
        };
        let advice = match mutual {
            None => "check CHAP's user and password on both sides",
            // Targets without CHAP refuse us with the same status.
            Some(_) => {
                "check CHAP's user and password on both sides, and that the target has a password \
                 of its own to prove itself with"
            }
        };
        Self::AuthenticationFailed { user: name.clone(), advice }
    }
}
