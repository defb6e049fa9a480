//! A run in progress as a page: what it does, what is known so far and how sure, latencies and hosts over time.
//!
//! The page is made of parts, each a piece of markup with an id. A browser that watches replaces the parts that have
//! changed; one without scripts reads the page again every few seconds. Only the heat map of latencies is drawn by the
//! browser, from counts, since as markup it would be most of what is sent.

mod events;
mod found;
mod hosts;
mod judgement;
mod load;
mod model;
mod narrowing;
mod now;
mod page;
mod verdict;

pub use judgement::judgement;
pub use model::{
    Doing, Estimated, Happened, HostNow, HostPoint, Judged, Judgement, LoadCell, LoadPoint,
    LoadSeries, Moment, RunWord,
};
pub use page::{page, parts, without_report};
