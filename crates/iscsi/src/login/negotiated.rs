//! The result of a login, with every key, for the session and for the report.

use crate::chap::Algorithm;
use crate::pdu::Digests;

/// The rules of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// HeaderDigest and DataDigest.
    pub digests: Digests,
    /// InitialR2T.
    pub initial_r2t: bool,
    /// ImmediateData.
    pub immediate_data: bool,
    /// FirstBurstLength in bytes, never more than MaxBurstLength.
    pub first_burst_bytes: u32,
    /// MaxBurstLength in bytes.
    pub max_burst_bytes: u32,
    /// Our MaxRecvDataSegmentLength in bytes.
    pub max_receive_bytes: u32,
    /// The target's MaxRecvDataSegmentLength in bytes.
    pub max_send_bytes: u32,
    /// MaxOutstandingR2T.
    pub max_outstanding_r2t: u32,
    /// MaxConnections: we use one.
    pub max_connections: u32,
    /// ErrorRecoveryLevel: we use 0.
    pub error_recovery_level: u32,
    /// DefaultTime2Wait in seconds.
    pub time2wait_s: u32,
    /// DefaultTime2Retain in seconds.
    pub time2retain_s: u32,
    /// DataPDUInOrder.
    pub data_pdu_in_order: bool,
    /// DataSequenceInOrder.
    pub data_sequence_in_order: bool,
    /// TargetPortalGroupTag.
    pub portal_group_tag: Option<u16>,
    /// TargetAlias.
    pub alias: Option<String>,
    /// The target's session handle.
    pub tsih: u16,
    /// The CHAP algorithm with which we authenticated, if any.
    pub chap: Option<Algorithm>,
    /// Whether the target authenticated itself too.
    pub mutual_chap: bool,
    /// Keys that the target did not answer, or answered with NotUnderstood, Irrelevant or Reject,
    /// and with which of these (`-` for no answer).
    pub unanswered: Vec<(String, String)>,
}

impl Default for Negotiated {
    /// The values before any negotiation, and for keys that a target leaves unanswered: the
    /// conservative choice of each (RFC 7143 §13 where its default is as conservative).
    fn default() -> Self {
        Self {
            digests: Digests::default(),
            initial_r2t: true,
            immediate_data: false,
            first_burst_bytes: 65_536,
            max_burst_bytes: 262_144,
            max_receive_bytes: super::DEFAULT_SEGMENT_BYTES,
            max_send_bytes: super::DEFAULT_SEGMENT_BYTES,
            max_outstanding_r2t: 1,
            max_connections: 1,
            error_recovery_level: 0,
            time2wait_s: 2,
            time2retain_s: 20,
            data_pdu_in_order: true,
            data_sequence_in_order: true,
            portal_group_tag: None,
            alias: None,
            tsih: 0,
            chap: None,
            mutual_chap: false,
            unanswered: Vec::new(),
        }
    }
}

impl Negotiated {
    /// Each key and its value in iSCSI notation, for a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let yes = |truth: bool| if truth { "Yes" } else { "No" }.to_owned();
        let digest = |on: bool| if on { "CRC32C" } else { "None" }.to_owned();
        let method = match (self.chap, self.mutual_chap) {
            (None, _) => "None".to_owned(),
            (Some(algorithm), false) => format!("CHAP ({})", algorithm.name()),
            (Some(algorithm), true) => format!("CHAP ({}, mutual)", algorithm.name()),
        };
        vec![
            ("AuthMethod", method),
            ("HeaderDigest", digest(self.digests.header)),
            ("DataDigest", digest(self.digests.data)),
            ("InitialR2T", yes(self.initial_r2t)),
            ("ImmediateData", yes(self.immediate_data)),
            ("FirstBurstLength", self.first_burst_bytes.to_string()),
            ("MaxBurstLength", self.max_burst_bytes.to_string()),
            ("MaxRecvDataSegmentLength (ours)", self.max_receive_bytes.to_string()),
            ("MaxRecvDataSegmentLength (target's)", self.max_send_bytes.to_string()),
            ("MaxOutstandingR2T", self.max_outstanding_r2t.to_string()),
            ("MaxConnections", self.max_connections.to_string()),
            ("ErrorRecoveryLevel", self.error_recovery_level.to_string()),
            ("DefaultTime2Wait", self.time2wait_s.to_string()),
            ("DefaultTime2Retain", self.time2retain_s.to_string()),
            ("DataPDUInOrder", yes(self.data_pdu_in_order)),
            ("DataSequenceInOrder", yes(self.data_sequence_in_order)),
            (
                "TargetPortalGroupTag",
                self.portal_group_tag.map_or_else(|| "-".to_owned(), |tag| tag.to_string()),
            ),
            ("TargetAlias", self.alias.clone().unwrap_or_else(|| "-".to_owned())),
        ]
    }
}
