//! A session with one initiator: messages in, answers out.

use std::collections::HashMap;

use super::login::{Agreement, pairs, put_pair};
use super::pdu::{FINAL, Header, MAX_SEGMENT_BYTES, NO_TAG, Request, put_data, request, response};
use super::scsi::{Cache, Outcome, execute, sense};
use crate::send::Answers;
use crate::xdr::Garbage;

/// The most outstanding commands.
const WINDOW: u32 = 512;

/// The stage of login in which limits are negotiated, and the one after login (RFC 7143 section
/// 11.12.3).
const OPERATIONAL: u8 = 1;
const FULL_FEATURE: u8 = 3;

/// In a login message: move to the next stage; more text follows in another message.
const TRANSIT: u8 = 0x80;
const CONTINUE: u8 = 0x40;

/// In a message about a SCSI command (section 11.4.1): less data, or more, than expected; the
/// message contains the status.
const UNDERFLOW: u8 = 0x02;
const OVERFLOW: u8 = 0x04;
const HAS_STATUS: u8 = 0x01;

const CHECK_CONDITION: u8 = 2;

/// One initiator's session.
#[derive(Debug)]
pub(super) struct Session {
    target: &'static str,
    port: u16,
    cache: Cache,
    is_logged_in: bool,
    agreement: Agreement,
    /// Text of a login that will be continued.
    text: Vec<u8>,
    status_number: u32,
    /// Number of the next command.
    expected: u32,
    writes: HashMap<u32, Write>,
}

/// A WRITE whose data has not arrived completely.
#[derive(Debug, Clone, Copy)]
struct Write {
    unit: [u32; 2],
    bytes: u32,
    received: u32,
    requests: u32,
    residual: Residual,
}

/// By how much a command's transfer differs from what the initiator expected.
#[derive(Debug, Clone, Copy, Default)]
struct Residual {
    flag: u8,
    bytes: u32,
}

impl Residual {
    /// The length of the transfer, and the difference from the expected length.
    #[inline]
    fn of(is: u64, expected: u32) -> (u32, Self) {
        let wide = u64::from(expected);
        if is == wide {
            (expected, Self::default())
        } else if is < wide {
            (is as u32, Self { flag: UNDERFLOW, bytes: (wide - is) as u32 })
        } else {
            let bytes = u32::try_from(is - wide).unwrap_or(u32::MAX);
            (expected, Self { flag: OVERFLOW, bytes })
        }
    }
}

impl Session {
    pub(super) fn new(target: &'static str, port: u16, cache: Cache) -> Self {
        Self {
            target,
            port,
            cache,
            is_logged_in: false,
            agreement: Agreement::default(),
            text: Vec::new(),
            status_number: 0,
            expected: 0,
            writes: HashMap::new(),
        }
    }

    /// Answers the complete messages in the bytes and returns how many bytes those were.
    ///
    /// # Errors
    /// The initiator violates the protocol, or has logged out: the connection ends.
    pub(super) fn take(&mut self, bytes: &[u8], answers: &mut Answers) -> Result<usize, Garbage> {
        let mut rest = bytes;
        while let Some((message, behind)) = Request::split(rest)? {
            rest = behind;
            if !self.is_logged_in {
                self.login(message, answers.bytes())?;
                continue;
            }
            let opcode = message.opcode();
            if !message.is_immediate() && opcode != request::DATA_OUT {
                self.expected = message.command_number().wrapping_add(1);
            }
            match opcode {
                request::SCSI_COMMAND if !self.agreement.is_discovery => {
                    self.command(message, answers)?;
                }
                request::DATA_OUT => self.data(message, answers.bytes()),
                _ => self.rare(message, answers.bytes())?,
            }
        }
        Ok(bytes.len() - rest.len())
    }

