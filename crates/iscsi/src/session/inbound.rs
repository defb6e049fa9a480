//! The incoming PDU: its header as a whole, its data as it arrives, each byte stored in its final
//! place at once.

use stormeter_wire::{Memory, Span};

use super::command::Controls;
use super::error::Error;
use crate::pdu::{BHS_BYTES, check_data, check_header};
use crate::pdu::{Bhs, Digests, FrameError, header_bytes, padding_bytes};

/// Where a data segment goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sink {
    /// Kept until the PDU is complete.
    Scratch,
    /// Dropped: it is no longer needed.
    Discard,
    /// Into an operation's buffer.
    Span(Span),
    /// Into a command's data, from this byte on.
    Control(u32, u32),
}

/// The incoming PDU.
#[derive(Debug)]
pub(super) struct Inbound {
    /// Its header.
    pub(super) bhs: Bhs,
    /// Data that is kept.
    pub(super) scratch: Vec<u8>,
    /// The task of a Data-In, if it has one.
    pub(super) task: Option<u32>,
    /// Whether its StatSN is new, or it has none.
    pub(super) fresh: bool,
    sink: Sink,
    position: u32,
    remaining: u32,
    /// Padding and digest.
    trailer: [u8; 7],
    trailer_wanted: usize,
    trailer_found: usize,
    crc: Option<u32>,
    active: bool,
}

impl Inbound {
    pub(super) fn new() -> Self {
        Self {
            bhs: Bhs([0; BHS_BYTES]),
            scratch: Vec::new(),
            task: None,
            fresh: false,
            sink: Sink::Discard,
            position: 0,
            remaining: 0,
            trailer: [0; 7],
            trailer_wanted: 0,
            trailer_found: 0,
            crc: None,
            active: false,
        }
    }

    /// Discards the incoming PDU.
    pub(super) fn reset(&mut self) {
        self.active = false;
    }

    /// Whether a header was read whose PDU is incomplete.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Reads a header, if it is complete; returns its length in bytes.
    #[inline]
    pub(super) fn header(
        &mut self,
        bytes: &[u8],
        digests: Digests,
        max_data_bytes: u32,
    ) -> Result<Option<usize>, FrameError> {
        let Some(raw) = bytes.first_chunk::<BHS_BYTES>() else { return Ok(None) };
        let bhs = Bhs(*raw);
        let length = header_bytes(&bhs, digests);
        let Some(header) = bytes.get(..length) else { return Ok(None) };
        check_header(header, digests)?;
        let data = bhs.data_bytes();
        if data > max_data_bytes {
            let (claimed_bytes, declared_bytes) = (data, max_data_bytes);
            return Err(FrameError::TooLong { claimed_bytes, declared_bytes });
        }
        self.bhs = bhs;
        (self.remaining, self.position) = (data, 0);
        self.trailer_wanted = padding_bytes(data) as usize;
        self.trailer_found = 0;
        self.crc = None;
        if digests.data && data > 0 {
            self.trailer_wanted += 4;
            self.crc = Some(0);
        }
        self.scratch.clear();
        self.sink = Sink::Scratch;
        (self.task, self.fresh) = (None, true);
        self.active = true;
        Ok(Some(length))
    }

    /// The task whose data is arriving.
    #[inline]
    pub(super) fn unfinished(&self) -> Option<u32> {
        self.task.filter(|_| self.active)
    }

    /// Sets where the data goes.
    #[inline]
    pub(super) fn deliver_to(&mut self, sink: Sink) {
        self.sink = sink;
    }

    /// Reads data, padding and digest; returns the number of bytes.
    #[inline]
    pub(super) fn body(
        &mut self,
        bytes: &[u8],
        memory: &mut impl Memory,
        controls: &mut Controls,
    ) -> Result<usize, Error> {
        let take = bytes.len().min(self.remaining as usize);
        let (data, rest) = bytes.split_at(take);
        if !data.is_empty() {
            self.deliver(data, memory, controls)?;
        }
        // Whole blocks need no padding, and few connections use digests.
        if self.trailer_wanted == 0 {
            return Ok(take);
        }
        let wanted = (self.trailer_wanted - self.trailer_found).min(rest.len());
        if self.remaining == 0
            && let Some(place) =
                self.trailer.get_mut(self.trailer_found..self.trailer_found + wanted)
            && let Some(trailer) = rest.get(..wanted)
        {
            place.copy_from_slice(trailer);
            self.trailer_found += wanted;
            return Ok(take + wanted);
        }
        Ok(take)
    }

    #[inline]
    fn deliver(
        &mut self,
        data: &[u8],
        memory: &mut impl Memory,
        controls: &mut Controls,
    ) -> Result<(), Error> {
        let length = data.len() as u32;
        match self.sink {
            Sink::Scratch => self.scratch.extend_from_slice(data),
            Sink::Discard => {}
            Sink::Span(span) => memory
                .bytes_mut(span.part(self.position, length))
                .filter(|place| place.len() == data.len())
                .ok_or(Error::Memory { buffer: span.buffer })?
                .copy_from_slice(data),
            Sink::Control(index, offset) => {
                let begin = (offset + self.position) as usize;
                let place = controls
                    .get_mut(index)
                    .and_then(|control| control.data_in.get_mut(begin..begin + data.len()));
                if let Some(place) = place {
                    place.copy_from_slice(data);
                }
            }
        }
        self.crc = self.crc.map(|crc| crc32c::crc32c_append(crc, data));
        self.position += length;
        self.remaining -= length;
        Ok(())
    }

    /// Where the next bytes may be received directly: never bytes that a digest covers, because
    /// they have to be read anyway.
    #[inline]
    pub(super) fn direct(&self, least_bytes: u32) -> Option<Span> {
        match self.sink {
            Sink::Span(span)
                if self.active && self.remaining >= least_bytes && self.crc.is_none() =>
            {
                Some(span.part(self.position, self.remaining))
            }
            _ => None,
        }
    }

    /// This many bytes were received directly; `false` if that is more than remain.
    pub(super) fn received_directly(&mut self, length: u32) -> bool {
        let fits = self.active && length <= self.remaining;
        if fits {
            self.position += length;
            self.remaining -= length;
        }
        fits
    }

    /// Whether everything has arrived; the PDU is then no longer active.
    #[inline]
    pub(super) fn complete(&mut self) -> Result<bool, FrameError> {
        if self.remaining > 0 || !self.active || self.trailer_found < self.trailer_wanted {
            return Ok(false);
        }
        self.active = false;
        if let Some(crc) = self.crc
            && let Some(trailer) = self.trailer.get(..self.trailer_wanted)
            && let Some((padding, digest)) = trailer.split_last_chunk::<4>()
        {
            check_data(*digest, crc32c::crc32c_append(crc, padding))?;
        }
        Ok(true)
    }
}
