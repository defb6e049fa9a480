//! The messages that a protocol sends for a read, a write and a flush, and the sizes of their headers.

use stormeter_site::{Protocol, ProtocolOptions, Stack};

use super::wire::Message;

/// iSCSI: the basic header segment of a PDU (RFC 7143, section 11.2.1).
const ISCSI_PDU_BYTES: u32 = 48;
/// iSCSI: a digest over header or data (RFC 7143, sections 11.2.3 and 13.1).
const ISCSI_DIGEST_BYTES: u32 = 4;

/// Remote procedure calls over TCP: the record's mark 4 (RFC 5531, section 11); of a call xid,
/// message type, version, program, its version and procedure 24 (section 9), a credential of AUTH_SYS
/// 36 with a machine name of 8 bytes and no further groups (section 8.2 and appendix A), verifier 8.
const RPC_CALL_BYTES: u32 = 4 + 24 + 36 + 8;
/// Of a reply: mark 4, xid, type and status 12, verifier 8, accept status 4 (RFC 5531, section 9).
const RPC_REPLY_BYTES: u32 = 4 + 12 + 8 + 4;
/// A file handle of 32 bytes with its length (`nfs_fh3`, RFC 1813, section 2: at most 64).
const NFS_HANDLE_BYTES: u32 = 4 + 32;
/// Attributes that may follow a reply (`post_op_attr`: 4 and `fattr3` 84, RFC 1813, section 2).
const NFS_ATTRIBUTES_BYTES: u32 = 4 + 84;
/// Attributes from before a write (`pre_op_attr`: 4 and `wcc_attr` 24, RFC 1813, section 2).
const NFS_BEFORE_BYTES: u32 = 4 + 24;

/// Fibre Channel: the command, its CDB of 16 bytes in it (FCP-4, clause 9).
const FCP_CMND_BYTES: u32 = 32;
/// The target is ready for the data of a write (FCP-4, clause 9).
const FCP_XFER_RDY_BYTES: u32 = 12;
/// The response without sense data (FCP-4, clause 9).
const FCP_RSP_BYTES: u32 = 24;

/// A request and its answer: of a read, with the payload, or of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) request: Message,
    pub(super) answer: Message,
}

/// A write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WriteMessages {
    /// Payload that is sent before the target requests any.
    pub(super) at_once_bytes: u32,
    /// The message that carries it; without payload if everything is requested by the target.
    pub(super) request: Message,
    /// How the target gets the rest.
    pub(super) rest: Rest,
    /// The completion message.
    pub(super) answer: Message,
}

/// How the payload of a write moves that was not sent with the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// In further requests like the first, in parallel.
    Calls,
    /// The target requests it, a burst at a time.
    Asked {
        /// The most bytes per request of the target.
        burst_bytes: u32,
        /// The request of the target.
        ask: Message,
        /// The message that carries the payload.
        data: Message,
        /// Whether the adapters of both ends do it without their CPUs, all at once.
        by_adapter: bool,
    },
    /// There is none.
    Nothing,
}

/// The most payload of a read request.
pub(super) fn read_bytes(stack: &Stack) -> u32 {
    match stack.protocol {
        Protocol::Nfs => stack.options.transfer_bytes.max(512),
        _ => u32::MAX,
    }
}

/// The messages of a read.
pub(super) fn read(stack: &Stack) -> Exchange {
    match stack.protocol {
        // A distributed datastore's own protocol: headers as large as iSCSI's, no further messages.
        Protocol::Local => Exchange {
            request: Message::bare(ISCSI_PDU_BYTES),
            answer: Message::loaded(ISCSI_PDU_BYTES),
        },
        // READ3args: handle, offset 8, count 4. READ3resok: status 4, attributes, count, end of file
        // and the length of the data 12 (RFC 1813, section 3.3.6).
        Protocol::Nfs => Exchange {
            request: Message::bare(RPC_CALL_BYTES + NFS_HANDLE_BYTES + 12),
            answer: Message::loaded(RPC_REPLY_BYTES + 4 + NFS_ATTRIBUTES_BYTES + 12),
        },
        // The status comes with the last Data-In (RFC 7143, section 11.7).
        Protocol::Iscsi => Exchange {
            request: Message::bare(iscsi_bare(&stack.options)),
            answer: iscsi_data(&stack.options, 0),
        },
        Protocol::Fc => Exchange {
            request: Message::bare(FCP_CMND_BYTES),
            answer: Message { behind_bytes: Some(FCP_RSP_BYTES), ..Message::loaded(0) },
        },
    }
}

/// The messages of a flush; `None` if every write is stable before it completes, so that there is nothing to
/// flush.
pub(super) fn flush(stack: &Stack) -> Option<Exchange> {
    let exchange = |request, answer| Exchange {
        request: Message::bare(request),
        answer: Message::bare(answer),
    };
    match stack.protocol {
        Protocol::Local => Some(exchange(ISCSI_PDU_BYTES, ISCSI_PDU_BYTES)),
        // COMMIT3args: handle, offset 8, count 4. COMMIT3resok: status 4, attributes before and after,
        // verifier 8 (RFC 1813, section 3.3.21).
        Protocol::Nfs => stack.options.unstable_writes.then(|| {
            let before_and_after = NFS_BEFORE_BYTES + NFS_ATTRIBUTES_BYTES;
            let call = RPC_CALL_BYTES + NFS_HANDLE_BYTES + 12;
            exchange(call, RPC_REPLY_BYTES + 4 + before_and_after + 8)
        }),
        // SYNCHRONIZE CACHE (SBC-4) moves no data: a command and its response.
        Protocol::Iscsi => Some(exchange(iscsi_bare(&stack.options), iscsi_bare(&stack.options))),
        Protocol::Fc => Some(exchange(FCP_CMND_BYTES, FCP_RSP_BYTES)),
    }
}

