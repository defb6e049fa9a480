//! Tables of a page.

use crate::markup::Markup;

/// A table whose first column names the rows.
pub(crate) fn plain(page: &mut Markup, head: &[String], rows: Vec<Vec<String>>) {
    table(page, "numbers");
    page.tag("thead").open();
    page.tag("tr").open();
    for cell in head {
        page.tag("th").at("scope", "col").text(cell);
    }
    page.close();
    page.close();
    page.tag("tbody").open();
    for row in rows {
        page.tag("tr").open();
        for (column, cell) in row.iter().enumerate() {
            match column {
                0 => page.tag("th").at("scope", "row").text(cell),
                _ => page.tag("td").text(cell),
            }
        }
        page.close();
    }
    close_table(page);
}

/// Starts a table. A wide one scrolls in a frame of its own, so that the page does not scroll sideways.
pub(crate) fn table(page: &mut Markup, class: &str) {
    page.tag("div").at("class", "scroll").open();
    page.tag("table").at("class", class).open();
}

pub(crate) fn close_table(page: &mut Markup) {
    for _ in ["tbody", "table", "div"] {
        page.close();
    }
}
