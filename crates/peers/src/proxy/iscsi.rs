//! iSCSI PDUs, as far as faults change them (RFC 7143 section 11).
//!
//! A changed header gets a new digest: the client should meet the fault, not a wrong digest.

use super::crc32c::digest;
use super::digests::Digests;
use crate::rpc::word;

const HEADER_BYTES: usize = 48;
const DIGEST_BYTES: usize = 4;

/// Opcodes of a target (section 11.1).
const LOGIN_RESPONSE: u8 = 0x23;
const SCSI_RESPONSE: u8 = 0x21;
const DATA_IN: u8 = 0x25;
const R2T: u8 = 0x31;

/// Offsets of fields.
const TASK_TAG: usize = 16;
const STAT_SN: usize = 24;
const MAX_CMD_SN: usize = 32;
const R2T_OFFSET: usize = 40;
const R2T_LENGTH: usize = 44;

/// The length of the PDU at the start, including digests; `None` if it is not known yet. Login
/// never uses digests.
pub(crate) fn pdu_bytes(bytes: &[u8], digests: Digests) -> Option<usize> {
    let data = data_bytes(bytes)?;
    let data_digest = if digests.data && data > 0 { DIGEST_BYTES } else { 0 };
    Some(data_at(bytes, digests)? + data.next_multiple_of(4) + data_digest)
}

/// Offset of the data segment.
fn data_at(pdu: &[u8], digests: Digests) -> Option<usize> {
    let header_digest = if digests.header { DIGEST_BYTES } else { 0 };
    Some(header_bytes(pdu)? + header_digest)
}

fn header_bytes(pdu: &[u8]) -> Option<usize> {
    Some(HEADER_BYTES + usize::from(*pdu.get(4)?) * 4)
}

fn data_bytes(pdu: &[u8]) -> Option<usize> {
    usize::try_from(word(pdu, 4)? & 0x00ff_ffff).ok()
}

fn opcode(pdu: &[u8]) -> Option<u8> {
    pdu.first().map(|byte| byte & 0x3f)
}

/// Whether it is part of the answer to a command.
pub(crate) fn is_reply(pdu: &[u8]) -> bool {
    matches!(opcode(pdu), Some(SCSI_RESPONSE | DATA_IN))
}

/// Whether it carries a command's status: a response, or the last Data-In with the bit S.
pub(crate) fn has_status(pdu: &[u8]) -> bool {
    match opcode(pdu) {
        Some(SCSI_RESPONSE) => true,
        Some(DATA_IN) => pdu.get(1).is_some_and(|flags| flags & 1 == 1),
        _ => false,
    }
}

/// Whether it requests data.
pub(crate) fn is_r2t(pdu: &[u8]) -> bool {
    opcode(pdu) == Some(R2T)
}

/// Whether it is a Data-In with at least this much data.
pub(crate) fn brings(pdu: &[u8], min_bytes: u32) -> bool {
    let is_enough = |bytes| u32::try_from(bytes).is_ok_and(|bytes| bytes >= min_bytes);
    opcode(pdu) == Some(DATA_IN) && data_bytes(pdu).is_some_and(is_enough)
}

/// The digests negotiated by login responses, which apply from the next PDU on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Login {
    wanted: Digests,
}

impl Login {
    /// Reads a PDU from the target; returns the digests that apply from now on if it ends the
    /// login.
    pub(crate) fn read(&mut self, pdu: &[u8]) -> Option<Digests> {
        const TRANSIT_TO_FULL_FEATURE: u8 = 0x83;
        if opcode(pdu) != Some(LOGIN_RESPONSE) {
            return None;
        }
        let begin = header_bytes(pdu)?;
        let text = pdu.get(begin..begin.checked_add(data_bytes(pdu)?)?)?;
        for pair in text.split(|byte| *byte == 0) {
            match pair {
                b"HeaderDigest=CRC32C" => self.wanted.header = true,
                b"DataDigest=CRC32C" => self.wanted.data = true,
                _ => {}
            }
        }
        let is_success = pdu.get(36) == Some(&0);
        let is_last = pdu.get(1)? & TRANSIT_TO_FULL_FEATURE == TRANSIT_TO_FULL_FEATURE;
        (is_success && is_last).then_some(self.wanted)
    }
}

