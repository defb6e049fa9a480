//! Options for opening connections.

use super::limits::{MAX_PLACES, MIN_RECEIVE_BYTES};
use crate::limits::MAX_BUFFER_BYTES;
use crate::{BUFFER_ALIGNMENT, EngineError};

/// Places and memory for connections.
///
/// Defaults: one place, no buffers, an inbox of 256 KiB per place.
pub struct SocketOptions {
    pub(crate) buffers: u32,
    pub(crate) buffer_bytes: u32,
    pub(crate) places: u32,
    pub(crate) receive_bytes: u32,
    pub(crate) simulate_refusal: Option<i32>,
    pub(crate) knobs: SocketKnobs,
}

/// Settings that only this crate's tests change, to reach the paths that other kernels and networks
/// would take.
pub(crate) struct SocketKnobs {
    /// Bytes that the kernel may buffer for a connection before a send has to wait.
    pub(crate) send_buffer_bytes: Option<u32>,
    /// Pieces that one system call may send: the kernel's `IOV_MAX` at most.
    pub(crate) pieces_a_call: usize,
    /// Number of set-up flag combinations to skip, as an older kernel would.
    pub(crate) skip_rungs: usize,
    /// Milliseconds for which a drop waits for operations in flight, without progress, before it
    /// gives up.
    pub(crate) patience_ms: u32,
}

impl Default for SocketKnobs {
    fn default() -> Self {
        Self {
            send_buffer_bytes: None,
            pieces_a_call: libc::UIO_MAXIOV as usize,
            skip_rungs: 0,
            patience_ms: 5_000,
        }
    }
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            buffers: 0,
            buffer_bytes: BUFFER_ALIGNMENT as u32,
            places: 1,
            receive_bytes: 256 << 10,
            simulate_refusal: None,
            knobs: SocketKnobs::default(),
        }
    }
}

impl SocketOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// `count` buffers of at least `bytes` each (1 to [`MAX_BUFFER_BYTES`]), rounded up to a
    /// multiple of [`BUFFER_ALIGNMENT`], aligned to it and zeroed.
    #[must_use]
    pub fn buffers(mut self, count: u32, bytes: u32) -> Self {
        self.buffers = count;
        self.buffer_bytes = bytes;
        self
    }

    /// The largest number of connections, 1 to [`MAX_PLACES`].
    #[must_use]
    pub fn places(mut self, count: u32) -> Self {
        self.places = count;
        self
    }

    /// Size of each place's inbox in bytes, [`MIN_RECEIVE_BYTES`] to [`MAX_BUFFER_BYTES`]: the most
    /// unconsumed data.
    #[must_use]
    pub fn receive_bytes(mut self, bytes: u32) -> Self {
        self.receive_bytes = bytes;
        self
    }

    /// Simulates that the kernel refused io_uring with this (positive) errno, so that a caller can
    /// test its fallback on any machine.
    #[must_use]
    pub fn simulate_refusal(mut self, errno: Option<i32>) -> Self {
        self.simulate_refusal = errno;
        self
    }

    /// Checks what applies to both engines.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if self.places == 0 || self.places > MAX_PLACES {
            return Err(EngineError::Places { asked: self.places });
        }
        if self.receive_bytes < MIN_RECEIVE_BYTES || self.receive_bytes > MAX_BUFFER_BYTES {
            return Err(EngineError::ReceiveBytes { asked: self.receive_bytes });
        }
        if self.buffer_bytes == 0 || self.buffer_bytes > MAX_BUFFER_BYTES {
            return Err(EngineError::BufferBytes { asked: self.buffer_bytes });
        }
        Ok(())
    }
}
