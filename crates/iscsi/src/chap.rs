//! CHAP (RFC 1994, and RFC 7143 §12.1.3 for its encoding in text keys): proves knowledge of a
//! secret without sending it.

use subtle::ConstantTimeEq;

use crate::binary;
use crate::text;
use stormeter_wire::Secret;

/// The longest challenge or response that is accepted, in bytes (RFC 7143 §12.1.3).
pub const MAX_BINARY_BYTES: usize = 1024;

/// Length of our challenges in bytes: that of the strongest hash.
pub const CHALLENGE_BYTES: usize = 32;

/// A hash that both ends compute (IANA, PPP Authentication Algorithms).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Algorithm {
    /// MD5: the only one that every target has.
    Md5 = 5,
    /// SHA-1.
    Sha1 = 6,
    /// SHA-256.
    Sha256 = 7,
    /// SHA3-256.
    Sha3 = 8,
}

impl Algorithm {
    /// All algorithms, in the order in which they are offered by default: strongest first, because a
    /// target takes the first that it supports. SHA-256 comes last nevertheless: tgtd takes its
    /// number for SHA-1 and then refuses every response, while it works with MD5 when that precedes
    /// it.
    pub const ALL: [Self; 4] = [Self::Sha3, Self::Sha1, Self::Md5, Self::Sha256];

    /// Its common name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA-1",
            Self::Sha256 => "SHA-256",
            Self::Sha3 => "SHA3-256",
        }
    }

    /// The response: hash of identifier, secret and challenge (RFC 1994 §4.1).
    pub fn response(self, identifier: u8, secret: &Secret, challenge: &[u8]) -> Vec<u8> {
        use sha2::Digest;
        fn hash<D: Digest>(identifier: u8, secret: &Secret, challenge: &[u8]) -> Vec<u8> {
            let hash = D::new().chain_update([identifier]).chain_update(secret.expose());
            hash.chain_update(challenge).finalize().to_vec()
        }
        match self {
            Self::Md5 => hash::<md5::Md5>(identifier, secret, challenge),
            Self::Sha1 => hash::<sha1::Sha1>(identifier, secret, challenge),
            Self::Sha256 => hash::<sha2::Sha256>(identifier, secret, challenge),
            Self::Sha3 => hash::<sha3::Sha3_256>(identifier, secret, challenge),
        }
    }
}

/// Our identity, and the one we require of the target.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// Our user name at the target.
    pub name: String,
    /// Our secret.
    pub secret: Secret,
    /// Algorithms to offer, in order of preference.
    pub algorithms: Vec<Algorithm>,
    /// How the target must authenticate itself, if it must.
    pub mutual: Option<Mutual>,
}

/// How the target authenticates itself.
#[derive(Debug, Clone)]
pub struct Mutual {
    /// The name it must send; `None` accepts any.
    pub name: Option<String>,
    /// The secret that it must know; different from ours (RFC 7143 §9.2.1).
    pub secret: Secret,
}

/// Why CHAP failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChapError {
    /// The same secret in both directions.
    #[error(
        "the secrets of both directions are the same, so that a target could answer with what it \
         heard: give the target a secret of its own"
    )]
    SameSecret,
    /// The target's answer lacks a required key.
    #[error("the target's CHAP lacks {key}: check its CHAP settings")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// An algorithm that was not offered.
    #[error(
        "the target wants CHAP algorithm {found}, offered were {offered}: allow it or set another on the target"
    )]
    Algorithm {
        /// The algorithm as the target wrote it.
        found: String,
        /// The algorithms that we offered.
        offered: String,
    },
    /// An invalid value.
    #[error("the target's {key} is not a value that CHAP allows: check its CHAP settings")]
    BadValue {
        /// The key.
        key: &'static str,
    },
    /// Our own challenge came back.
    #[error(
        "the target sent a challenge of ours back, as someone would who wants us to answer it for \
         him: make sure that this is the target"
    )]
    Reflected,
    /// The target does not know the secret.
    #[error(
        "the target does not know the secret that it should prove itself with: check mutual CHAP's \
         secret on both sides, and that this is the target"
    )]
    NotProven,
    /// The target sent another name.
    #[error(
        "the target calls itself \"{found}\", expected was \"{expected}\": check mutual CHAP's name"
    )]
    Name {
        /// The name that it sent.
        found: String,
        /// The expected name.
        expected: String,
    },
}

