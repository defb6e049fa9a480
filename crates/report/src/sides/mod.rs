//! Results of several runs side by side: of datastores that were measured each for itself, or of one before and after a
//! change. What is shown is a plain value, [`Sides`]; here it is worded and laid out, as text, JSON and a page.

pub(crate) mod json;
mod model;
mod page;
mod terminal;
pub(crate) mod words;

pub use json::{SCHEMA, SCHEMA_VERSION, derived_schema, json};
pub use model::{OnlyIn, Side, SideMetric, SideRun, SideValue, Sides, SidesLoad, Unlike};
pub use page::html;
pub use terminal::terminal;
