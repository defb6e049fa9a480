//! The operational keys (RFC 7143 §13): what we offer, and what follows from the target's answers.

use super::error::LoginError;
use super::negotiated::Negotiated;
use super::parameters::{Digest, Parameters};
use crate::text;

/// One negotiation, from offer to outcome.
#[derive(Debug, Clone)]
pub struct Negotiation {
    wished: Parameters,
    discovery: bool,
    /// Offered keys that wait for an answer.
    open: Vec<&'static str>,
    /// Settled keys, which may not be sent again.
    settled: Vec<&'static str>,
    /// Keys that the target offered and we answered, once each.
    answered: Vec<String>,
    outcome: Negotiated,
}

/// The keys to offer, in order; those after `MaxRecvDataSegmentLength` only in sessions that move
/// data.
const KEYS: [&str; 14] = [
    "HeaderDigest",
    "DataDigest",
    "DefaultTime2Wait",
    "DefaultTime2Retain",
    "ErrorRecoveryLevel",
    "MaxRecvDataSegmentLength",
    "InitialR2T",
    "ImmediateData",
    "FirstBurstLength",
    "MaxBurstLength",
    "MaxOutstandingR2T",
    "MaxConnections",
    "DataPDUInOrder",
    "DataSequenceInOrder",
];
const DISCOVERY_KEYS: usize = 6;

/// The most keys from the target that are answered: no target has this many.
const MAX_FOREIGN_KEYS: usize = 64;

impl Negotiation {
    /// A negotiation that starts from these parameters.
    pub fn new(wished: Parameters, discovery: bool) -> Self {
        let wished = wished.within_range();
        let outcome =
            Negotiated { max_receive_bytes: wished.max_receive_bytes, ..Negotiated::default() };
        Self {
            wished,
            discovery,
            open: Vec::new(),
            settled: Vec::new(),
            answered: Vec::new(),
            outcome,
        }
    }

    /// Appends the offer.
    pub fn offer(&mut self, out: &mut Vec<u8>) {
        let keys = if self.discovery { KEYS.get(..DISCOVERY_KEYS) } else { Some(&KEYS[..]) };
        for &key in keys.unwrap_or_default() {
            text::put(out, key, &self.offered(key));
            // A declaration gets no answer.
            if key != "MaxRecvDataSegmentLength" {
                self.open.push(key);
            }
        }
    }

    fn offered(&self, key: &str) -> String {
        let wished = &self.wished;
        let yes = |truth: bool| if truth { "Yes" } else { "No" }.to_owned();
        let list =
            |digests: &[Digest]| digests.iter().map(|one| one.name()).collect::<Vec<_>>().join(",");
        match key {
            "HeaderDigest" => list(&wished.header_digest),
            "DataDigest" => list(&wished.data_digest),
            "DefaultTime2Wait" => wished.time2wait_s.to_string(),
            "DefaultTime2Retain" => wished.time2retain_s.to_string(),
            "ErrorRecoveryLevel" => "0".to_owned(),
            "MaxRecvDataSegmentLength" => wished.max_receive_bytes.to_string(),
            "InitialR2T" => yes(wished.initial_r2t),
            "ImmediateData" => yes(wished.immediate_data),
            "FirstBurstLength" => wished.first_burst_bytes.to_string(),
            "MaxBurstLength" => wished.max_burst_bytes.to_string(),
            "MaxOutstandingR2T" => wished.max_outstanding_r2t.to_string(),
            "DataPDUInOrder" => yes(wished.data_pdu_in_order),
            "DataSequenceInOrder" => yes(wished.data_sequence_in_order),
            _ => "1".to_owned(),
        }
    }

    /// Handles a pair from the target; appends the answer to `reply` if one is due.
    ///
    /// # Errors
    /// An answer that violates the rules of negotiation.
    pub fn take(&mut self, key: &str, value: &str, reply: &mut Vec<u8>) -> Result<(), LoginError> {
        match key {
            "TargetAlias" => self.outcome.alias = Some(text::excerpt(value.as_bytes())),
            "TargetPortalGroupTag" => {
                self.outcome.portal_group_tag = Some(text::number(key, value, 0..=65_535)? as u16);
            }
            "MaxRecvDataSegmentLength" => {
                self.outcome.max_send_bytes = text::number(key, value, 512..=(1 << 24) - 1)?;
            }
            // Redirection, which the status reports.
            "TargetAddress" | "TargetName" => {}
            _ if KEYS.contains(&key) => self.answer(key, value)?,
            _ if matches!(value, "NotUnderstood" | "Irrelevant" | "Reject") => {}
            _ => self.foreign(key, reply)?,
        }
        Ok(())
    }

    /// A key that the target offers. Markers (RFC 3720 only) are declined, other keys are unknown.
    fn foreign(&mut self, key: &str, reply: &mut Vec<u8>) -> Result<(), LoginError> {
        if self.answered.iter().any(|one| one == key) || self.answered.len() >= MAX_FOREIGN_KEYS {
            return Err(LoginError::Twice { key: text::excerpt(key.as_bytes()) });
        }
        self.answered.push(key.to_owned());
        let answer = if matches!(key, "IFMarker" | "OFMarker") { "No" } else { "NotUnderstood" };
        text::put(reply, key, answer);
        Ok(())
    }

