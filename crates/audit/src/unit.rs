//! Units as they are printed, and what each may mean: `KB` is 1000 bytes to some and 1024 to others, so a law is
//! broken only if no reading obeys it.

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Bytes.
    Size,
    /// Bytes per second.
    Rate,
    /// Seconds.
    Time,
    /// Requests per second.
    PerSecond,
    /// A share of one.
    Share,
}

/// What a printed unit may mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    /// What it measures.
    pub(crate) dimension: Dimension,
    /// One of it, in bytes, bytes per second, seconds, per second or ones: each possible reading, the usual one
    /// first.
    pub(crate) readings: Vec<f64>,
}

const K: f64 = 1024.0;
const M: f64 = K * K;
const G: f64 = K * M;

/// Spellings, in lower case unless case tells bits from bytes.
const UNITS: &[(&[&str], Dimension, &[f64])] = &[
    (&["B", "byte", "bytes"], Dimension::Size, &[1.0]),
    (&["KB", "kB", "K", "k"], Dimension::Size, &[K, 1e3]),
    (&["KiB"], Dimension::Size, &[K]),
    (&["MB", "M"], Dimension::Size, &[1e6, M]),
    (&["MiB"], Dimension::Size, &[M]),
    (&["GB", "G"], Dimension::Size, &[1e9, G]),
    (&["GiB"], Dimension::Size, &[G]),
    (&["TB"], Dimension::Size, &[1e12, G * K]),
    (&["B/s"], Dimension::Rate, &[1.0]),
    (&["KB/s", "kB/s", "KBps", "kBps"], Dimension::Rate, &[1e3, K]),
    (&["KiB/s"], Dimension::Rate, &[K]),
    (&["MB/s", "MBps"], Dimension::Rate, &[1e6, M]),
    (&["MiB/s"], Dimension::Rate, &[M]),
    (&["GB/s", "GBps"], Dimension::Rate, &[1e9, G]),
    (&["GiB/s"], Dimension::Rate, &[G]),
    (&["kb/s", "kbit/s", "kbps"], Dimension::Rate, &[125.0]),
    (&["Mb/s", "Mbit/s", "Mbps"], Dimension::Rate, &[125e3]),
    (&["Gb/s", "Gbit/s", "Gbps"], Dimension::Rate, &[125e6]),
    (&["ns"], Dimension::Time, &[1e-9]),
    (&["us", "µs"], Dimension::Time, &[1e-6]),
    (&["ms"], Dimension::Time, &[1e-3]),
    (&["s", "sec", "seconds"], Dimension::Time, &[1.0]),
    (&["min", "minutes"], Dimension::Time, &[60.0]),
    (&["h"], Dimension::Time, &[3600.0]),
    (&["IOPS", "IO/s", "1/s"], Dimension::PerSecond, &[1.0]),
    (&["kIOPS", "KIOPS"], Dimension::PerSecond, &[1e3]),
    (&["%"], Dimension::Share, &[0.01]),
];

impl Unit {
    /// What the printed unit may mean; `None` for a unit that no law knows.
    pub(crate) fn of(printed: &str) -> Option<Self> {
        let row = UNITS.iter().find(|(names, ..)| names.contains(&printed.trim()))?;
        Some(Self { dimension: row.1, readings: row.2.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_not_bytes_and_kilo_is_two_things() {
        assert_eq!(Unit::of("Mb/s").unwrap().readings, [125e3]);
        assert_eq!(Unit::of("MB/s").unwrap().readings, [1e6, 1048576.0]);
        assert_eq!(Unit::of(" KB ").unwrap().dimension, Dimension::Size);
        assert_eq!(Unit::of("furlongs"), None);
    }

    #[test]
    fn no_spelling_means_two_dimensions() {
        let mut seen = std::collections::HashSet::new();
        for name in UNITS.iter().flat_map(|(names, ..)| *names) {
            assert!(seen.insert(*name), "{name}");
        }
    }
}
