//! A datastore on a LUN of an iSCSI target, spoken to directly.

mod login;
mod store;
mod targets;
mod unit;

pub(crate) use store::IscsiStore;
