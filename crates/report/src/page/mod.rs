//! What every page is made of: head and script, typography, legends, findings, tables, the environment.

pub(crate) mod document;
pub(crate) mod environment;
pub(crate) mod findings;
pub(crate) mod tables;

use crate::markup::Markup;
use crate::svg;

/// Which colour and mark is which datastore: the place of each, its name, and whether it is the baseline.
pub(crate) fn legend<'a>(
    page: &mut Markup,
    datastores: impl Iterator<Item = (usize, &'a str, bool)>,
) {
    page.tag("ul").at("class", "legend").open();
    for (place, name, is_baseline) in datastores {
        page.tag("li").open();
        page.append(svg::key(place));
        page.text(name);
        if is_baseline {
            page.text(" ");
            page.tag("small").text("baseline");
        }
        page.close();
    }
    page.close();
}

/// A legend of colours: the class of each and what it stands for.
pub(crate) fn swatches<'a>(page: &mut Markup, colors: impl Iterator<Item = (String, &'a str)>) {
    page.tag("ul").at("class", "legend").open();
    for (class, words) in colors {
        page.tag("li").open();
        page.tag("span").at("class", format!("swatch {class}")).text("");
        page.text(words);
        page.close();
    }
    page.close();
}

/// A URL or path that may break after its `/` and `:`. Where a column is too narrow for it, it would otherwise break
/// before its last letter.
pub(crate) fn breakable(page: &mut Markup, text: &str) {
    let is_sign = |c: char| c == '/' || c == ':';
    let mut rest = text;
    while let Some(sign) = rest.find(is_sign) {
        let signs = rest[sign..].find(|c| !is_sign(c));
        let Some(end) = signs.map(|length| sign + length) else { break };
        let (part, after) = rest.split_at(end);
        page.text(part);
        page.tag("wbr").empty();
        rest = after;
    }
    page.text(rest);
}

/// Narrow no-break spaces before per cent signs and within numbers, so that neither is broken at
/// the end of a line.
pub(crate) fn typographic(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut result = String::with_capacity(text.len());
    for (index, &c) in characters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| characters.get(before));
        let after = characters.get(index + 1);
        let is_digit = |c: Option<&char>| c.is_some_and(char::is_ascii_digit);
        if c == ' ' && is_digit(before) && (after == Some(&'%') || is_digit(after)) {
            result.push('\u{202f}');
        } else {
            result.push(c);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_breaks_after_its_signs() {
        let broken = |text: &str| {
            let mut page = Markup::default();
            breakable(&mut page, text);
            page.finish()
        };
        assert_eq!(
            broken("nfs:127.0.0.1:33685/export"),
            "nfs:<wbr/>127.0.0.1:<wbr/>33685/<wbr/>export"
        );
        assert_eq!(broken("nfs://nas1/vm/"), "nfs://<wbr/>nas1/<wbr/>vm/");
        assert_eq!(broken("/srv/<b>"), "/<wbr/>srv/<wbr/>&lt;b&gt;");
        assert_eq!(broken("local"), "local");
    }

    #[test]
    fn numbers_stay_in_one_piece() {
        assert_eq!(typographic("by 23.4 % to 1 000 IOPS"), "by 23.4\u{202f}% to 1\u{202f}000 IOPS");
    }
}
