//! How much memory a file may take: no more than ten times its size and half a mebibyte.
//!
//! Most of what is read is packed as it comes. What has to stay unpacked for a while (open tables, names of columns)
//! takes its place from here, and a file that claims more of it than any tool writes is refused.

/// The part that does not grow with the file: a log of 500 bytes may have an encoded histogram of 5000 counts.
const LEAST: usize = 384 << 10;
/// The part that grows: the rest of the ten is for what is read, and for what the allocator doubles.
const TIMES: usize = 3;

/// Why a file is refused that is longer inside than outside.
pub(crate) const FULL: &str = "more entries than a file of this size can hold";

/// Memory that is left, in bytes.
#[derive(Debug, Default)]
pub(crate) struct Room(usize);

impl Room {
    /// For this text.
    pub(crate) fn of(text: &str) -> Self {
        Self(text.len().saturating_mul(TIMES).saturating_add(LEAST))
    }

    /// Takes a place for this many bytes; an error if there is none.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), &'static str> {
        self.0 = self.0.checked_sub(bytes).ok_or(FULL)?;
        Ok(())
    }
}

/// A name that many runs repeat: no path is longer than this, and copies of a long one would take the square of it.
pub(crate) fn kept(name: &str) -> String {
    const MOST: usize = 4096;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
