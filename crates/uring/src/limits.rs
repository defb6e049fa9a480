//! The kernel's limits on an engine: options are checked against them, and errors name them.

/// The most operations in flight at once: the largest submission queue of the kernel
/// (`IORING_MAX_ENTRIES`). With this bound neither queue can ever overflow.
pub const MAX_IN_FLIGHT: u32 = 32_768;

/// The largest buffer: the kernel's limit for one registered buffer (1 GiB, see
/// `io_uring_register(2)`).
pub const MAX_BUFFER_BYTES: u32 = 1 << 30;
