//! The site file: YAML in, a [`Site`] out, or every mistake with its position.
//!
//! `docs/site-file.md` documents what each key means and its default. The text becomes a tree that
//! knows its positions; `like` is expanded ([`like`]); changes from outside are applied
//! ([`change`]); then each mapping is read with the list of its keys. References to other parts are
//! resolved to indices, and whether parts fit together is checked where both are named.

mod assumed;
mod change;
mod datastore;
mod device;
mod fit;
mod form;
mod host;
mod keys;
mod like;
mod limits;
mod part;
mod path;
mod storage;
mod value;

use serde::{Deserialize, Serialize};
use stormeter_yaml::{Diagnostics, Node, Place, Section, Source, document};

use crate::library::library_text;
use crate::model::Site;
use crate::overrides::Override;
use crate::unit::Quantity;
use datastore::Known;
use form::{CHANGES, FORM};

pub use assumed::Assumption;
pub use fit::{CalibrationPoint, FreeParameter};
pub use keys::key_lists;
pub use stormeter_yaml::{FileError as SiteError, FileErrors as SiteErrors};

/// A site, and what its file says about what is known of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteFile {
    /// The site to simulate.
    pub site: Site,
    /// Values that are assumed, with other plausible ones; defaults among them.
    pub assumed: Vec<Assumption>,
    /// Parameters that a calibration may change.
    pub fit: Vec<FreeParameter>,
    /// Findings that parameters were fitted to.
    pub calibration: Vec<CalibrationPoint>,
}

/// Reads a site file and fills in every default. Looks at nothing but the text.
pub fn parse_site(text: &str) -> Result<SiteFile, SiteErrors> {
    parse_site_with(text, &[])
}

/// Reads a site file with changes, applied in order. A mistake in a change is reported with the
/// change as its source.
pub fn parse_site_with(text: &str, changes: &[Override]) -> Result<SiteFile, SiteErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut diagnostics = Diagnostics::default();
    let file =
        trees(text, changes, &mut diagnostics).and_then(|trees| site(&trees, &mut diagnostics));
    match file {
        Some(file) if diagnostics.is_empty() => Ok(file),
        _ => Err(errors(diagnostics, text, changes)),
    }
}

/// The value of a parameter, from the file or from what an entry is like, in its base unit
/// (nanoseconds, cycles, bytes, bytes per second, hertz, a share), with its unit as written, which a
/// change of it has to use.
pub fn quantity(text: &str, path: &str) -> Result<Quantity, SiteErrors> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut diagnostics = Diagnostics::default();
    let place = Place { source: CHANGES, line: 1, column: 1, width: path.chars().count().max(1) };
    let found = trees(text, &[], &mut diagnostics).and_then(|trees| {
        let node = path::find(&trees.whole, path, place, &mut diagnostics)?;
        let number = node.text().and_then(Quantity::parse);
        if number.is_none() {
            diagnostics
                .error_at(place, format!("{path} is {}, which is not a number", node.found()));
        }
        number
    });
    match found {
        Some(number) if diagnostics.is_empty() => Ok(number),
        _ => Err(diagnostics.into_errors(&[
            Source { name: FILE, text },
            Source { name: "parameter", text: path },
            Source { name: "library", text: library_text() },
        ])),
    }
}

/// The text of a file with parameters set to other values, and everything else unchanged, including
/// comments.
///
/// # Errors
/// A parameter does not exist, or comes from what its entry is like: it has to be written out
/// first.
pub fn rewritten(text: &str, changes: &[Override]) -> Result<String, SiteErrors> {
    let mut diagnostics = Diagnostics::default();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let mut places = Vec::new();
    if let Some(trees) = trees(text, &[], &mut diagnostics) {
        for (index, change) in changes.iter().enumerate() {
            let width = change.path().chars().count().max(1);
            let place = Place { source: CHANGES, line: index + 1, column: 1, width };
            let Some(node) = path::find(&trees.whole, change.path(), place, &mut diagnostics)
            else {
                continue;
            };
            if node.place.source == 0 && node.text().is_some() {
                places.push((node.place, change.value()));
            } else {
                let path = change.path();
                diagnostics.error_at(
                    place,
                    format!("{path} is not written in this file; write it out where it is used"),
                );
            }
        }
    }
    if !diagnostics.is_empty() {
        return Err(errors(diagnostics, text, changes));
    }
    // From the end of a line to its start, so that earlier positions stay valid.
    places.sort_by_key(|(place, _)| std::cmp::Reverse((place.line, place.column)));
    for (place, value) in places {
        let Some(line) = lines.get_mut(place.line - 1) else { continue };
        let before: String = line.chars().take(place.column - 1).collect();
        let after: String = line.chars().skip(place.column - 1 + place.width).collect();
        *line = format!("{before}{value}{after}");
    }
    Ok(lines.join("\n"))
}

const FILE: &str = "site.yaml";

fn errors(diagnostics: Diagnostics, text: &str, changes: &[Override]) -> SiteErrors {
    let lines: Vec<String> = changes.iter().map(Override::to_string).collect();
    diagnostics.into_errors(&[
        Source { name: FILE, text },
        Source { name: "change", text: &lines.join("\n") },
        Source { name: "library", text: library_text() },
    ])
}

/// The file as a tree, with `like` expanded.
struct Trees {
    /// With all changes.
    whole: Node,
    /// Without changes, if there are any. Free parameters are defined by the file: a device that was
    /// exchanged may lack a parameter of its predecessor that can be fitted.
    unchanged: Option<Node>,
}

