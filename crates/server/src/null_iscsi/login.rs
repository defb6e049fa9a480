//! Login: the negotiation between initiator and target (RFC 7143 sections 6 and 13).

use super::pdu::MAX_SEGMENT_BYTES;

/// FirstBurstLength: the most unsolicited data, in bytes.
const FIRST_BURST_BYTES: u32 = 256 << 10;
/// MaxBurstLength: the most data per request to transfer, in bytes.
const MAX_BURST_BYTES: u32 = 1 << 20;
/// What an initiator accepts in one message by default (section 13.12), in bytes.
const DEFAULT_SEGMENT_BYTES: u32 = 8192;
/// The default length of a burst (section 13.13), in bytes.
const DEFAULT_BURST_BYTES: u32 = 256 << 10;
/// The smallest negotiable length (section 13.12).
const MIN_LENGTH_BYTES: u32 = 512;

/// The negotiated values that concern the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Agreement {
    /// The session is only for discovery.
    pub(super) is_discovery: bool,
    /// The most data in one message to the initiator, in bytes.
    pub(super) segment_bytes: u32,
    /// The most data in one sequence, in bytes.
    pub(super) burst_bytes: u32,
    /// The initiator insists on authentication, which is not supported here.
    pub(super) is_refused: bool,
    /// Whether our own limits have been declared.
    is_declared: bool,
}

impl Default for Agreement {
    fn default() -> Self {
        Self {
            is_discovery: false,
            segment_bytes: DEFAULT_SEGMENT_BYTES,
            burst_bytes: DEFAULT_BURST_BYTES,
            is_refused: false,
            is_declared: false,
        }
    }
}

/// The pairs of a text: `key=value`, each ended by a zero byte. Anything else is skipped.
pub(super) fn pairs(text: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    text.split(|byte| *byte == 0)
        .filter_map(|pair| std::str::from_utf8(pair).ok())
        .filter_map(|pair| pair.split_once('='))
}

/// Appends a pair to a text.
pub(super) fn put_pair(to: &mut Vec<u8>, key: &str, value: &str) {
    for part in [key, "=", value, "\0"] {
        to.extend_from_slice(part.as_bytes());
    }
}

impl Agreement {
    /// Answers an initiator's proposal. `operational` is whether this is the stage in which limits
    /// are negotiated.
    pub(super) fn negotiate(&mut self, proposal: &[u8], operational: bool) -> Vec<u8> {
        let mut answer = Vec::new();
        for (key, value) in pairs(proposal) {
            if let Some(agreed) = self.agree(key, value) {
                put_pair(&mut answer, key, &agreed);
            }
        }
        if operational && !self.is_declared {
            self.is_declared = true;
            put_pair(&mut answer, "MaxRecvDataSegmentLength", &MAX_SEGMENT_BYTES.to_string());
            if !self.is_discovery {
                put_pair(&mut answer, "TargetPortalGroupTag", "1");
            }
        }
        answer
    }

    /// The answer to a key; `None` for mere declarations.
    fn agree(&mut self, key: &str, value: &str) -> Option<String> {
        let number = value.parse().unwrap_or(0_u32);
        let least = |ours: u32| ours.min(number).max(MIN_LENGTH_BYTES).to_string();
        let agreed = match key {
            "InitiatorName" | "InitiatorAlias" | "TargetName" => return None,
            "SessionType" => {
                self.is_discovery = value == "Discovery";
                return None;
            }
            "MaxRecvDataSegmentLength" => {
                self.segment_bytes = number.clamp(MIN_LENGTH_BYTES, 0x00ff_ffff);
                return None;
            }
            "AuthMethod" => {
                self.is_refused = !value.split(',').any(|method| method == "None");
                return Some(if self.is_refused { "Reject" } else { "None" }.into());
            }
            // Digests would cost more than the rest of this target; the list must contain None.
            "HeaderDigest" | "DataDigest" => "None".into(),
            // Yes if either side wants it.
            "InitialR2T" => value.into(),
            // Yes if both sides support it.
            "ImmediateData" => value.into(),
            "MaxBurstLength" => {
                let agreed = least(MAX_BURST_BYTES);
                self.burst_bytes = agreed.parse().unwrap_or(DEFAULT_BURST_BYTES);
                agreed
            }
            "FirstBurstLength" => least(FIRST_BURST_BYTES),
            "MaxConnections" | "MaxOutstandingR2T" => "1".into(),
            "DefaultTime2Wait" => value.into(),
            "DefaultTime2Retain" | "ErrorRecoveryLevel" => "0".into(),
            "DataPDUInOrder" | "DataSequenceInOrder" => "Yes".into(),
            "IFMarker" | "OFMarker" => "No".into(),
            _ => "NotUnderstood".into(),
        };
        Some(agreed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(agreement: &mut Agreement, proposal: &str, operational: bool) -> Vec<String> {
        let text = proposal.replace(' ', "\0");
        let answer = agreement.negotiate(text.as_bytes(), operational);
        pairs(&answer).map(|(key, value)| format!("{key}={value}")).collect()
    }

    #[test]
    fn limits_are_the_smaller_ones() {
        let mut agreement = Agreement::default();
        let proposal = "MaxBurstLength=16776192 FirstBurstLength=65536 InitialR2T=No \
                        MaxRecvDataSegmentLength=131072 HeaderDigest=CRC32C,None X-odd=1";
        let found = answers(&mut agreement, proposal, true);
        assert_eq!(
            found,
            [
                "MaxBurstLength=1048576",
                "FirstBurstLength=65536",
                "InitialR2T=No",
                "HeaderDigest=None",
                "X-odd=NotUnderstood",
                "MaxRecvDataSegmentLength=262144",
                "TargetPortalGroupTag=1",
            ]
        );
        assert_eq!((agreement.segment_bytes, agreement.burst_bytes), (131_072, 1 << 20));
        assert!(answers(&mut agreement, "", true).is_empty(), "limits are declared once");
    }

    #[test]
    fn whoever_insists_on_a_password_is_refused() {
        let mut agreement = Agreement::default();
        assert_eq!(answers(&mut agreement, "AuthMethod=CHAP,None", false), ["AuthMethod=None"]);
        assert!(!agreement.is_refused);
        answers(&mut agreement, "AuthMethod=CHAP", false);
        assert!(agreement.is_refused);
    }

    #[test]
    fn absurd_limits_do_not_get_through() {
        let mut agreement = Agreement::default();
        answers(&mut agreement, "MaxRecvDataSegmentLength=0 MaxBurstLength=1", true);
        assert_eq!((agreement.segment_bytes, agreement.burst_bytes), (512, 512));
    }
}