    #[inline]
    fn command(&mut self, message: Request<'_>, answers: &mut Answers) -> Result<(), Garbage> {
        let header = message.header;
        let (Some(unit), Some(command)) =
            (header[8..].first_chunk::<8>(), header[32..].first_chunk::<16>())
        else {
            return Err(Garbage);
        };
        let expected = message.word::<5>();
        let tag = message.tag();
        match execute(*unit, self.cache, command) {
            Outcome::Read { bytes } => {
                let (bytes, residual) = Residual::of(bytes, expected);
                self.send_zeros(answers, tag, bytes, residual);
            }
            Outcome::Write { bytes } => {
                let (bytes, residual) = Residual::of(bytes, expected);
                let received = message.data.len() as u32;
                if received >= bytes {
                    self.respond(answers.bytes(), tag, 0, residual, 0);
                } else {
                    let unit = [message.word::<2>(), message.word::<3>()];
                    let write = Write { unit, bytes, received, requests: 0, residual };
                    self.begin_write(message, write, answers.bytes())?;
                }
            }
            Outcome::Good => {
                let (_, residual) = Residual::of(0, expected);
                self.respond(answers.bytes(), tag, 0, residual, 0);
            }
            Outcome::Data(data) => {
                let (length, residual) = Residual::of(data.len() as u64, expected);
                let data = data.get(..length as usize).unwrap_or(&data);
                self.send_data(answers.bytes(), tag, data, residual);
            }
            Outcome::Illegal(code, qualifier) => {
                let sense = sense(code, qualifier);
                let (_, residual) = Residual::of(0, expected);
                let length = sense.len() as u32;
                self.respond(answers.bytes(), tag, CHECK_CONDITION, residual, length);
                put_data(answers.bytes(), &sense);
            }
        }
        Ok(())
    }

    /// Sends zeros in the longest messages that the initiator accepts, the last with the status.
    #[inline]
    fn send_zeros(&mut self, answers: &mut Answers, tag: u32, bytes: u32, residual: Residual) {
        if bytes == 0 {
            return self.respond(answers.bytes(), tag, 0, residual, 0);
        }
        let Agreement { segment_bytes, burst_bytes, .. } = self.agreement;
        let (mut offset, mut number, mut burst) = (0, 0, burst_bytes);
        while offset < bytes {
            let length = (bytes - offset).min(segment_bytes).min(burst);
            let is_last = offset + length == bytes;
            burst -= length;
            // Every sequence as long as a burst ends with a final message.
            let mut flags = 0;
            if burst == 0 {
                flags = FINAL;
                burst = burst_bytes;
            }
            if is_last {
                flags = FINAL | HAS_STATUS | residual.flag;
            }
            let mut header = Header::new(response::DATA_IN, flags, 0, length, tag)
                .with::<5>(NO_TAG)
                .with::<9>(number)
                .with::<10>(offset);
            if is_last {
                header = header.with::<6>(self.next_status()).with::<11>(residual.bytes);
            }
            self.numbered(header).put(answers.bytes());
            answers.zeros(length.next_multiple_of(4) as usize);
            offset += length;
            number += 1;
        }
    }

    fn send_data(&mut self, to: &mut Vec<u8>, tag: u32, data: &[u8], residual: Residual) {
        if data.is_empty() {
            return self.respond(to, tag, 0, residual, 0);
        }
        let flags = FINAL | HAS_STATUS | residual.flag;
        let header = Header::new(response::DATA_IN, flags, 0, data.len() as u32, tag)
            .with::<5>(NO_TAG)
            .with::<6>(self.next_status())
            .with::<11>(residual.bytes);
        self.numbered(header).put(to);
        put_data(to, data);
    }

    /// Appends the response to a command; `data_bytes` of sense data must follow.
    #[inline]
    fn respond(
        &mut self,
        to: &mut Vec<u8>,
        tag: u32,
        status: u8,
        residual: Residual,
        data_bytes: u32,
    ) {
        let flags = FINAL | residual.flag;
        let header = Header::new(response::SCSI_RESPONSE, flags, status, data_bytes, tag)
            .with::<6>(self.next_status())
            .with::<11>(residual.bytes);
        self.numbered(header).put(to);
    }

    /// Waits for the data of a WRITE that did not come with the command, and requests it when the
    /// initiator sends no more unsolicited data.
    #[cold]
    fn begin_write(
        &mut self,
        message: Request<'_>,
        mut write: Write,
        to: &mut Vec<u8>,
    ) -> Result<(), Garbage> {
        if self.writes.len() >= WINDOW as usize {
            return Err(Garbage);
        }
        if message.is_final() {
            self.ask(&mut write, message.tag(), to);
        }
        self.writes.insert(message.tag(), write);
        Ok(())
    }

    fn data(&mut self, message: Request<'_>, to: &mut Vec<u8>) {
        let tag = message.tag();
        // Data of a command that was refused or aborted may still arrive.
        let Some(mut write) = self.writes.remove(&tag) else { return };
        write.received = write.received.saturating_add(message.data.len() as u32);
        if message.is_final() && write.received >= write.bytes {
            return self.respond(to, tag, 0, write.residual, 0);
        }
        if message.is_final() {
            self.ask(&mut write, tag, to);
        }
        self.writes.insert(tag, write);
    }

