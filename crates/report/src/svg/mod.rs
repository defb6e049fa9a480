//! Charts as inline SVG, each with a title and a description for readers who do not see it.
//!
//! Colours and fonts come from the page's style sheet through classes (`s0`, `s1`, … are the
//! datastores), so one drawing serves light, dark and print. A datastore also has its own line pattern
//! and mark, so no meaning depends on a colour. Text cannot be measured here: its width is estimated,
//! and charts leave room accordingly.

mod axis;
mod canvas;
pub(crate) mod dots;
mod histogram;
mod label;
pub(crate) mod layers;
pub(crate) mod lines;
mod normal;
pub(crate) mod over_time;
mod percentile;
mod scale;
mod series;
mod shape;
pub(crate) mod stacked;
pub(crate) mod whisker;

pub(crate) use axis::{duration_tick, metric_tick, y_axis};
pub(crate) use canvas::{WIDTH, chart, repeated_chart, small_chart};
pub(crate) use histogram::histogram;
pub(crate) use label::{BOLD_CHARACTER, CHARACTER, spread};
pub(crate) use normal::normal;
pub(crate) use percentile::percentile;
pub(crate) use scale::Scale;
pub(crate) use series::{color_class, dashes, key, mark};
pub(crate) use shape::{columns, hit, line, path, polygon, rect, text, titled};
