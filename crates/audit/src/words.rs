//! Findings as sentences. This is the one place that words them.

use std::fmt::Write as _;

use crate::finding::{Amount, Detail, Explanation, Finding, Level};
use crate::span::Span;

/// What was found, in one or two sentences without the place.
pub fn sentence(finding: &Finding) -> String {
    let mut text = detail(&finding.detail);
    let is_stated = |why: &&Explanation| matches!(why, Explanation::AlsoStated { .. });
    let (stated, why): (Vec<_>, Vec<_>) = finding.explanations.iter().partition(is_stated);
    let why: Vec<String> = why.into_iter().map(explanation).collect();
    if !why.is_empty() {
        let _ = write!(text, ": {}", why.join(", or "));
    }
    for stated in stated {
        let _ = write!(text, "; {}", explanation(stated));
    }
    text
}

/// What to do about it.
pub(crate) fn advice(finding: &Finding) -> String {
    match &finding.detail {
        Detail::Own { advice, .. } => advice.clone(),
        _ => finding.law.advice().to_owned(),
    }
}

/// How a level is called.
pub(crate) fn level(level: Level) -> &'static str {
    match level {
        Level::Broken => "broken",
        Level::Doubtful => "doubtful",
        Level::Note => "note",
    }
}

fn detail(detail: &Detail) -> String {
    match detail {
        Detail::Mismatch { stated, follows, from } => {
            let mut text = format!("{} is stated as {}", stated.what, amount(stated));
            let of: Vec<String> = from
                .iter()
                .map(|part| format!("{} {}", part.what, amount(part)).trim().to_owned())
                .collect();
            let source = if of.is_empty() { follows.what.clone() } else { of.join(" and ") };
            let verb = if of.len() > 1 { "give" } else { "gives" };
            let _ = write!(text, "; {source} {verb} {}", amount(follows));
            text + &off(stated.span, follows.span)
        }
        Detail::Unlike { one, other } => format!(
            "{} is {} and {} is {}{}",
            one.what,
            amount(one),
            other.what,
            amount(other),
            off(other.span, one.span)
        ),
        Detail::Limit { stated, limit, is_least, beyond } => {
            let side = if *is_least { "below" } else { "above" };
            let mut text = format!(
                "{} of {} is {side} {} ({})",
                stated.what,
                amount(stated),
                limit.what,
                amount(limit)
            );
            if beyond.1 > 1 {
                let _ = write!(text, ", as {} of {} figures are", beyond.0, beyond.1);
            }
            text
        }
        Detail::Claimed { claim, lhs, rhs } => {
            format!("\"{claim}\": {} is {}, {} is {}", lhs.what, amount(lhs), rhs.what, amount(rhs))
        }
        Detail::Interval { claim, percent, level } => format!(
            "\"{claim}\": the difference is {} to {} % at {:.0} %",
            rough(percent.0),
            rough(percent.1),
            100.0 * level
        ),
        Detail::Copy { other, figures } => format!("the same {figures} figures as {other}"),
        Detail::Statement { say, published, recomputed, unit, reason } => {
            let mut text = say.trim_end_matches('.').to_owned();
            if let Some(published) = published {
                let _ = write!(text, ": published as {published} {unit}");
                text = text.trim_end().to_owned();
            }
            if let Some(span) = recomputed {
                let _ = write!(text, "; the tables give {}", number(span.middle));
            } else if published.is_none() {
                text += ": the tables say otherwise";
            }
            if let Some(reason) = reason {
                let _ = write!(text, " ({reason})");
            }
            text
        }
        Detail::Fact(text) => text.clone(),
        Detail::Own { what, .. } => what.clone(),
    }
}

/// By how much two figures are off.
fn off(stated: Span, follows: Span) -> String {
    match stated.ratio(follows) {
        Some(ratio) if !(0.5..=2.0).contains(&ratio) => {
            let times = if ratio > 1.0 { ratio } else { 1.0 / ratio };
            let side = if ratio > 1.0 { "too large" } else { "too small" };
            format!(", {} times {side}", rough(times))
        }
        Some(ratio) => format!(", off by {} %", rough(100.0 * (ratio - 1.0).abs())),
        None => String::new(),
    }
}

fn explanation(explanation: &Explanation) -> String {
    match explanation {
        Explanation::AlsoStated { source, say } => {
            format!("for the same reason \"{say}\" ({source}) does not hold")
        }
        Explanation::RequestSize { bytes, stated_bytes, of } => {
            let of = of.as_ref().map(|of| format!(", the size of {of}")).unwrap_or_default();
            format!("that is what {} requests give{of}, not {}", size(*bytes), size(*stated_bytes))
        }
        Explanation::BitsForBytes => "bits are printed as bytes".to_owned(),
        Explanation::BytesForBits => "bytes are printed as bits".to_owned(),
        Explanation::Binary => "1000 and 1024 are mixed".to_owned(),
        Explanation::UnitIs(unit) => format!("the unit is {unit}"),
        Explanation::Workers(workers) => {
            format!("the number outstanding is of one of {} workers", number(*workers))
        }
        Explanation::WaitsElsewhere => {
            "requests wait where the latency does not see it, or the loop pauses".to_owned()
        }
        Explanation::OneLess => "n and n − 1 are exchanged".to_owned(),
        Explanation::SdForSe => "the SD is printed as the SE".to_owned(),
        Explanation::SampleOf(n) => format!("it fits a sample of {}", number(n.round())),
        Explanation::OtherBase => "it is percent of the other figure".to_owned(),
        Explanation::RatioForChange => {
            "it is one figure in percent of the other, not the difference".to_owned()
        }
        Explanation::Cut => "digits were cut, not rounded".to_owned(),
        Explanation::RoundedOnTheWay => "intermediate results were rounded".to_owned(),
        Explanation::Cache => "a memory on the way answered".to_owned(),
        Explanation::OneEnd => "the time was taken at one end of it".to_owned(),
        Explanation::OneSided => "it is one-sided".to_owned(),
        Explanation::Exchanged => "the two are exchanged".to_owned(),
        Explanation::AnotherRow(row) => format!("it is the figure of {row}"),
        Explanation::WithoutRow(row) => format!("it is right without {row}"),
        Explanation::Median => "it is the median".to_owned(),
        Explanation::PowerOfTen(power) => {
            let (factor, side) =
                (10f64.powi(power.abs()), if *power > 0 { "large" } else { "small" });
            format!("a unit is wrong: {} times too {side}", number(factor))
        }
    }
}

fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1024.0 * 1024.0 && bytes % (1024.0 * 1024.0) == 0.0 => {
            format!("{} MiB", number(bytes / 1024.0 / 1024.0))
        }
        bytes if bytes >= 1024.0 => format!("{} KiB", number(bytes / 1024.0)),
        bytes => format!("{} B", number(bytes)),
    }
}

fn amount(amount: &Amount) -> String {
    format!("{} {}", number(amount.span.middle), amount.unit).trim_end().to_owned()
}

/// Five significant digits, more of a whole number.
fn number(value: f64) -> String {
    digits(value, 5)
}

/// Ratios and shares: three digits.
fn rough(value: f64) -> String {
    digits(value, 3)
}

fn digits(value: f64, significant: i32) -> String {
    if !value.is_finite() {
        return "unbounded".to_owned();
    }
    if value == value.round() && value.abs() < 1e15 {
        return format!("{value}");
    }
    let digits = significant - 1 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", digits.clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, text) in [
            (3.420_51, "3.4205"),
            (27.4, "27.4"),
            (14693.0, "14693"),
            (12345.67, "12346"),
            (0.000_123_456, "0.00012346"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
