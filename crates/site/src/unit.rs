//! Numbers with units in the notation of site files, converted to base units.
//!
//! `Mb` and `Gb` are bits and `MB` and `GB` bytes, as networks and disks are sold; the case of a
//! letter therefore matters here, unlike in plain sizes. Fibre Channel is named by its generation.

use serde::{Deserialize, Serialize};

/// The unit of a number; values are in its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// None: a plain number.
    Number,
    /// A share: `50%` is 0.5.
    Share,
    /// Nanoseconds: `20us` is 20 000.
    Nanoseconds,
    /// Cycles of a core.
    Cycles,
    /// Bytes.
    Bytes,
    /// Bytes per second: `1GbE` is 125 000 000.
    BytesPerSecond,
    /// Hertz.
    Hertz,
}

impl Unit {
    /// A value in this unit in the notation of site files: [`Quantity::parse`] reads it back
    /// unchanged.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Number => format!("{value}"),
            Unit::Share => format!("{}%", value * 100.0),
            Unit::Nanoseconds => format!("{value}ns"),
            Unit::Cycles => format!("{value} cycles"),
            Unit::Bytes => format!("{}B", value.round()),
            Unit::BytesPerSecond => format!("{value}B/s"),
            Unit::Hertz => format!("{value}Hz"),
        }
    }

    /// Its name in messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Unit::Number => "plain number",
            Unit::Share => "percentage",
            Unit::Nanoseconds => "duration",
            Unit::Cycles => "number of cycles",
            Unit::Bytes => "size",
            Unit::BytesPerSecond => "rate",
            Unit::Hertz => "clock rate",
        }
    }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// In the base unit; finite.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
}

impl Quantity {
    /// Reads `60000 cycles`, `20us`, `64KiB`, `50MB/s`, `10GbE`, `4GFC`, `2.5GHz`, `16%`, `7200`.
    pub fn parse(text: &str) -> Option<Quantity> {
        let text = text.trim();
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let sign = text.len() - unsigned.len();
        let digits = unsigned.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let (number, suffix) = text.split_at(digits.map_or(text.len(), |end| end + sign));
        let number: f64 = number.parse().ok()?;
        let suffix = suffix.trim();
        if suffix == "GFC" {
            let value = fibre_channel_bytes_per_s(number)?;
            return Some(Quantity { value, unit: Unit::BytesPerSecond });
        }
        let (factor, unit) = unit(suffix)?;
        let value = number * factor;
        value.is_finite().then_some(Quantity { value, unit })
    }
}

/// A suffix: the factor and the unit.
fn unit(suffix: &str) -> Option<(f64, Unit)> {
    if let Some(bits) = suffix.strip_suffix("bE") {
        return Some((decimal(bits).filter(|_| !bits.is_empty())? / 8.0, Unit::BytesPerSecond));
    }
    if let Some(per_s) = suffix.strip_suffix("/s") {
        return match unit(per_s)? {
            (factor, Unit::Bytes | Unit::BytesPerSecond) => Some((factor, Unit::BytesPerSecond)),
            _ => None,
        };
    }
    Some(match suffix {
        "" => (1.0, Unit::Number),
        "%" => (0.01, Unit::Share),
        "ns" => (1.0, Unit::Nanoseconds),
        "us" | "µs" | "μs" => (1e3, Unit::Nanoseconds),
        "ms" => (1e6, Unit::Nanoseconds),
        "s" => (1e9, Unit::Nanoseconds),
        "m" | "min" => (60e9, Unit::Nanoseconds),
        "h" => (3600e9, Unit::Nanoseconds),
        "cycles" | "cycle" => (1.0, Unit::Cycles),
        "Hz" => (1.0, Unit::Hertz),
        "kHz" => (1e3, Unit::Hertz),
        "MHz" => (1e6, Unit::Hertz),
        "GHz" => (1e9, Unit::Hertz),
        "B" => (1.0, Unit::Bytes),
        "KiB" | "kiB" | "K" | "k" => (1024.0, Unit::Bytes),
        "MiB" | "M" => (1024f64.powi(2), Unit::Bytes),
        "GiB" | "G" => (1024f64.powi(3), Unit::Bytes),
        "TiB" | "T" => (1024f64.powi(4), Unit::Bytes),
        _ => {
            if let Some(prefix) = suffix.strip_suffix('B') {
                (decimal(prefix)?, Unit::Bytes)
            } else {
                let prefix = ["b", "bit", "bps"].iter().find_map(|end| suffix.strip_suffix(end));
                (decimal(prefix?)? / 8.0, Unit::BytesPerSecond)
            }
        }
    })
}

fn decimal(prefix: &str) -> Option<f64> {
    Some(match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    })
}

/// The data rate of a generation of Fibre Channel, from its baud (FC-PI): 1.0625 Gbaud times the
/// generation with 8b/10b up to 8GFC; 14.025 and 28.05 Gbaud with 64b/66b from 16GFC on.
fn fibre_channel_bytes_per_s(generation: f64) -> Option<f64> {
    match generation {
        g if [1.0, 2.0, 4.0, 8.0].contains(&g) => Some(g * 1.0625e9 * 8.0 / 10.0 / 8.0),
        g if [16.0, 32.0].contains(&g) => Some(g / 16.0 * 14.025e9 * 64.0 / 66.0 / 8.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_is_read() {
        for (text, value, unit) in [
            ("60000 cycles", 60_000.0, Unit::Cycles),
            ("0.5ns", 0.5, Unit::Nanoseconds),
            ("20us", 20_000.0, Unit::Nanoseconds),
            ("1min", 60e9, Unit::Nanoseconds),
            ("64KiB", 65_536.0, Unit::Bytes),
            ("144GB", 144e9, Unit::Bytes),
            ("50MB/s", 50e6, Unit::BytesPerSecond),
            ("1GbE", 125e6, Unit::BytesPerSecond),
            ("100Mb", 12.5e6, Unit::BytesPerSecond),
            ("100Mb/s", 12.5e6, Unit::BytesPerSecond),
            ("1Gbps", 125e6, Unit::BytesPerSecond),
            ("4GFC", 425e6, Unit::BytesPerSecond),
            ("8GFC", 850e6, Unit::BytesPerSecond),
            ("16GFC", 1.7e9, Unit::BytesPerSecond),
            ("2.5GHz", 2.5e9, Unit::Hertz),
            ("-16%", -0.16, Unit::Share),
            ("7200", 7200.0, Unit::Number),
        ] {
            let read = Quantity::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert!((read.value - value).abs() <= value.abs() * 1e-12, "{text} {read:?}");
            assert_eq!(read.unit, unit, "{text}");
        }
        for text in
            ["", "-", "x", "1 x", "3GFC", "1e5", "MB", "1..2ns", "5bE", "1MHz/s", "--1", "20us/s"]
        {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let units = [
            Unit::Number,
            Unit::Share,
            Unit::Nanoseconds,
            Unit::Cycles,
            Unit::BytesPerSecond,
            Unit::Hertz,
        ];
        for unit in units {
            for value in [0.0, 0.37, 1.0, 12_345.678, 1e12, 3.3e-7] {
                let read = Quantity::parse(&unit.text(value)).unwrap_or_else(|| panic!("{unit:?}"));
                assert!((read.value - value).abs() <= value * 1e-12, "{unit:?} {value}");
                assert_eq!(read.unit, unit);
            }
        }
        assert_eq!(
            Quantity::parse(&Unit::Bytes.text(4096.4)),
            Some(Quantity { value: 4096.0, unit: Unit::Bytes })
        );
    }
}
