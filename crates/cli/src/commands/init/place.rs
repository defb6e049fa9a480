//! A datastore of a starter file: its name, its URL, and what has to be known before it is used.

use stormeter_datastore::{DatastoreUrl, Location};

use crate::commands::measure_site::named::Named;

/// How a datastore is reached, as far as starter files differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    Device,
    Nfs,
    Iscsi,
    Rbd,
    /// `null:` and embedded ones.
    Other,
}

/// A datastore to write about.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) kind: Kind,
    /// What was seen of it.
    pub(super) remark: Option<String>,
    /// The URL of the command line had a password, which is not written.
    pub(super) had_password: bool,
}

impl Place {
    pub(super) fn of(named: &Named) -> Self {
        let kind = match DatastoreUrl::parse(&named.url).map(|url| url.location) {
            _ if named.url.starts_with("embedded:nfs") => Kind::Nfs,
            _ if named.url.starts_with("embedded:iscsi") => Kind::Iscsi,
            _ if named.url.starts_with("embedded:") => Kind::Other,
            Ok(Location::Directory(_)) => Kind::Directory,
            Ok(Location::Device(_)) => Kind::Device,
            Ok(Location::Nfs(_)) => Kind::Nfs,
            Ok(Location::Iscsi(_)) => Kind::Iscsi,
            Ok(Location::Rbd(_)) => Kind::Rbd,
            Ok(_) | Err(_) => Kind::Other,
        };
        Self {
            name: named.name.clone(),
            url: named.url.clone(),
            kind,
            remark: None,
            had_password: named.secret.is_some(),
        }
    }

    /// What happens to it, in one line.
    pub(super) fn danger(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Directory | Kind::Nfs | Kind::Other => None,
            Kind::Rbd => Some("makes images of its own in the pool, and removes them"),
            Kind::Device => Some(
                "is overwritten from its start; one that holds data is refused without --destroy-data and its name",
            ),
            Kind::Iscsi => Some(
                "is overwritten from its start; one that holds data is refused without --destroy-data and its URL",
            ),
        }
    }
}
