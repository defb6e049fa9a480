//! Progress on standard error: a few lines that are redrawn in place on a terminal, one plain line for each
//! trial elsewhere. Comparisons, studies and everything else that takes a while use the same display, so that
//! all of them fit the terminal.

mod canvas;
mod display;
mod layout;
mod screen;
mod under;

pub(crate) use display::Display;
pub(crate) use layout::{bar, columns, wrapped};
pub(crate) use screen::Screen;
