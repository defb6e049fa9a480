//! A datastore on an NFSv3 export, spoken to directly.

mod dialog;
mod export;
mod folder;
mod leftover;
mod store;

pub(crate) use store::NfsStore;
