//! From a file to a [`Sheet`]: tables, what the test bed can carry, claims and findings.

use crate::printed::Printed;
use crate::read_findings::{expression, findings};
use crate::read_tables::tables;
use crate::sheet::{Base, Better, Limit, PairClaim, Relation, SameClaim, Sheet};
use crate::source::{Fields, Node, ReadError, document_of};
use crate::table::Tables;

/// The keys of a sheet.
pub(crate) const KEYS: [&str; 7] =
    ["tables", "links", "devices", "claims", "same", "findings", "checks"];
/// Those of a published study besides, which a sheet may have too.
pub(crate) const KEYS_OF_STUDIES: [&str; 5] = ["study", "testbed", "weak", "sound", "stands-for"];

impl Sheet {
    /// Reads a file of tables: `tables`, and what it has of `links`, `devices`, `claims`, `same`, `findings` and
    /// `checks`. What a published study has besides is skipped.
    ///
    /// # Errors
    /// With line and column: invalid YAML, an unknown or missing field, a row that does not fit its columns, a
    /// duplicate name, an expression that cannot be parsed or refers to a table that does not exist.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let document = document_of(text)?;
        let keys: Vec<&str> = KEYS.into_iter().chain(KEYS_OF_STUDIES).collect();
        let fields = Node(&document.tree).fields(&keys)?;
        Ok(Self { notes: document.notes, ..sheet(&fields)? })
    }
}

/// All of a sheet but the remarks.
pub(crate) fn sheet(fields: &Fields<'_>) -> Result<Sheet, ReadError> {
    let tables = tables(fields.need("tables")?)?;
    let limits = |key: &str| match fields.get(key) {
        Some(node) => node.items()?.into_iter().map(|item| limit(item, &tables)).collect(),
        None => Ok(Vec::new()),
    };
    let claims = match fields.get("claims") {
        Some(node) => node.items()?.into_iter().map(|item| claim(item, &tables)).collect(),
        None => Ok(Vec::new()),
    };
    let same = match fields.get("same") {
        Some(node) => node.items()?.into_iter().map(|item| same(item, &tables)).collect(),
        None => Ok(Vec::new()),
    };
    let mut ids = Vec::new();
    let mut all = |key: &str| match fields.get(key) {
        Some(node) => findings(node, &tables, &mut ids),
        None => Ok(Vec::new()),
    };
    let (findings, checks) = (all("findings")?, all("checks")?);
    Ok(Sheet {
        links: limits("links")?,
        devices: limits("devices")?,
        claims: claims?,
        same: same?,
        findings,
        checks,
        notes: Vec::new(),
        tables,
    })
}

fn limit(node: Node<'_>, tables: &Tables) -> Result<Limit, ReadError> {
    let fields = node.fields(&["name", "rate", "iops", "round-trip", "carries", "is-generator"])?;
    let figure = |key: &str, what: &str, of: fn(&str) -> Option<f64>| {
        let Some(node) = fields.get(key) else { return Ok(None) };
        let text = node.text()?;
        let value = of(&text).filter(|value| *value > 0.0);
        value.map(Some).ok_or_else(|| node.error(format!("`{text}` is not {what}")))
    };
    let limit = Limit {
        name: fields.text("name")?,
        bytes_per_s: figure("rate", "a rate, such as 1 Gb/s or 133 MB/s", rate)?,
        iops: figure("iops", "a number of requests per second, such as 240", |text| {
            text.parse().ok()
        })?,
        round_trip_s: figure("round-trip", "a time, such as 0.2 ms", time)?,
        carries: match fields.get("carries") {
            None => Vec::new(),
            Some(node) => node
                .items()?
                .into_iter()
                .map(|item| path(item, tables))
                .collect::<Result<_, _>>()?,
        },
        is_generator: fields.get("is-generator").map_or(Ok(false), |node| node.truth())?,
    };
    if limit.bytes_per_s.is_none() && limit.iops.is_none() && limit.round_trip_s.is_none() {
        return Err(node.error("this limits nothing; give it a `rate`, `iops` or `round-trip`"));
    }
    Ok(limit)
}

