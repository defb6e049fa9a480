//! The compact layout: the report of a comparison, which has one verdict for each candidate. The sentence comes first,
//! then the findings that weaken it, then the numbers of all datastores side by side.
//!
//! [`Compact`] is a view of a [`crate::Report`]; text and page only lay it out.

mod changes;
mod cpu;
pub(crate) mod method;
pub(crate) mod model;
mod of_report;
mod over_time;
mod page;
mod pair;
pub(crate) mod sentence;
pub(crate) mod tables;
mod terminal;

pub(crate) use cpu::PARTS;
pub use model::{
    Bucket, Ceiling, Compact, CpuPerIo, Datastore, LatencyDistribution, MetricComparison,
    MetricValue, PercentilePoint, TrialSeries, WayCeiling, curve_fractions,
};
pub(crate) use of_report::cpu_per_io;
pub use page::html;
pub use sentence::{headline, sentence};
pub use terminal::terminal;
