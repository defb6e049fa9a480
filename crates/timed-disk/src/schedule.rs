//! When a disk answers.

/// A read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Its first byte.
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    /// Whether it is a write.
    pub is_write: bool,
}

/// Determines when requests are answered. Times are nanoseconds since the disk began, and those of arrivals do not
/// decrease.
pub trait Schedule: Send + 'static {
    /// Accepts a read or write that arrived at `arrived_ns`, and returns the moment of its answer.
    fn admit(&mut self, arrived_ns: u64, access: Access) -> u64;

    /// Accepts a flush likewise.
    fn flush(&mut self, arrived_ns: u64) -> u64;

    /// The names of the files next to the disk.
    fn files(&self) -> &'static [&'static str] {
        &[]
    }

    /// The text of one of these files.
    fn read_file(&self, _name: &str, _now_ns: u64) -> String {
        String::new()
    }

    /// Takes what was written to one of them; `false` if it makes no sense.
    fn write_file(&mut self, _name: &str, _text: &str) -> bool {
        false
    }
}
