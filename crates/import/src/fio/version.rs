//! Which version of fio wrote a file: of the number of decimals, nothing else in the file tells.

/// Major and minor version; development versions (`fio-2.99-45-gabc`) count as the release before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32);

impl Version {
    /// Reads `fio-3.33`, `fio-2.1.10`, `3.1`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().trim_start_matches("fio-").split(['.', '-']);
        Some(Self(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }

    /// Whether this version measures nanoseconds; one that cannot be read counts as a recent one.
    pub(crate) fn has_nanoseconds(version: Option<Self>) -> bool {
        version.is_none_or(|version| version >= Self(2, 99))
    }

    /// Half of the last decimal that this version prints of fractions in JSON: two decimals until 2.12, then six.
    /// A version that cannot be read counts as a recent one.
    pub(crate) fn half_of_fractions(version: Option<Self>) -> f64 {
        match version {
            Some(version) if version < Self(2, 13) => 0.005,
            _ => 5e-7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_came_with_a_version() {
        for (text, half) in [
            ("fio-2.1.10", 0.005),
            ("fio-2.12-3-gabc", 0.005),
            ("fio-2.13", 5e-7),
            ("fio-3.33-dirty", 5e-7),
            ("unknown", 5e-7),
        ] {
            assert_eq!(Version::half_of_fractions(Version::read(text)), half, "{text}");
        }
    }
}
