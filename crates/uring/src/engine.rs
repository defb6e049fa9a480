//! The choice between the two engines behind one surface.

use crate::{
    EngineError, EngineOptions, Note, Positional, RawCompletion, RawOperation, ReapError, Refusal,
    Ring,
};

/// Which engine to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// io_uring where it works, else positional reads and writes with a note of the reason.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// Positional reads and writes.
    Positional,
}

/// An open engine: one of two, told apart by a branch that is always predicted right.
// One engine exists a thread, so the size of its smaller variant does not matter; a box would cost
// the hot path a load.
#[allow(clippy::large_enum_variant)]
pub enum Engine {
    /// io_uring.
    Ring(Ring),
    /// A pool of threads.
    Positional(Positional),
}

/// Calls the same method of whichever engine it is.
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
    /// `Auto` falls back when io_uring as such is refused ([`Unavailable`](crate::Unavailable)), not
    /// when the options are wrong or memory is short.
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

    /// The buffer for writing into; `None` while an operation uses it, or if it does not exist.
    #[inline]
    pub fn buffer_mut(&mut self, index: u32) -> Option<&mut [u8]> {
        either!(self, engine => engine.buffer_mut(index))
    }

    /// The buffer's content; `None` while a read fills it, or if it does not exist.
    #[inline]
    pub fn buffer(&self, index: u32) -> Option<&[u8]> {
        either!(self, engine => engine.buffer(index))
    }

    /// Bytes of one buffer.
    pub fn buffer_bytes(&self) -> usize {
        either!(self, engine => engine.buffer_bytes())
    }

    /// Number of buffers.
    pub fn buffer_count(&self) -> u32 {
        either!(self, engine => engine.buffer_count())
    }

    /// Operations pushed and not reaped.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        either!(self, engine => engine.in_flight())
    }

    /// Waits until what was written to the files, and ended, is on their storage (`fsync(2)`), as far as
    /// `give_up` lets it, which is asked before each file. Blocks the calling thread.
    ///
    /// # Errors
    /// What the system says: something that was written may be lost. Files that have nothing to sync
    /// (pipes and the like) are none.
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

    /// What was asked for and not got.
    pub fn notes(&self) -> &[Note] {
        either!(self, engine => engine.notes())
    }
}
