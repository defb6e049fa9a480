//! How QEMU executes guests.

/// How QEMU executes guests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accelerator {
    /// On the processor, with KVM.
    Kvm,
    /// By emulation.
    Tcg,
}

impl Accelerator {
    /// The accelerator of that name; emulation, which always works, for unknown names.
    pub(crate) fn from_name(name: &str) -> Self {
        if name == Accelerator::Kvm.name() { Accelerator::Kvm } else { Accelerator::Tcg }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}
