//! How a ratio to the baseline is written on a page: as a change, or as a factor where it is large.
//!
//! A reader compares the sentence with the chart and the table, so all three write one number in one
//! way. The sentences of comparisons and of studies turn to factors at different places; each page
//! follows its own sentences.

use stormeter_statistics::Interval;

/// When a ratio is written as a factor, and with how many digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notation {
    /// Ratios from here on are factors…
    factor_from: f64,
    /// … and those down from here.
    factor_to: f64,
    /// Decimals of a factor.
    factor_digits: usize,
    /// Changes of less than this many per cent have two decimals.
    fine_below: f64,
}

/// As [`crate::sentence`] writes it.
pub(crate) const OF_COMPARISON: Notation =
    Notation { factor_from: 3.0, factor_to: 0.0, factor_digits: 1, fine_below: 0.095 };
/// As the answers of a study write it.
pub(crate) const OF_STUDY: Notation =
    Notation { factor_from: 2.0, factor_to: 0.5, factor_digits: 2, fine_below: 1.0 };

impl Notation {
    fn is_factor(self, ratio: f64) -> bool {
        ratio >= self.factor_from || ratio <= self.factor_to
    }

    /// `−42.8 %`, `+3.4 %`, `× 21.3`; `–` for what is not finite.
    pub(crate) fn show(self, ratio: f64) -> String {
        match ratio {
            ratio if !ratio.is_finite() => "–".into(),
            ratio if self.is_factor(ratio) => format!("×\u{202f}{}", self.factor(ratio)),
            ratio => format!("{}\u{202f}%", self.percent(ratio)),
        }
    }

    /// Both ends as the ratio itself is written: `−45.0 to −40.2 %`, `× 19.0 to 23.1`.
    pub(crate) fn range(self, ratio: f64, interval: &Interval) -> String {
        let end = |end: f64, without: &str| match end {
            end if !end.is_finite() || end <= 0.0 => without.to_string(),
            end if self.is_factor(ratio) && end > 1000.0 => "> 1000".into(),
            end if self.is_factor(ratio) && end < 0.0001 => "0".into(),
            end if self.is_factor(ratio) => self.factor(end),
            // How far it is from known is not worth more figures.
            end if end > 11.0 => "> +1000".into(),
            end => self.percent(end),
        };
        let (low, high) = (end(interval.low, "…"), end(interval.high, "…"));
        match self.is_factor(ratio) {
            true => format!("×\u{202f}{low} to {high}"),
            false => format!("{low} to {high}\u{202f}%"),
        }
    }

    fn factor(self, ratio: f64) -> String {
        let digits = match ratio {
            ratio if ratio < 0.1 => 4,
            ratio if ratio >= 1000.0 => 0,
            _ => self.factor_digits,
        };
        format!("{ratio:.digits$}")
    }

    fn percent(self, ratio: f64) -> String {
        let percent = (ratio - 1.0) * 100.0;
        let digits = match percent.abs() {
            size if size >= 99.95 && self.factor_to == 0.0 => 0,
            0.0 if self.factor_to == 0.0 => 1,
            size if size < self.fine_below => 2,
            _ => 1,
        };
        let sign = if percent < 0.0 { "−" } else { "+" };
        format!("{sign}{:.digits$}", percent.abs())
    }
}

/// A ratio at an axis: `−40 %`, `0 %` on a linear one, `× 0.5` on a logarithmic one.
pub(crate) fn tick(ratio: f64, is_log: bool) -> String {
    if is_log {
        return format!("×\u{202f}{}", short(ratio));
    }
    let percent = (ratio - 1.0) * 100.0;
    let percent = (percent * 1000.0).round() / 1000.0;
    match percent {
        0.0 => "0\u{202f}%".into(),
        percent if percent < 0.0 => format!("−{}\u{202f}%", short(-percent)),
        percent => format!("+{}\u{202f}%", short(percent)),
    }
}

/// A round number without needless zeros; none is rounded to nothing.
fn short(value: f64) -> String {
    let digits = match value {
        value if value > 0.0 => (1.0 - value.log10().floor()).clamp(4.0, 12.0) as usize,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_as_the_sentences_write_it() {
        let plain = |text: String| text.replace('\u{202f}', " ");
        let shown =
            [0.572, 1.0, 1.0004, 2.5, 13.02, 0.005, f64::NAN].map(|r| OF_COMPARISON.show(r));
        let expected = ["−42.8 %", "+0.0 %", "+0.04 %", "+150 %", "× 13.0", "−99.5 %", "–"];
        assert_eq!(shown.map(plain), expected);
        let shown = [0.572, 0.992, 1.0, 2.3, 0.42, 0.0312].map(|r| OF_STUDY.show(r));
        let expected = ["−42.8 %", "−0.80 %", "+0.00 %", "× 2.30", "× 0.42", "× 0.0312"];
        assert_eq!(shown.map(plain), expected);
    }

    #[test]
    fn both_ends_of_an_interval_are_written_as_its_middle_is() {
        let range = |notation: Notation, ratio: f64, low, high| {
            let interval = Interval { low, high, level: 0.95 };
            notation.range(ratio, &interval).replace('\u{202f}', " ")
        };
        assert_eq!(range(OF_COMPARISON, 0.572, 0.55, 0.598), "−45.0 to −40.2 %");
        assert_eq!(range(OF_COMPARISON, 3.4, 2.5, 4.6), "× 2.5 to 4.6");
        assert_eq!(range(OF_STUDY, 0.9, 0.0, f64::INFINITY), "… to … %");
        assert_eq!(range(OF_STUDY, 0.9, 0.003, 324.0), "−99.7 to > +1000 %");
        assert_eq!(range(OF_STUDY, 0.15, 1e-6, 1616.0), "× 0 to > 1000");
    }

    #[test]
    fn ticks_are_short() {
        let shown =
            [(1.0, false), (0.6, false), (1.002, false), (0.02, true), (20.0, true), (5e-6, true)];
        let shown = shown.map(|(ratio, is_log)| tick(ratio, is_log).replace('\u{202f}', " "));
        assert_eq!(shown, ["0 %", "−40 %", "+0.2 %", "× 0.02", "× 20", "× 0.000005"]);
    }
}
