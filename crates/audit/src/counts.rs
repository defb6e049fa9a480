//! Counts that multiply: a number of things for each host, and a number of hosts. Columns are bound by their names:
//! `vms_per_host` × `hosts` is `vms_total`.

use crate::finding::{Amount, Detail, Finding, Level};
use crate::law::Law;
use crate::row::Row;
use crate::span::Span;

/// Every row's products.
pub(crate) fn check(rows: &[Row<'_>]) -> Vec<Finding> {
    rows.iter().flat_map(products).collect()
}

fn products(row: &Row<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for column in &row.table.columns {
        let Some((what, each)) = column.name.split_once("_per_") else { continue };
        let per = named(row, &column.name);
        let total = ["{}_total", "total_{}", "{}"]
            .iter()
            .find_map(|form| named(row, &form.replace("{}", what)));
        let number = named(row, &format!("{each}s"));
        findings.extend(product(row, [per.clone(), number], total));
        // In a chain: requests for each virtual machine, virtual machines for each host.
        let prefix = format!("{each}s_per_");
        for other in &row.table.columns {
            let Some(of) = other.name.strip_prefix(&prefix) else { continue };
            let total = named(row, &format!("{what}_per_{of}"));
            findings.extend(product(row, [per.clone(), named(row, &other.name)], total));
        }
    }
    findings
}

fn named(row: &Row<'_>, name: &str) -> Option<Amount> {
    let index = row.table.columns.iter().position(|column| column.name == name)?;
    // The unit repeats the name.
    Some(Amount::new(name, row.at(index)?, ""))
}

fn product(row: &Row<'_>, factors: [Option<Amount>; 2], total: Option<Amount>) -> Option<Finding> {
    let [Some(one), Some(other)] = factors else { return None };
    let stated = total?;
    let follows: Span = one.span.times(other.span);
    stated.span.apart(follows)?;
    let follows = Amount::new("their product", follows, "");
    let detail = Detail::Mismatch { stated, follows, from: vec![one, other] };
    Some(Finding::new(Law::Counts, Level::Broken, row.place(), detail))
}
