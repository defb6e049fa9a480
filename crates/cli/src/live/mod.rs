//! What is shown while something runs, on standard error: a few lines that are drawn over on a terminal,
//! one plain line a trial elsewhere. One display for comparisons, studies and everything else that takes
//! its time, so that all of them fit the terminal in the same way.

mod canvas;
mod display;
mod layout;
mod screen;
mod under;

pub(crate) use display::Display;
pub(crate) use layout::{bar, wrapped};
pub(crate) use screen::Screen;
