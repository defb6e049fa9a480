//! A connection as the measuring end has it: requests, payloads, and how long they took.

use std::time::Instant;

use crate::ProbeError;
use crate::content::Content;
use crate::limits::Limits;
use crate::link::{Link, Wait};
use crate::memory::Memory;
use crate::refusal::RefusalReason;
use crate::reply::{REPLY_BYTES, Reply};
use crate::request::{GO, Request};

/// The client's side of a connection.
pub(crate) struct Outgoing {
    pub(crate) link: Link,
    pub(crate) limits: Limits,
    pub(crate) memory: Memory,
    pub(crate) content: Content,
}

impl Outgoing {
    /// Sends a request and checks that it is accepted.
    pub(crate) fn request(&self, request: Request) -> Result<(), ProbeError> {
        self.write(&request.to_bytes())?;
        self.reply("waiting for the answer to a request").map(|_| ())
    }

    pub(crate) fn round_trip(&mut self, length_bytes: u64) -> Result<u64, ProbeError> {
        let start = Instant::now();
        self.write_payload(length_bytes)?;
        self.read_payload(length_bytes)?;
        Ok(elapsed_ns(start))
    }

    pub(crate) fn send(&mut self, length_bytes: u64) -> Result<u64, ProbeError> {
        self.ready()?;
        let start = Instant::now();
        self.write_payload(length_bytes)?;
        let kept_bytes = self.reply("waiting for an acknowledgement")?;
        let time_ns = elapsed_ns(start);
        if kept_bytes != length_bytes {
            return Err(ProbeError::Protocol { what: "it kept another number of bytes" });
        }
        Ok(time_ns)
    }

    pub(crate) fn fetch(&mut self, length_bytes: u64) -> Result<u64, ProbeError> {
        self.ready()?;
        let start = Instant::now();
        self.write(&[GO])?;
        self.read_payload(length_bytes)?;
        Ok(elapsed_ns(start))
    }

    pub(crate) fn ready(&self) -> Result<(), ProbeError> {
        let mut ready = [0];
        let wait = Wait::silence("waiting until the far end is ready", self.limits.answer);
        self.link.read(&mut ready, wait)?;
        if ready == [GO] { Ok(()) } else { Err(ProbeError::Protocol { what: "it is not ready" }) }
    }

    pub(crate) fn reply(&self, during: &'static str) -> Result<u64, ProbeError> {
        let mut bytes = [0; REPLY_BYTES];
        self.link.read(&mut bytes, Wait::silence(during, self.limits.answer))?;
        match Reply::from_bytes(bytes) {
            Reply { code: 0, value } => Ok(value),
            reply => Err(RefusalReason::of(reply)
                .map_or(ProbeError::Protocol { what: "an unknown reply" }, ProbeError::Refused)),
        }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), ProbeError> {
        self.link.write(bytes, Wait::silence("asking", self.limits.stall))
    }

    pub(crate) fn write_payload(&mut self, length_bytes: u64) -> Result<(), ProbeError> {
        let wait = Wait::silence("sending a payload", self.limits.stall);
        let mut left_bytes = length_bytes;
        while left_bytes > 0 {
            let chunk = self.content.next(left_bytes);
            self.link.write(chunk, wait)?;
            left_bytes -= chunk.len() as u64;
        }
        Ok(())
    }

    pub(crate) fn read_payload(&mut self, length_bytes: u64) -> Result<(), ProbeError> {
        let wait = Wait::silence("receiving a payload", self.limits.stall);
        let mut left_bytes = length_bytes;
        while left_bytes > 0 {
            let chunk = self.memory.next(left_bytes);
            left_bytes -= self.link.read_some(chunk, wait)? as u64;
        }
        Ok(())
    }
}

fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
