//! RPC records and NFS replies, as far as faults change them (RFC 5531, RFC 1813).
//!
//! A record includes its marker; only records in one fragment, as servers send them, can be changed.

use std::collections::HashMap;

use crate::rpc::{LAST_FRAGMENT, NFS, framed, word, words};

/// The most calls that are remembered; a client has fewer outstanding.
const CALLS_MAX: usize = 65_536;

/// The length of the record at the start, including its marker; `None` if it is not known yet.
pub(crate) fn record_bytes(bytes: &[u8]) -> Option<usize> {
    let mut end = 0_usize;
    loop {
        let marker = word(bytes, end)?;
        end += 4 + usize::try_from(marker & !LAST_FRAGMENT).ok()?;
        if marker & LAST_FRAGMENT != 0 || end > bytes.len() {
            return Some(end);
        }
    }
}

/// The procedure of each outstanding call, by XID.
#[derive(Debug, Default)]
pub(crate) struct Calls(HashMap<u32, u32>);

impl Calls {
    /// Records an NFS call.
    pub(crate) fn note(&mut self, record: &[u8]) {
        const CALL: u32 = 0;
        let field = |index: usize| word(record, 4 + index * 4);
        if field(1) != Some(CALL) || field(3) != Some(NFS) || self.0.len() >= CALLS_MAX {
            return;
        }
        if let (Some(xid), Some(procedure)) = (field(0), field(5)) {
            self.0.insert(xid, procedure);
        }
    }

    /// The procedure that a reply belongs to.
    pub(crate) fn take(&mut self, record: &[u8]) -> Option<u32> {
        self.0.remove(&word(record, 4)?)
    }
}

/// Whether it is a reply.
pub(crate) fn is_reply(record: &[u8]) -> bool {
    word(record, 8) == Some(1)
}

/// Changes the XID.
pub(crate) fn change_xid(record: &mut [u8], difference: u32) {
    if let (Some(xid), Some(place)) = (word(record, 4), record.get_mut(4..8)) {
        place.copy_from_slice(&(xid ^ difference).to_be_bytes());
    }
}

/// Makes it claim two gigabytes.
pub(crate) fn claim_too_much(record: &mut [u8]) {
    if let Some(marker) = record.get_mut(..4) {
        marker.copy_from_slice(&u32::MAX.to_be_bytes());
    }
}

/// The reply with an error in place of its result. `None` if it was not a successful RPC reply.
pub(crate) fn failed(record: &[u8], procedure: u32, status: u32) -> Option<Vec<u8>> {
    let verifier_bytes = usize::try_from(word(record, 20)?).ok()?.checked_next_multiple_of(4)?;
    let accepted_at = verifier_bytes.checked_add(24)?;
    if word(record, 12)? != 0 || word(record, accepted_at)? != 0 {
        return None;
    }
    let head = record.get(4..accepted_at + 4)?;
    // No attributes: one zero word as post_op_attr, two as wcc_data.
    let absent = match procedure {
        1 => 0,
        3 | 4 | 5 | 6 | 16..=20 => 1,
        _ => 2,
    };
    let body = [head.to_vec(), words(&[status]), vec![0; absent * 4]].concat();
    Some(framed(&body))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An accepted reply with a verifier of five bytes.
    fn reply(xid: u32, result: &[u32]) -> Vec<u8> {
        let body = [words(&[xid, 1, 0, 1, 5, 0, 0, 0]), words(result)].concat();
        framed(&body)
    }

    #[test]
    fn an_error_takes_the_results_place_and_the_head_stays() {
        let was = reply(7, &[0, 1, 2, 3, 4]);
        assert_eq!(failed(&was, 6, 70).unwrap(), reply(7, &[70, 0]));
        assert_eq!(failed(&was, 7, 28).unwrap(), reply(7, &[28, 0, 0]));
        assert_eq!(failed(&was, 1, 70).unwrap(), reply(7, &[70]));
        let denied = framed(&words(&[7, 1, 1, 0, 0, 0, 0, 0, 0]));
        assert_eq!(failed(&denied, 6, 70), None);
        assert!((0..was.len()).all(|end| failed(&was[..end.min(35)], 6, 70).is_none()));
    }

    #[test]
    fn calls_of_nfs_are_matched_once() {
        let call = |program| framed(&words(&[9, 0, 2, program, 3, 6, 0, 0, 0, 0]));
        let mut calls = Calls::default();
        calls.note(&call(NFS));
        assert_eq!(calls.take(&reply(8, &[0])), None);
        assert_eq!(calls.take(&reply(9, &[0])), Some(6));
        assert_eq!(calls.take(&reply(9, &[0])), None);
        calls.note(&call(crate::rpc::MOUNT));
        assert_eq!(calls.take(&reply(9, &[0])), None);
    }
}
