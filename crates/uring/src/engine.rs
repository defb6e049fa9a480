//! The choice between the two engines behind one interface.

use crate::{
    EngineError, EngineOptions, Note, Positional, RawCompletion, RawOperation, ReapError, Refusal,
    Ring,
};

/// Which engine to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// io_uring if it works, otherwise positional reads and writes with a note of the reason.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// Positional reads and writes.
    Positional,
}

/// An open engine: one of two, distinguished by a well-predicted branch.
// There is one engine per thread, so the size of its smaller variant does not matter; a box would
// cost the hot path a load.
#[allow(clippy::large_enum_variant)]
pub enum Engine {
    /// io_uring.
    Ring(Ring),
    /// A pool of threads.
    Positional(Positional),
}

/// Calls the same method on either engine.
macro_rules! either {
    ($engine:expr, $one:ident => $call:expr) => {
        match $engine {
            Engine::Ring($one) => $call,
            Engine::Positional($one) => $call,
        }
    };
}

impl Engine {
    /// Opens an engine on the thread that will use it.
    ///
    /// `Auto` falls back if io_uring as such is refused ([`Unavailable`](crate::Unavailable)), not
    /// if the options are wrong or memory is short.
    pub fn open(choice: EngineChoice, options: EngineOptions) -> Result<Self, EngineError> {
        options.check()?;
        match choice {
            EngineChoice::Uring => Ring::open(options).map(Self::Ring),
            EngineChoice::Positional => Positional::open(options).map(Self::Positional),
            EngineChoice::Auto => match Ring::build(&options) {
                Ok(ring) => Ring::with(ring, options).map(Self::Ring),
                Err(reason) => {
                    let mut positional = Positional::open(options)?;
                    positional.note_first(Note::Refused(reason));
                    Ok(Self::Positional(positional))
                }
            },
        }
    }

    /// See [`Ring::push`] and [`Positional::push`].
    #[inline(always)]
    pub fn push(&mut self, operation: RawOperation) -> Result<(), Refusal> {
        either!(self, engine => engine.push(operation))
    }

    /// See [`Ring::reap`] and [`Positional::reap`].
    #[inline]
    pub fn reap<C>(
        &mut self,
        wait_ns: Option<u64>,
        out: &mut Vec<C>,
        made: impl Fn(RawCompletion) -> C,
    ) -> Result<(), ReapError> {
        either!(self, engine => engine.reap(wait_ns, out, made))
    }

    /// The buffer for writing; `None` while an operation uses it, or if it does not exist.
    #[inline]
    pub fn buffer_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        either!(self, engine => engine.buffer_mut(index))
    }

    /// The buffer's contents; `None` while a read fills it, or if it does not exist.
    #[inline]
    pub fn buffer(&self, index: u32) -> Option<&[u8]> {
        either!(self, engine => engine.buffer(index))
    }

    /// Size of a buffer in bytes.
    pub fn buffer_bytes(&self) -> usize {
        either!(self, engine => engine.buffer_bytes())
    }

    /// Number of buffers.
    pub fn buffer_count(&self) -> u32 {
        either!(self, engine => engine.buffer_count())
    }

    /// Number of operations pushed and not reaped.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        either!(self, engine => engine.in_flight())
    }

    /// Waits until completed writes to the files are on their storage (`fsync(2)`). `give_up` is called
    /// before each file and ends the wait if it returns true. Blocks the calling thread.
    ///
    /// # Errors
    /// The system's error: something that was written may be lost. Files that cannot be synced
    /// (pipes and similar) are skipped.
    pub fn sync(&self, give_up: &dyn Fn() -> bool) -> std::io::Result<()> {
        for file in either!(self, engine => engine.files()) {
            if give_up() {
                break;
            }
            match file.sync_all() {
                Err(error) if error.kind() != std::io::ErrorKind::InvalidInput => {
                    return Err(error);
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// What was requested and not granted.
    pub fn notes(&self) -> &[Note] {
        either!(self, engine => engine.notes())
    }
}
