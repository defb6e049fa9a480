//! What we request in a login: operational keys of RFC 7143 §13 as we offer them.

/// A digest that can be negotiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    /// No digest.
    None,
    /// CRC32C.
    Crc32c,
}

impl Digest {
    /// Its name in keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Crc32c => "CRC32C",
        }
    }
}

/// The keys as we offer them. The negotiated values are in [`Negotiated`](super::Negotiated).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// HeaderDigest, in order of preference.
    pub header_digest: Vec<Digest>,
    /// DataDigest, in order of preference.
    pub data_digest: Vec<Digest>,
    /// InitialR2T: whether the target must ask for all data beyond the immediate.
    pub initial_r2t: bool,
    /// ImmediateData: whether data may follow the command in the same PDU.
    pub immediate_data: bool,
    /// FirstBurstLength: the most unsolicited data of a command, in bytes.
    pub first_burst_bytes: u32,
    /// MaxBurstLength: the most data of one R2T, in bytes.
    pub max_burst_bytes: u32,
    /// MaxRecvDataSegmentLength: the largest data segment that we accept, in bytes.
    pub max_receive_bytes: u32,
    /// MaxOutstandingR2T: how many R2Ts of one command may be pending.
    pub max_outstanding_r2t: u32,
    /// DefaultTime2Wait in seconds.
    pub time2wait_s: u32,
    /// DefaultTime2Retain in seconds: 0, because nothing is resumed at ErrorRecoveryLevel 0.
    pub time2retain_s: u32,
    /// DataPDUInOrder.
    pub data_pdu_in_order: bool,
    /// DataSequenceInOrder.
    pub data_sequence_in_order: bool,
}

impl Default for Parameters {
    /// Few round trips per command: data is sent along with the command where the target accepts
    /// that, in large pieces.
    fn default() -> Self {
        Self {
            header_digest: vec![Digest::None, Digest::Crc32c],
            data_digest: vec![Digest::None, Digest::Crc32c],
            initial_r2t: false,
            immediate_data: true,
            first_burst_bytes: 256 << 10,
            max_burst_bytes: 1 << 20,
            max_receive_bytes: 256 << 10,
            max_outstanding_r2t: 4,
            time2wait_s: 2,
            time2retain_s: 0,
            data_pdu_in_order: true,
            data_sequence_in_order: true,
        }
    }
}

impl Parameters {
    /// The same with every length clamped to the range that the key allows.
    #[must_use]
    pub(crate) fn within_range(mut self) -> Self {
        for length in
            [&mut self.first_burst_bytes, &mut self.max_burst_bytes, &mut self.max_receive_bytes]
        {
            *length = (*length).clamp(512, (1 << 24) - 1);
        }
        self.first_burst_bytes = self.first_burst_bytes.min(self.max_burst_bytes);
        self.max_outstanding_r2t = self.max_outstanding_r2t.clamp(1, 65_535);
        self.time2wait_s = self.time2wait_s.min(3600);
        self.time2retain_s = self.time2retain_s.min(3600);
        for digests in [&mut self.header_digest, &mut self.data_digest] {
            if digests.is_empty() {
                digests.push(Digest::None);
            }
        }
        self
    }
}
