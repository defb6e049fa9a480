//! Which digests the PDUs of an iSCSI connection carry.

/// Whether iSCSI headers and data carry digests, as negotiated at login.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) header: bool,
    pub(crate) data: bool,
}