/// A column or a cell.
fn path(node: Node<'_>, tables: &Tables) -> Result<Vec<String>, ReadError> {
    let steps: Vec<String> = node.text()?.split('.').map(str::to_owned).collect();
    tables.find_present(&steps).map_err(|what| node.error(what))?;
    Ok(steps)
}

fn claim(node: Node<'_>, tables: &Tables) -> Result<PairClaim, ReadError> {
    let fields = node.fields(&[
        "source",
        "say",
        "lhs",
        "rhs",
        "metric",
        "relation",
        "value",
        "base",
        "plays-no-part",
    ])?;
    let relation = word(fields.need("relation")?, RELATIONS)?;
    let value = match fields.get("value") {
        None => None,
        Some(node) => {
            let text = node.text()?;
            let digits = text.strip_suffix('%').unwrap_or(&text);
            let printed = Printed::read(digits);
            Some(printed.ok_or_else(|| {
                node.error(format!("`{text}` is not a plain number, such as 24.38 or 24.38 %"))
            })?)
        }
    };
    if relation == Relation::Times && value.is_none() {
        return Err(node.error("how many times is not said; add `value`"));
    }
    Ok(PairClaim {
        source: fields.optional_text("source")?.unwrap_or_default(),
        say: fields.text("say")?,
        lhs: expression(fields.need("lhs")?, tables)?,
        rhs: expression(fields.need("rhs")?, tables)?,
        metric: fields.get("metric").map_or(Ok(Better::More), |node| word(node, METRICS))?,
        relation,
        value,
        base: fields.get("base").map(|node| word(node, BASES)).transpose()?,
        plays_no_part: fields.get("plays-no-part").map_or(Ok(false), |node| node.truth())?,
    })
}

const RELATIONS: &[(&str, Relation)] = &[
    ("faster", Relation::Faster),
    ("slower", Relation::Slower),
    ("higher", Relation::Higher),
    ("lower", Relation::Lower),
    ("equal", Relation::Equal),
    ("times", Relation::Times),
];
const METRICS: &[(&str, Better)] = &[("rate", Better::More), ("time", Better::Less)];
const BASES: &[(&str, Base)] = &[("lhs", Base::Lhs), ("rhs", Base::Rhs)];

fn word<T: Copy>(node: Node<'_>, words: &[(&str, T)]) -> Result<T, ReadError> {
    let text = node.text()?;
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        node.error(format!("`{text}` means nothing here; there are {}", known.join(", ")))
    })
}

fn same(node: Node<'_>, tables: &Tables) -> Result<SameClaim, ReadError> {
    let fields = node.fields(&["say", "source", "one", "other"])?;
    Ok(SameClaim {
        say: fields.text("say")?,
        source: fields.optional_text("source")?.unwrap_or_default(),
        one: expression(fields.need("one")?, tables)?,
        other: expression(fields.need("other")?, tables)?,
    })
}

/// A number and a unit, such as `1 Gb/s`.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (digits, unit) = text.split_at(end);
    let factor = units.iter().find(|(name, _)| *name == unit.trim())?.1;
    Some(digits.parse::<f64>().ok()? * factor)
}

/// Bytes per second; rates of links count bits and powers of ten.
fn rate(text: &str) -> Option<f64> {
    const UNITS: &[(&str, f64)] = &[
        ("kb/s", 125.0),
        ("Mb/s", 125e3),
        ("Gb/s", 125e6),
        ("KB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("KiB/s", 1024.0),
        ("MiB/s", 1048576.0),
        ("GiB/s", 1073741824.0),
    ];
    quantity(text, UNITS)
}

/// Seconds.
fn time(text: &str) -> Option<f64> {
    quantity(text, &[("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)])
}
