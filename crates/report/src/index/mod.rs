//! The index of a directory of results as a page: a table that sorts and filters, with links to the reports. What is in
//! it is a plain value, [`Index`]; the caller has read the files.

mod model;
mod page;

pub use model::{Index, IndexRow, IndexState};
pub use page::html;
