//! Charts on the page of a study: the figure around each, and the legend that all of them share.

use crate::full::grid::Grid;
use crate::markup::Markup;
use crate::page::{self, typographic};

/// A chart with its caption, if it has one.
pub(super) fn figure(page: &mut Markup, chart: Markup, caption: &str) {
    page.tag("figure").open();
    page.append(chart);
    if !caption.is_empty() {
        page.leaf("figcaption", &typographic(caption));
    }
    page.close();
}

/// Which colour and mark is which datastore; every legend and chart has them in this order.
pub(super) fn legend(page: &mut Markup, grid: &Grid<'_>) {
    let names: Vec<(usize, String)> = grid
        .columns()
        .into_iter()
        .map(|datastore| (datastore, grid.datastore(datastore)))
        .collect();
    let named = names.iter().enumerate();
    let named = named
        .map(|(place, (datastore, name))| (place, name.as_str(), *datastore == grid.baseline()));
    page::legend(page, named);
}