    /// Requests the next burst.
    fn ask(&self, write: &mut Write, tag: u32, to: &mut Vec<u8>) {
        let wanted = (write.bytes - write.received).min(self.agreement.burst_bytes);
        let header = Header::new(response::READY_TO_TRANSFER, FINAL, 0, 0, tag)
            .with::<2>(write.unit[0])
            .with::<3>(write.unit[1])
            // Any tag will do: there is one request per command at a time.
            .with::<5>(write.requests)
            .with::<6>(self.status_number)
            .with::<9>(write.requests)
            .with::<10>(write.received)
            .with::<11>(wanted);
        write.requests += 1;
        self.numbered(header).put(to);
    }

    #[cold]
    fn rare(&mut self, message: Request<'_>, to: &mut Vec<u8>) -> Result<(), Garbage> {
        let tag = message.tag();
        let length = message.data.len() as u32;
        let plain = |opcode, data_bytes| Header::new(opcode, FINAL, 0, data_bytes, tag);
        match message.opcode() {
            // An answer to a ping, but this target sends no pings.
            request::NOP_OUT if tag == NO_TAG => {}
            request::NOP_OUT => {
                let header = plain(response::NOP_IN, length)
                    .with::<2>(message.word::<2>())
                    .with::<3>(message.word::<3>())
                    .with::<5>(NO_TAG);
                self.put_status(header, to);
                put_data(to, message.data);
            }
            request::TASK_MANAGEMENT => {
                // Whatever is being aborted: only WRITEs that wait for data are still in progress.
                self.writes.clear();
                self.put_status(plain(response::TASK_MANAGEMENT, 0), to);
            }
            request::TEXT => {
                let mut answer = Vec::new();
                if pairs(message.data).any(|(key, _)| key == "SendTargets") {
                    put_pair(&mut answer, "TargetName", self.target);
                    put_pair(&mut answer, "TargetAddress", &format!("127.0.0.1:{},1", self.port));
                }
                let header = plain(response::TEXT, answer.len() as u32).with::<5>(NO_TAG);
                self.put_status(header, to);
                put_data(to, &answer);
            }
            request::LOGOUT => {
                self.put_status(plain(response::LOGOUT, 0), to);
                return Err(Garbage);
            }
            _ => {
                // Command not supported; the message's header is returned as data.
                let mut header = Header::new(response::REJECT, FINAL, 0, 48, NO_TAG);
                header = header.with::<0>(u32::from_be_bytes([response::REJECT, FINAL, 5, 0]));
                self.put_status(header, to);
                put_data(to, message.header);
            }
        }
        Ok(())
    }

    #[cold]
    fn login(&mut self, message: Request<'_>, to: &mut Vec<u8>) -> Result<(), Garbage> {
        if message.opcode() != request::LOGIN
            || self.text.len() + message.data.len() > MAX_SEGMENT_BYTES
        {
            return Err(Garbage);
        }
        let flags = message.header[1];
        let (stage, next) = ((flags >> 2) & 3, flags & 3);
        self.text.extend_from_slice(message.data);
        // Login is immediate: the first command has the same number.
        self.expected = message.command_number();
        let is_whole = flags & CONTINUE == 0;
        let answer = if is_whole {
            let text = std::mem::take(&mut self.text);
            self.agreement.negotiate(&text, stage == OPERATIONAL)
        } else {
            Vec::new()
        };
        let advances = is_whole && flags & TRANSIT != 0 && !self.agreement.is_refused;
        let flags = if advances { TRANSIT | (stage << 2) | next } else { stage << 2 };
        self.is_logged_in = advances && next == FULL_FEATURE;
        // The session handle is assigned when login is complete.
        let session = message.word::<3>() & 0xffff_0000 | u32::from(self.is_logged_in);
        // Initiator error: authentication failure.
        let status = if self.agreement.is_refused { 0x0201_0000 } else { 0 };
        let header = Header::new(response::LOGIN, flags, 0, answer.len() as u32, message.tag())
            .with::<2>(message.word::<2>())
            .with::<3>(session)
            .with::<9>(status);
        self.put_status(header, to);
        put_data(to, &answer);
        if self.agreement.is_refused { Err(Garbage) } else { Ok(()) }
    }

    /// Appends a header that carries a status number.
    fn put_status(&mut self, header: Header, to: &mut Vec<u8>) {
        let header = header.with::<6>(self.next_status());
        self.numbered(header).put(to);
    }

    #[inline]
    fn next_status(&mut self) -> u32 {
        let number = self.status_number;
        self.status_number = number.wrapping_add(1);
        number
    }

    /// Sets which commands may be sent next.
    #[inline]
    fn numbered(&self, header: Header) -> Header {
        let last = self.expected.wrapping_add(WINDOW - 1);
        header.with::<7>(self.expected).with::<8>(last)
    }
}
