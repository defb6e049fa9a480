//! Runs in the order in which they were run: what each says of the cells that they share, and, where marks split them,
//! the runs before a mark against those after it, which are [`crate::sides`]. What is shown is a plain value,
//! [`Timeline`]; here it is worded and laid out, as text, JSON and a page.

mod chart;
mod json;
mod model;
mod page;
mod terminal;
mod trend;
mod words;

pub use json::{SCHEMA, SCHEMA_VERSION, derived_schema, json};
pub use model::{
    Mark, Timeline, TimelineCell, TimelineChange, TimelineLone, TimelineMetric, TimelineRun,
    TimelineValue,
};
pub use page::html;
pub use terminal::terminal;
