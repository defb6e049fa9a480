//! Values with limits.

use stormeter_yaml::{Diagnostics, Node, Section};

use crate::model::DiskLimit;

const MEBIBYTE: u64 = 1 << 20;

/// A rate in bits per second, as networks are sold: `1Gb`, `100Mb`; decimal.
pub(super) fn rate(node: &Node, diagnostics: &mut Diagnostics) -> Option<u64> {
    let text = node.text().map(str::trim).unwrap_or_default();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "Gb" => Some(1e9),
        "Mb" => Some(1e6),
        "kb" => Some(1e3),
        _ => None,
    };
    let number = digits.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match (number, factor) {
        (Some(number), Some(factor)) if (1e4..=1e12).contains(&(number * factor)) => {
            Some((number * factor).round() as u64)
        }
        (Some(_), Some(_)) => {
            diagnostics.error_at(
                node.place,
                format!("a rate must be between 10kb and 1000Gb, not {text}"),
            );
            None
        }
        _ => {
            let found = node.found();
            diagnostics.error_at(
                node.place,
                format!("a rate is in bits a second, such as 1Gb or 100Mb, not {found}"),
            );
            None
        }
    }
}

/// A size in whole mebibytes within limits, which messages give in mebibytes.
pub(super) fn size(
    section: &Section<'_>,
    key: &str,
    least_mib: u64,
    most_mib: u64,
    diagnostics: &mut Diagnostics,
) -> Option<u64> {
    let bytes = section.size(key, diagnostics)?;
    let place = section.place_of(key);
    if !(least_mib..=most_mib).contains(&(bytes / MEBIBYTE)) {
        diagnostics.error_at(
            place,
            format!("{key} must be between {least_mib}MiB and {most_mib}MiB here"),
        );
        return None;
    }
    if bytes % MEBIBYTE != 0 {
        let whole = bytes.div_ceil(MEBIBYTE);
        diagnostics
            .error_at(place, format!("{key} is a whole number of MiB; write {key}: {whole}MiB"));
        return None;
    }
    Some(bytes)
}

/// A whole number within limits.
pub(super) fn number(
    section: &Section<'_>,
    key: &str,
    least: u32,
    most: u32,
    diagnostics: &mut Diagnostics,
) -> Option<u32> {
    let found = section.count(key, least, diagnostics)?;
    if found > most {
        diagnostics
            .error_at(section.place_of(key), format!("{key} is at most {most}, not {found}"));
        return None;
    }
    Some(found)
}

/// The limit of a disk: `iops` and `throughput`.
pub(super) fn limit(section: &Section<'_>, diagnostics: &mut Diagnostics) -> DiskLimit {
    DiskLimit {
        iops: number(section, "iops", 1, 1_000_000, diagnostics),
        bytes_per_s: throughput(section, diagnostics),
    }
}

/// In bytes per second.
fn throughput(section: &Section<'_>, diagnostics: &mut Diagnostics) -> Option<u64> {
    const KEY: &str = "throughput";
    let bytes = section.size(KEY, diagnostics)?;
    if !(1000..=1_000_000_000_000).contains(&bytes) {
        diagnostics.error_at(
            section.place_of(KEY),
            "throughput is in bytes a second, between 1kB and 1TB, such as 20MB",
        );
        return None;
    }
    Some(bytes)
}

/// A duration in whole steps of `step_ns` up to ten seconds.
pub(super) fn duration(
    section: &Section<'_>,
    key: &str,
    step_ns: u64,
    step: &str,
    diagnostics: &mut Diagnostics,
) -> Option<u64> {
    const MOST_NS: u64 = 10_000_000_000;
    let ns = section.duration(key, diagnostics)?;
    let place = section.place_of(key);
    if ns > MOST_NS {
        diagnostics.error_at(place, format!("{key} is at most 10s"));
        return None;
    }
    if ns % step_ns != 0 {
        diagnostics.error_at(
            place,
            format!("{key} is a whole number of {step}, which is all that a guest can wait"),
        );
        return None;
    }
    Some(ns)
}