/// Our most recent challenges, to recognize one that is sent back.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    challenges: [Vec<u8>; 8],
    next: usize,
}

impl Sent {
    fn remember(&mut self, challenge: &[u8]) {
        if let Some(place) = self.challenges.get_mut(self.next) {
            *place = challenge.to_vec();
        }
        self.next = (self.next + 1) % self.challenges.len();
    }

    fn knows(&self, challenge: &[u8]) -> bool {
        self.challenges.iter().any(|one| one == challenge)
    }
}

/// What the target's second answer is checked against.
#[derive(Debug, Clone)]
pub struct Expectation {
    response: Vec<u8>,
    ours: Vec<u8>,
    name: Option<String>,
}

/// The list of algorithms for CHAP_A.
pub fn offer(algorithms: &[Algorithm]) -> String {
    let numbers: Vec<String> = algorithms.iter().map(|one| (*one as u8).to_string()).collect();
    numbers.join(",")
}

/// Answers the target's CHAP_A, CHAP_I and CHAP_C: appends CHAP_N and CHAP_R, and a challenge of
/// ours if the target has to authenticate itself. Returns the algorithm and the expected proof.
///
/// # Errors
/// A missing key, an invalid value, a reflected challenge.
pub fn answer<'a>(
    credentials: &Credentials,
    find: impl Fn(&str) -> Option<&'a str>,
    sent: &mut Sent,
    random: &mut dyn FnMut() -> u64,
    text: &mut Vec<u8>,
) -> Result<(Algorithm, Option<Expectation>), ChapError> {
    let wanted = find("CHAP_A").ok_or(ChapError::Missing { key: "CHAP_A" })?;
    let algorithm =
        *credentials.algorithms.iter().find(|one| (**one as u8).to_string() == wanted).ok_or_else(
            || ChapError::Algorithm {
                found: text::excerpt(wanted.as_bytes()),
                offered: offer(&credentials.algorithms),
            },
        )?;
    let identifier = find("CHAP_I").ok_or(ChapError::Missing { key: "CHAP_I" })?;
    let identifier = text::number("CHAP_I", identifier, 0..=255)
        .map_err(|_| ChapError::BadValue { key: "CHAP_I" })? as u8;
    let challenge = find("CHAP_C").ok_or(ChapError::Missing { key: "CHAP_C" })?;
    let challenge = binary::decode(challenge, MAX_BINARY_BYTES)
        .filter(|challenge| !challenge.is_empty())
        .ok_or(ChapError::BadValue { key: "CHAP_C" })?;
    if sent.knows(&challenge) {
        return Err(ChapError::Reflected);
    }
    let ours = algorithm.response(identifier, &credentials.secret, &challenge);
    text::put(text, "CHAP_N", &credentials.name);
    text::put(text, "CHAP_R", &binary::encode(&ours));
    let Some(mutual) = &credentials.mutual else { return Ok((algorithm, None)) };
    if bool::from(mutual.secret.expose().ct_eq(credentials.secret.expose())) {
        return Err(ChapError::SameSecret);
    }
    let identifier = random() as u8;
    let back: Vec<u8> = (0..CHALLENGE_BYTES / 8).flat_map(|_| random().to_be_bytes()).collect();
    sent.remember(&back);
    text::put(text, "CHAP_I", &identifier.to_string());
    text::put(text, "CHAP_C", &binary::encode(&back));
    let response = algorithm.response(identifier, &mutual.secret, &back);
    let name = mutual.name.clone();
    Ok((algorithm, Some(Expectation { response, ours, name })))
}

/// Checks the target's CHAP_N and CHAP_R.
///
/// # Errors
/// A missing key, another name, a wrong response.
pub fn verify<'a>(
    expectation: &Expectation,
    find: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), ChapError> {
    let response = find("CHAP_R").ok_or(ChapError::Missing { key: "CHAP_R" })?;
    let response =
        binary::decode(response, MAX_BINARY_BYTES).ok_or(ChapError::BadValue { key: "CHAP_R" })?;
    if response == expectation.ours {
        return Err(ChapError::Reflected);
    }
    if !bool::from(response.ct_eq(&expectation.response)) {
        return Err(ChapError::NotProven);
    }
    let found = find("CHAP_N").ok_or(ChapError::Missing { key: "CHAP_N" })?;
    match &expectation.name {
        Some(expected) if expected != found => Err(ChapError::Name {
            found: text::excerpt(found.as_bytes()),
            expected: expected.clone(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "chap_tests.rs"]
mod tests;
