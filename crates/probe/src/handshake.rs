//! The handshake that precedes everything: without the key a client gets no further, and costs 76
//! bytes and a bounded time.

use std::time::Instant;

use crate::ProbeError;
use crate::greeting::{GREETING_BYTES, Greetings, State, VERSION, greeting, read_greeting};
use crate::key::{Key, PROOF_BYTES, random_bytes};
use crate::limits::Limits;
use crate::link::{Link, Wait};

const ACCEPTED: u8 = 0;
const OTHER_VERSION: u8 = 1;
const WRONG_PROOF: u8 = 2;

fn wait(limits: &Limits) -> Wait {
    Wait { during: "exchanging greetings", limit: limits.handshake, since: Some(Instant::now()) }
}

/// The listener's side.
pub(crate) fn accept(link: &Link, key: &Key, limits: &Limits) -> Result<(), ProbeError> {
    let wait = wait(limits);
    let listener = greeting(State::Ready, &random_bytes()?);
    link.write(&listener, wait)?;
    let mut client = [0; GREETING_BYTES];
    link.read(&mut client, wait)?;
    if let Err(error) = read_greeting(&client) {
        if matches!(error, ProbeError::Version { .. }) {
            link.write(&verdict(OTHER_VERSION, &[0; PROOF_BYTES]), wait)?;
        }
        return Err(error);
    }
    let mut proof = [0; PROOF_BYTES];
    link.read(&mut proof, wait)?;
    let greetings = Greetings { listener, client };
    if !greetings.is_client_proof(key, &proof) {
        link.write(&verdict(WRONG_PROOF, &[0; PROOF_BYTES]), wait)?;
        return Err(ProbeError::Unproven);
    }
    link.write(&verdict(ACCEPTED, &greetings.listener_proof(key)), wait)
}

/// The answer to a connection above the limit.
pub(crate) fn turn_away(link: &Link, limits: &Limits) -> Result<(), ProbeError> {
    link.write(&greeting(State::Busy, &[0; 32]), wait(limits))
}

/// The client's side.
pub(crate) fn introduce(link: &Link, key: &Key, limits: &Limits) -> Result<(), ProbeError> {
    let wait = wait(limits);
    let mut listener = [0; GREETING_BYTES];
    link.read(&mut listener, wait)?;
    if read_greeting(&listener)? == State::Busy {
        return Err(ProbeError::Busy);
    }
    let client = greeting(State::Ready, &random_bytes()?);
    let greetings = Greetings { listener, client };
    // In one write, so that a listener that reads both messages gets both.
    link.write(&[&client[..], &greetings.client_proof(key)].concat(), wait)?;
    let mut answer = [0; 1 + PROOF_BYTES];
    link.read(&mut answer, wait)?;
    let [verdict, proof @ ..] = answer;
    match verdict {
        ACCEPTED if greetings.is_listener_proof(key, &proof) => Ok(()),
        ACCEPTED => Err(ProbeError::Unproven),
        // Its greeting had our version, so only its verdict can say which one it wants.
        OTHER_VERSION => {
            Err(ProbeError::Protocol { what: "it refuses the version it greets with" })
        }
        WRONG_PROOF => Err(ProbeError::KeyRefused),
        _ => Err(ProbeError::Protocol { what: "an unknown verdict" }),
    }
}

fn verdict(code: u8, proof: &[u8; PROOF_BYTES]) -> Vec<u8> {
    [&[code][..], proof].concat()
}

// A change of the protocol must change the labels of the proofs too.
const _: () = assert!(VERSION == 1);