fn trees(text: &str, changes: &[Override], diagnostics: &mut Diagnostics) -> Option<Trees> {
    let mut root = document(text, 0, &FORM, diagnostics)?;
    let unchanged = (!changes.is_empty()).then(|| {
        let mut root = root.clone();
        // The other tree reports the same errors, or a change fixes them.
        like::expand(&mut root, &mut Diagnostics::default());
        root
    });
    change::change_likes(&mut root, changes, diagnostics);
    like::expand(&mut root, diagnostics);
    change::change(&mut root, changes, diagnostics);
    // A change may introduce an entry with `like`. Earlier unresolved ones have been reported
    // already.
    if diagnostics.is_empty() {
        like::expand(&mut root, diagnostics);
    }
    Some(Trees { whole: root, unchanged })
}

/// Reads the site; if there were errors, the result must not be used.
fn site(trees: &Trees, diagnostics: &mut Diagnostics) -> Option<SiteFile> {
    let root = &trees.whole;
    let section = Section::open(root, "a site file", &keys::SITE, diagnostics)?;
    let mut site = Site { name: "a site".into(), ..Site::default() };
    if let Some(name) = section.text("site", diagnostics) {
        site.name = name.into();
    }
    site.as_built = section.count("as-built", 0, diagnostics);
    let states = [("steady", false), ("fresh", true)];
    site.fresh = section.choice("write-memory", &states, diagnostics).unwrap_or(false);
    let mut entries = |key: &str, kind: &str, example: &str| {
        part::entries(section.get(key), kind, example, diagnostics)
    };
    let hosts = entries("hosts", "host group", "esx: {count: 8, cores: 8, clock: 2.5GHz}");
    let stacks = entries("stacks", "stack", "nfs: {protocol: nfs, per-read: 60000 cycles}");
    let networks = entries("networks", "network", "lan: {latency: 5us}");
    let groups = entries("disk-groups", "disk group", "raid: {raid: 5, disks: 4}");
    let controllers = entries("controllers", "controller", "filer: {cores: 4, clock: 2.6GHz}");
    let clusters = entries("clusters", "cluster", "vsan: {nodes: server, adapter: vsan}");
    let datastores = entries("datastores", "datastore", "nfs: {hosts: esx, stack: nfs}");
    site.hosts =
        hosts.iter().map(|(name, at, node)| host::host(name, *at, node, diagnostics)).collect();
    let server_adapter =
        section.get("client").and_then(|client| like::get(client, "server-adapter"));
    if let Some(name) = server_adapter.and_then(Node::text) {
        datastore::put_first(name.trim(), &mut site.hosts);
    }
    site.stacks =
        stacks.iter().map(|(name, at, node)| host::stack(name, *at, node, diagnostics)).collect();
    site.networks = networks
        .iter()
        .map(|(name, at, node)| storage::network(name, *at, node, diagnostics))
        .collect();
    site.groups =
        groups.iter().map(|(name, at, node)| device::group(name, *at, node, diagnostics)).collect();
    let group_names = part::names(&groups);
    site.controllers = controllers
        .iter()
        .map(|(name, at, node)| storage::controller(name, *at, node, &group_names, diagnostics))
        .collect();
    for ((_, at, node), controller) in controllers.iter().zip(&site.controllers) {
        if let Some(group) = site.groups.get(controller.group) {
            limits::behind_controllers(*at, node, controller, group, diagnostics);
        }
    }
    site.clusters = clusters
        .iter()
        .filter_map(|(name, at, node)| storage::cluster(name, *at, node, &site.hosts, diagnostics))
        .collect();
    let whole = diagnostics.is_empty();
    let known = Known { site: &site, clusters: &part::names(&clusters), whole };
    let read: Vec<_> = datastores
        .iter()
        .filter_map(|(name, at, node)| {
            datastore::datastore(name, *at, node, &known, diagnostics).map(|found| (found, *at))
        })
        .collect();
    let pairs: Vec<_> = read.iter().map(|(found, at)| (found, *at)).collect();
    datastore::check_names(&pairs, diagnostics);
    site.datastores = read.into_iter().map(|(found, _)| found).collect();
    need(&section, diagnostics);
    if let Some(node) = section.get("client") {
        site.client = datastore::client(node, node.place, &site, diagnostics);
    }
    let (written, root) = (trees.unchanged.as_ref(), trees.unchanged.as_ref().unwrap_or(root));
    let mut file = SiteFile { site, assumed: Vec::new(), fit: Vec::new(), calibration: Vec::new() };
    // A part that could not be read has no parameters, and that has been reported already.
    if diagnostics.is_empty() {
        file.assumed = assumed::assumed(&trees.whole, written, section.get("assumed"), diagnostics);
    }
    if diagnostics.is_empty() {
        file.fit = fit::fit(root, section.get("fit"), diagnostics);
    }
    if diagnostics.is_empty() {
        let node = section.get("calibration");
        file.calibration = fit::calibration(&file.site, &file.fit, node, diagnostics);
    }
    Some(file)
}

/// Reports missing sections that every site needs.
fn need(section: &Section<'_>, diagnostics: &mut Diagnostics) {
    for key in ["hosts", "stacks", "datastores"] {
        let entries = section.get(key).map(|node| &node.value);
        let is_empty =
            matches!(entries, Some(stormeter_yaml::Value::Map(pairs)) if pairs.is_empty());
        if entries.is_none() || is_empty {
            let example = keys::SITE.example(key);
            diagnostics.error_at(
                section.place_of(key),
                format!("a site has no {key}; write {key}: {example}"),
            );
        }
    }
}

/// The committed JSON Schema (draft 2020-12) of a site file. It is hand-written, because people and
/// editors read it; tests check it against the reader's keys.
pub fn site_schema() -> &'static str {
    include_str!("../../../../docs/schema/site.schema.json")
}
