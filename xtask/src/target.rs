//! The machines that static binaries are built for, with the name of each in Rust and in packages.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    /// Rust's target triple.
    pub(crate) triple: &'static str,
    /// The machine's name in uname(1), in RPM and in names of files.
    pub(crate) machine: &'static str,
    /// Its name in Debian and in images of containers, which took it from Debian by way of Go.
    pub(crate) architecture: &'static str,
}

/// The machine that the checks run on.
pub(crate) const X86_64: Target =
    Target { triple: "x86_64-unknown-linux-musl", machine: "x86_64", architecture: "amd64" };

/// Built across and run by QEMU.
pub(crate) const AARCH64: Target =
    Target { triple: "aarch64-unknown-linux-musl", machine: "aarch64", architecture: "arm64" };

/// All that packages are made for.
pub(crate) const ALL: [Target; 2] = [X86_64, AARCH64];

impl Target {
    /// The triple as cargo spells it in names of variables.
    pub(crate) fn in_variables(self) -> String {
        self.triple.to_uppercase().replace('-', "_")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triple_is_a_part_of_the_names_of_cargos_variables() {
        assert_eq!(AARCH64.in_variables(), "AARCH64_UNKNOWN_LINUX_MUSL");
    }
}
