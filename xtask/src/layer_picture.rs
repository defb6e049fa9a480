//! The picture of the layers in ARCHITECTURE.md, drawn from the table that tidy checks.
//!
//! A picture drawn by hand is out of date after the first change. Each package stands above everything it uses; what
//! it uses through another package is left out.

use std::collections::BTreeSet;

use crate::layers::{LAYERS, Layer, short};
use crate::tidy::Finding;

/// The file that has the picture.
pub(crate) const FILE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- layers: written by `cargo xtask tidy --write` -->\n```text\n";
const END: &str = "```\n<!-- layers end -->\n";

/// Compares the picture in the text of [`FILE`] with the table.
pub(crate) fn check(text: &str) -> Option<Finding> {
    let line = 1 + text.split(BEGIN).next().map_or(0, |before| before.lines().count());
    (redrawn(text).as_deref() != Some(text)).then(|| {
        let what = "the picture of the layers is not that of the table; draw it with cargo xtask tidy --write";
        Finding::in_file(FILE, line, what.into())
    })
}

/// The text with the picture redrawn; `None` if it has no place for one.
pub(crate) fn redrawn(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}{END}{after}", picture()))
}

/// One line for each package, the lowest last.
fn picture() -> String {
    let mut layers: Vec<(usize, &Layer)> = LAYERS
        .iter()
        .filter(|layer| layer.names().is_some() && layer.package != "xtask")
        .map(|layer| (height(short(layer.package)), layer))
        .collect();
    // Within a height, the order of the table.
    layers.sort_by_key(|(height, _)| std::cmp::Reverse(*height));
    let width = layers.iter().map(|(_, layer)| short(layer.package).len()).max().unwrap_or(0);
    let top: Vec<&str> = LAYERS
        .iter()
        .filter(|layer| layer.names().is_none())
        .map(|layer| short(layer.package))
        .collect();
    let mut text = format!("    {}: all of these\n", top.join(", "));
    for (height, layer) in layers {
        let uses = direct(short(layer.package)).into_iter().collect::<Vec<_>>().join(", ");
        let line = format!("{height:>3} {:<width$}  {uses}", short(layer.package));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn uses(name: &str) -> &'static [&'static str] {
    let layer = LAYERS.iter().find(|layer| short(layer.package) == name);
    layer.and_then(Layer::names).unwrap_or_default()
}

/// 0 for a package that uses none of ours, otherwise one more than the highest that it uses.
fn height(name: &str) -> usize {
    uses(name).iter().map(|below| height(below) + 1).max().unwrap_or(0)
}

/// All packages used, directly or indirectly.
fn reached(name: &str) -> BTreeSet<&'static str> {
    uses(name).iter().flat_map(|below| reached(below).into_iter().chain([*below])).collect()
}

/// The packages used directly and not also through another one.
fn direct(name: &str) -> BTreeSet<&'static str> {
    let beyond: BTreeSet<&str> = uses(name).iter().flat_map(|below| reached(below)).collect();
    uses(name).iter().copied().filter(|below| !beyond.contains(below)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_package_stands_above_what_it_uses() {
        let picture = picture();
        let at = |name: &str| {
            let found =
                picture.lines().position(|line| line.split_whitespace().nth(1) == Some(name));
            found.unwrap_or_else(|| panic!("{name} is not in\n{picture}"))
        };
        assert!(at("driver") < at("trial") && at("trial") < at("disk"));
        assert!(picture.starts_with("    stormeter, bench: all of these\n"), "{picture}");
        // The driver uses disks through trials as well.
        assert!(
            picture.lines().any(|line| line.starts_with("  2 driver ") && line.ends_with(" trial")),
            "{picture}"
        );
    }

    #[test]
    fn a_picture_that_is_not_the_table_s_is_found_and_redrawn() {
        let old = format!("# Layers\n{BEGIN}  0 units\n{END}the rest\n");
        assert!(check(&old).unwrap().to_string().starts_with("ARCHITECTURE.md:2: the picture"));
        let new = redrawn(&old).unwrap();
        assert!(new.starts_with("# Layers\n") && new.ends_with(&format!("{END}the rest\n")));
        assert!(check(&new).is_none());
        assert!(check("no picture").is_some() && redrawn("no picture").is_none());
    }
}