    fn answer(&mut self, key: &str, value: &str) -> Result<(), LoginError> {
        let Some(at) = self.open.iter().position(|&open| open == key) else {
            let key = text::excerpt(key.as_bytes());
            return if self.settled.iter().any(|&one| one == key) {
                Err(LoginError::Twice { key })
            } else {
                // Sent before we offered it, or not for this type of session.
                Err(LoginError::OutOfPlace { what: "an operational key before our offer" })
            };
        };
        let settled = self.open.remove(at);
        self.settled.push(settled);
        if matches!(value, "NotUnderstood" | "Irrelevant" | "Reject") {
            return self.without_answer(settled, value);
        }
        let wished = self.wished.clone();
        let outcome = &mut self.outcome;
        match settled {
            "HeaderDigest" => outcome.digests.header = digest(key, value, &wished.header_digest)?,
            "DataDigest" => outcome.digests.data = digest(key, value, &wished.data_digest)?,
            // The longer of two times to wait, the shorter of two times to retain.
            "DefaultTime2Wait" => {
                outcome.time2wait_s =
                    within(key, value, wished.time2wait_s..=3600, wished.time2wait_s)?;
            }
            "DefaultTime2Retain" => {
                outcome.time2retain_s = least(key, value, 0, wished.time2retain_s)?
            }
            "ErrorRecoveryLevel" => outcome.error_recovery_level = least(key, value, 0, 0)?,
            // Yes if either side says so.
            "InitialR2T" => outcome.initial_r2t = either(key, value, wished.initial_r2t)?,
            "DataPDUInOrder" => {
                outcome.data_pdu_in_order = either(key, value, wished.data_pdu_in_order)?;
            }
            "DataSequenceInOrder" => {
                outcome.data_sequence_in_order = either(key, value, wished.data_sequence_in_order)?;
            }
            // Yes if both sides say so.
            "ImmediateData" => outcome.immediate_data = both(key, value, wished.immediate_data)?,
            "FirstBurstLength" => {
                outcome.first_burst_bytes = least(key, value, 512, wished.first_burst_bytes)?;
            }
            "MaxBurstLength" => {
                outcome.max_burst_bytes = least(key, value, 512, wished.max_burst_bytes)?;
            }
            "MaxOutstandingR2T" => {
                outcome.max_outstanding_r2t = least(key, value, 1, wished.max_outstanding_r2t)?;
            }
            _ => outcome.max_connections = least(key, value, 1, 1)?,
        }
        Ok(())
    }

    /// A key without a usable answer: the conservative value applies, unless we insist on a digest.
    fn without_answer(&mut self, key: &'static str, instead: &str) -> Result<(), LoginError> {
        let insisted = match key {
            "HeaderDigest" => !self.wished.header_digest.contains(&Digest::None),
            "DataDigest" => !self.wished.data_digest.contains(&Digest::None),
            _ => false,
        };
        if insisted {
            return Err(LoginError::Answer {
                key: key.to_owned(),
                found: instead.to_owned(),
                offered: self.offered(key),
            });
        }
        self.outcome.unanswered.push((key.to_owned(), instead.to_owned()));
        Ok(())
    }

    /// The result, once the target has sent everything.
    ///
    /// # Errors
    /// A digest that we insist on was not answered by the target.
    pub fn finish(mut self) -> Result<Negotiated, LoginError> {
        for key in std::mem::take(&mut self.open) {
            self.without_answer(key, "-")?;
        }
        let mut outcome = self.outcome;
        // A conservative value may still exceed what we requested.
        outcome.max_burst_bytes = outcome.max_burst_bytes.min(self.wished.max_burst_bytes);
        outcome.first_burst_bytes = outcome
            .first_burst_bytes
            .min(self.wished.first_burst_bytes)
            .min(outcome.max_burst_bytes);
        Ok(outcome)
    }
}

fn digest(key: &str, value: &str, offered: &[Digest]) -> Result<bool, LoginError> {
    match offered.iter().find(|one| one.name() == value) {
        Some(chosen) => Ok(*chosen == Digest::Crc32c),
        None => {
            let names: Vec<_> = offered.iter().map(|one| one.name()).collect();
            Err(refused(key, value, names.join(",")))
        }
    }
}

fn least(key: &str, value: &str, low: u32, offered: u32) -> Result<u32, LoginError> {
    within(key, value, low..=offered, offered)
}

fn within(
    key: &str,
    value: &str,
    range: std::ops::RangeInclusive<u32>,
    offered: u32,
) -> Result<u32, LoginError> {
    let number = text::number(key, value, 0..=u32::MAX)?;
    if range.contains(&number) { Ok(number) } else { Err(refused(key, value, offered.to_string())) }
}

fn either(key: &str, value: &str, offered: bool) -> Result<bool, LoginError> {
    match (offered, text::yes(key, value)?) {
        (true, false) => Err(refused(key, value, "Yes".to_owned())),
        (_, answer) => Ok(answer),
    }
}

fn both(key: &str, value: &str, offered: bool) -> Result<bool, LoginError> {
    match (offered, text::yes(key, value)?) {
        (false, true) => Err(refused(key, value, "No".to_owned())),
        (_, answer) => Ok(answer),
    }
}

fn refused(key: &str, value: &str, offered: String) -> LoginError {
    LoginError::Answer { key: key.to_owned(), found: text::excerpt(value.as_bytes()), offered }
}