/// Replaces a word of the header.
fn put(pdu: &mut [u8], at: usize, value: u32) {
    if let Some(place) = pdu.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// Updates the header digest.
fn sign(pdu: &mut [u8], digests: Digests) {
    let Some(end) = header_bytes(pdu).filter(|_| digests.header) else { return };
    if let Some((header, rest)) = pdu.split_at_mut_checked(end)
        && let Some(place) = rest.get_mut(..DIGEST_BYTES)
    {
        place.copy_from_slice(&digest(header));
    }
}

/// Changes the Initiator Task Tag.
pub(crate) fn change_tag(pdu: &mut [u8], digests: Digests, difference: u32) {
    if let Some(tag) = word(pdu, TASK_TAG) {
        put(pdu, TASK_TAG, tag ^ difference);
        sign(pdu, digests);
    }
}

/// Raises StatSN.
pub(crate) fn raise_stat_sn(pdu: &mut [u8], digests: Digests, add: u32) {
    if let Some(number) = word(pdu, STAT_SN) {
        put(pdu, STAT_SN, number.wrapping_add(add));
        sign(pdu, digests);
    }
}

/// Makes an R2T ask for something else.
pub(crate) fn change_r2t(pdu: &mut [u8], digests: Digests, offset_bytes: u32, length_bytes: u32) {
    put(pdu, R2T_OFFSET, offset_bytes);
    put(pdu, R2T_LENGTH, length_bytes);
    sign(pdu, digests);
}

/// MaxCmdSN, in any unit from the target.
pub(crate) fn max_cmd_sn(pdu: &[u8]) -> Option<u32> {
    word(pdu, MAX_CMD_SN)
}

/// Sets MaxCmdSN.
pub(crate) fn set_max_cmd_sn(pdu: &mut [u8], digests: Digests, value: u32) {
    put(pdu, MAX_CMD_SN, value);
    sign(pdu, digests);
}

/// Makes it claim sixteen megabytes of data.
pub(crate) fn claim_too_much(pdu: &mut [u8], digests: Digests) {
    if let Some(length) = pdu.get_mut(5..8) {
        length.copy_from_slice(&[0xff; 3]);
        sign(pdu, digests);
    }
}

/// Flips one bit of the data.
pub(crate) fn corrupt(pdu: &mut [u8], digests: Digests, random: u64) {
    let (Some(begin), Some(bytes)) = (data_at(pdu, digests), data_bytes(pdu)) else { return };
    if bytes == 0 {
        return;
    }
    let at = begin + usize::try_from(random >> 8).unwrap_or_default() % bytes;
    if let Some(byte) = pdu.get_mut(at) {
        *byte ^= 1 << (random % 8);
    }
}

/// A SCSI Response with this status in place of the PDU: without data or sense, as a busy target
/// sends it.
pub(crate) fn with_status(pdu: &[u8], digests: Digests, status: u8) -> Option<Vec<u8>> {
    const FINAL: u8 = 0x80;
    let mut response = pdu.get(..HEADER_BYTES)?.to_vec();
    // Data-In has DataSN where a response has ExpDataSN, the number of PDUs before it.
    let is_response = opcode(pdu) == Some(SCSI_RESPONSE);
    let (head, _) = response.split_first_chunk_mut::<4>()?;
    *head = [SCSI_RESPONSE, FINAL, 0, status];
    response.get_mut(4..16)?.fill(0);
    response.get_mut(20..24)?.fill(0);
    response.get_mut(40..48)?.fill(0);
    if is_response && pdu.get(2) != Some(&0) {
        return None;
    }
    if digests.header {
        response.extend([0; DIGEST_BYTES]);
        sign(&mut response, digests);
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_in(flags: u8, data: &[u8]) -> Vec<u8> {
        let mut pdu = vec![0; HEADER_BYTES];
        pdu[0] = DATA_IN;
        pdu[1] = flags;
        pdu[7] = u8::try_from(data.len()).unwrap();
        put(&mut pdu, TASK_TAG, 0x1111);
        put(&mut pdu, STAT_SN, u32::MAX);
        put(&mut pdu, 36, 3);
        pdu.extend(data);
        pdu
    }

    #[test]
    fn login_settles_digests_when_it_ends_in_success() {
        let mut response = vec![0; HEADER_BYTES];
        response[0] = LOGIN_RESPONSE;
        let text = b"HeaderDigest=None\0DataDigest=CRC32C\0";
        response[7] = u8::try_from(text.len()).unwrap();
        response.extend(text);
        let mut login = Login::default();
        assert_eq!(login.read(&response), None);
        // The text may come before the last response.
        let mut last = vec![0; HEADER_BYTES];
        last[..2].copy_from_slice(&[LOGIN_RESPONSE, 0x87]);
        assert_eq!(login.read(&last), Some(Digests { header: false, data: true }));
        last[36] = 2;
        assert_eq!(login.read(&last), None);
        assert_eq!(Login::default().read(&data_in(0x81, b"")), None);
    }

    #[test]
    fn a_changed_header_gets_a_new_digest() {
        let digests = Digests { header: true, data: false };
        let mut pdu = data_in(0x81, b"");
        pdu.extend(digest(&pdu));
        raise_stat_sn(&mut pdu, digests, 2);
        assert_eq!(word(&pdu, STAT_SN), Some(1));
        assert_eq!(pdu[HEADER_BYTES..], digest(&pdu[..HEADER_BYTES]));
        let response = with_status(&pdu, digests, 8).unwrap();
        assert_eq!(response[HEADER_BYTES..], digest(&response[..HEADER_BYTES]));
    }

    #[test]
    fn data_with_status_becomes_a_response_that_accounts_for_the_data_before() {
        let response = with_status(&data_in(0x81, b"abcd"), Digests::default(), 0x28).unwrap();
        assert_eq!(response.len(), HEADER_BYTES);
        assert_eq!(response[..8], [SCSI_RESPONSE, 0x80, 0, 0x28, 0, 0, 0, 0]);
        assert_eq!(word(&response, TASK_TAG), Some(0x1111));
        assert_eq!(word(&response, STAT_SN), Some(u32::MAX));
        assert_eq!(word(&response, 36), Some(3));
    }

    #[test]
    fn one_bit_of_the_data_is_turned_over_and_nothing_else() {
        let was = data_in(0x80, b"abcd");
        for random in [0, 7, 256, u64::MAX] {
            let mut pdu = was.clone();
            corrupt(&mut pdu, Digests::default(), random);
            let bits: u32 = was.iter().zip(&pdu).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!(bits, 1);
            assert_eq!(pdu[..HEADER_BYTES], was[..HEADER_BYTES]);
        }
    }

    #[test]
    fn what_is_cut_off_is_left_alone() {
        let digests = Digests { header: true, data: true };
        let whole = data_in(0x81, b"abcd");
        for end in 0..whole.len() {
            let mut pdu = whole[..end].to_vec();
            change_tag(&mut pdu, digests, 1);
            raise_stat_sn(&mut pdu, digests, 1);
            change_r2t(&mut pdu, digests, 1, 1);
            claim_too_much(&mut pdu, digests);
            corrupt(&mut pdu, digests, u64::MAX);
            assert_eq!(pdu.len(), end);
            assert_eq!(with_status(&pdu, digests, 8).is_some(), end >= HEADER_BYTES);
            let _ = (Login::default().read(&pdu), brings(&pdu, 1), has_status(&pdu));
        }
    }
}
