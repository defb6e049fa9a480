//! The fixed-size messages with which two ends authenticate: their bytes, and what the proofs
//! cover.
//!
//! Our own protocol: both ends prove that they know a key, and nothing is encrypted, because encryption would
//! be measured too; the proofs themselves come from the crate hmac.

use crate::ProbeError;
use crate::key::{Key, PROOF_BYTES};

/// The version of the protocol.
pub(crate) const VERSION: u16 = 1;
pub(crate) const GREETING_BYTES: usize = 44;
const MAGIC: [u8; 8] = *b"STMETNET";

/// The labels of the roles: a proof made in one role is invalid in the other, so it cannot be
/// reflected.
const LISTENER: &[u8] = b"stormeter net 1 listener";
const CLIENT: &[u8] = b"stormeter net 1 client";

/// The state in a greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Ready = 0,
    Busy = 1,
}

/// A greeting with this nonce.
pub(crate) fn greeting(state: State, nonce: &[u8; 32]) -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    let parts: [&[u8]; 4] = [&MAGIC, &VERSION.to_be_bytes(), &[state as u8, 0], nonce];
    for (to, from) in bytes.iter_mut().zip(parts.concat()) {
        *to = from;
    }
    bytes
}

/// The state in the other end's greeting; its nonce is only used as part of the whole message.
pub(crate) fn read_greeting(bytes: &[u8; GREETING_BYTES]) -> Result<State, ProbeError> {
    let [m0, m1, m2, m3, m4, m5, m6, m7, v0, v1, state, ..] = *bytes;
    if [m0, m1, m2, m3, m4, m5, m6, m7] != MAGIC {
        return Err(ProbeError::NotStormeter);
    }
    let theirs = u16::from_be_bytes([v0, v1]);
    if theirs != VERSION {
        return Err(ProbeError::Version { theirs, ours: VERSION });
    }
    match state {
        0 => Ok(State::Ready),
        1 => Ok(State::Busy),
        _ => Err(ProbeError::Protocol { what: "a greeting of unknown state" }),
    }
}

/// Both greetings of a connection, as they were sent.
pub(crate) struct Greetings {
    pub(crate) listener: [u8; GREETING_BYTES],
    pub(crate) client: [u8; GREETING_BYTES],
}

impl Greetings {
    pub(crate) fn client_proof(&self, key: &Key) -> [u8; PROOF_BYTES] {
        key.proof(&[CLIENT, &self.listener, &self.client])
    }

    pub(crate) fn listener_proof(&self, key: &Key) -> [u8; PROOF_BYTES] {
        key.proof(&[LISTENER, &self.listener, &self.client])
    }

    pub(crate) fn is_client_proof(&self, key: &Key, proof: &[u8; PROOF_BYTES]) -> bool {
        key.accepts(&[CLIENT, &self.listener, &self.client], proof)
    }

    pub(crate) fn is_listener_proof(&self, key: &Key, proof: &[u8; PROOF_BYTES]) -> bool {
        key.accepts(&[LISTENER, &self.listener, &self.client], proof)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_reads_back_and_another_version_is_named() {
        let mut bytes = greeting(State::Busy, &[7; 32]);
        assert_eq!(read_greeting(&bytes).unwrap(), State::Busy);
        assert_eq!(bytes[12..], [7; 32]);
        bytes[9] = 9;
        let error = read_greeting(&bytes).unwrap_err();
        assert!(matches!(error, ProbeError::Version { theirs: 9, ours: 1 }), "{error}");
        bytes[0] = b'H';
        assert!(matches!(read_greeting(&bytes), Err(ProbeError::NotStormeter)));
    }

    #[test]
    fn a_proof_is_for_one_role_and_one_pair_of_greetings() {
        let key = Key::random().unwrap();
        let of = |listener: u8, client: u8| Greetings {
            listener: greeting(State::Ready, &[listener; 32]),
            client: greeting(State::Ready, &[client; 32]),
        };
        let proof = of(1, 2).client_proof(&key);
        assert!(of(1, 2).is_client_proof(&key, &proof));
        assert!(!of(1, 2).is_listener_proof(&key, &proof));
        for other in [of(2, 1), of(1, 3), of(3, 2)] {
            assert!(!other.is_client_proof(&key, &proof));
        }
    }
}
