//! Options for opening an engine.

use std::fs::File;

use crate::EngineError;
use crate::gate::Gate;
use crate::limits::{MAX_BUFFER_BYTES, MAX_IN_FLIGHT};

/// Files, memory and depth of an engine.
///
/// Defaults: no buffers, one operation in flight, a kernel entry every 4 operations.
pub struct EngineOptions {
    pub(crate) files: Vec<File>,
    pub(crate) buffers: u32,
    pub(crate) buffer_bytes: u32,
    pub(crate) in_flight: u32,
    pub(crate) enter_every: u32,
    pub(crate) simulate_refusal: Option<i32>,
    pub(crate) knobs: Knobs,
}

/// Settings that only this crate's tests change, to reach the paths that other kernels and limits
/// would take.
pub(crate) struct Knobs {
    /// The largest registered buffer in bytes.
    pub(crate) registration_bytes: usize,
    /// Errno to simulate for registering the buffers, or the files.
    pub(crate) refuse_buffers: Option<i32>,
    pub(crate) refuse_files: Option<i32>,
    /// Number of set-up flag combinations to skip, as an older kernel would.
    pub(crate) skip_rungs: usize,
    /// Milliseconds for which a drop waits for operations in flight, without progress, before it
    /// gives up.
    pub(crate) patience_ms: u32,
    /// Passed before each positional operation.
    pub(crate) gate: Gate,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            registration_bytes: MAX_BUFFER_BYTES as usize,
            refuse_buffers: None,
            refuse_files: None,
            skip_rungs: 0,
            patience_ms: 5_000,
            gate: Gate::default(),
        }
    }
}

impl EngineOptions {
    /// Options for `files`, to which operations refer by index. They are used as they were opened
    /// (access mode, `O_DIRECT`) and closed with the engine.
    pub fn new(files: Vec<File>) -> Self {
        Self {
            files,
            buffers: 0,
            buffer_bytes: crate::BUFFER_ALIGNMENT as u32,
            in_flight: 1,
            enter_every: 4,
            simulate_refusal: None,
            knobs: Knobs::default(),
        }
    }

    /// `count` buffers of at least `bytes` each (1 to [`MAX_BUFFER_BYTES`]), rounded up to a
    /// multiple of [`BUFFER_ALIGNMENT`](crate::BUFFER_ALIGNMENT), aligned to it and zeroed.
    #[must_use]
    pub fn buffers(mut self, count: u32, bytes: u32) -> Self {
        self.buffers = count;
        self.buffer_bytes = bytes;
        self
    }

    /// The most operations in flight, 1 to [`MAX_IN_FLIGHT`].
    #[must_use]
    pub fn in_flight(mut self, operations: u32) -> Self {
        self.in_flight = operations;
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
        if self.in_flight == 0 || self.in_flight > MAX_IN_FLIGHT {
            return Err(EngineError::InFlight { asked: self.in_flight });
        }
        if self.buffer_bytes == 0 || self.buffer_bytes > MAX_BUFFER_BYTES {
            return Err(EngineError::BufferBytes { asked: self.buffer_bytes });
        }
        Ok(())
    }
}