/// Whether every write is requested as a durable one.
pub(super) fn writes_durably(stack: &Stack) -> bool {
    stack.protocol == Protocol::Nfs && !stack.options.unstable_writes
}

/// The messages of a write.
pub(super) fn write(stack: &Stack) -> WriteMessages {
    let options = &stack.options;
    match stack.protocol {
        Protocol::Local => WriteMessages {
            at_once_bytes: u32::MAX,
            request: Message::loaded(ISCSI_PDU_BYTES),
            rest: Rest::Nothing,
            answer: Message::bare(ISCSI_PDU_BYTES),
        },
        // WRITE3args: handle, offset 8, count 4, stable 4 (FILE_SYNC), length 4. WRITE3resok: status
        // 4, attributes before and after, count 4, committed 4, verifier 8 (RFC 1813, section 3.3.7).
        Protocol::Nfs => WriteMessages {
            at_once_bytes: options.transfer_bytes.max(512),
            request: Message::loaded(RPC_CALL_BYTES + NFS_HANDLE_BYTES + 20),
            rest: Rest::Calls,
            answer: Message::bare(
                RPC_REPLY_BYTES + 4 + NFS_BEFORE_BYTES + NFS_ATTRIBUTES_BYTES + 16,
            ),
        },
        Protocol::Iscsi => {
            let at_once_bytes = unsolicited_bytes(options);
            // Immediate data is in the command's PDU; other unsolicited data has separate PDUs.
            let request = match (at_once_bytes, options.immediate_data) {
                (0, _) => Message::bare(iscsi_bare(options)),
                (_, true) => iscsi_data(options, 0),
                (_, false) => iscsi_data(options, iscsi_bare(options)),
            };
            WriteMessages {
                at_once_bytes,
                request,
                // One R2T at a time: MaxOutstandingR2T=1 (RFC 7143, sections 11.8 and 13.17).
                rest: Rest::Asked {
                    burst_bytes: options.max_burst_bytes.max(512),
                    ask: Message::bare(iscsi_bare(options)),
                    data: iscsi_data(options, 0),
                    by_adapter: false,
                },
                answer: Message::bare(iscsi_bare(options)),
            }
        }
        // Nothing is sent before the target is ready: FCP_XFER_RDY for the whole write (FCP-4,
        // clause 9; WRITE FCP_XFER_RDY DISABLED is rare), which the HBAs of both ends handle by
        // themselves.
        Protocol::Fc => WriteMessages {
            at_once_bytes: u32::MAX,
            request: Message::bare(FCP_CMND_BYTES),
            rest: Rest::Asked {
                burst_bytes: u32::MAX,
                ask: Message::bare(FCP_XFER_RDY_BYTES),
                data: Message::loaded(0),
                by_adapter: true,
            },
            answer: Message::bare(FCP_RSP_BYTES),
        },
    }
}

/// What is sent before the first R2T: FirstBurstLength if InitialR2T=No; otherwise immediate data
/// alone, which one PDU carries (RFC 7143, sections 13.10 to 13.14).
fn unsolicited_bytes(options: &ProtocolOptions) -> u32 {
    match (options.initial_r2t, options.immediate_data) {
        (false, _) => options.first_burst_bytes,
        (true, true) => options.first_burst_bytes.min(options.segment_bytes),
        (true, false) => 0,
    }
}

/// A PDU without data.
fn iscsi_bare(options: &ProtocolOptions) -> u32 {
    ISCSI_PDU_BYTES + if options.header_digest { ISCSI_DIGEST_BYTES } else { 0 }
}

/// PDUs with data, behind one without.
fn iscsi_data(options: &ProtocolOptions, header_bytes: u32) -> Message {
    let digest = if options.data_digest { ISCSI_DIGEST_BYTES } else { 0 };
    let segments = Some((options.segment_bytes.max(512), iscsi_bare(options) + digest));
    Message { segments, ..Message::loaded(header_bytes) }
}

#[cfg(test)]
mod tests {
    use stormeter_site::Cost;

    use super::*;

    fn iscsi(options: ProtocolOptions) -> WriteMessages {
        let cost = Cost::default();
        write(&Stack {
            name: "iscsi".into(),
            protocol: Protocol::Iscsi,
            cost,
            path_switch_cycles: 0.0,
            options,
        })
    }

    #[test]
    fn what_is_unsolicited_follows_from_four_keys() {
        let options = ProtocolOptions {
            first_burst_bytes: 65536,
            segment_bytes: 8192,
            ..ProtocolOptions::default()
        };
        let at_once = |initial_r2t, immediate_data| {
            iscsi(ProtocolOptions { initial_r2t, immediate_data, ..options }).at_once_bytes
        };
        assert_eq!(at_once(false, true), 65536);
        assert_eq!(at_once(false, false), 65536);
        assert_eq!(at_once(true, true), 8192);
        assert_eq!(at_once(true, false), 0);
    }

    #[test]
    fn digests_are_four_bytes_each() {
        let options =
            ProtocolOptions { header_digest: true, data_digest: true, ..Default::default() };
        let messages = iscsi(options);
        assert_eq!(messages.request.segments, Some((256 << 10, 56)));
        assert_eq!(messages.answer.header_bytes, 52);
    }
}
