//! Which datastores are servers: they have services, and no disks.

/// Whether a URL names a server whose services are used.
pub(crate) fn is_server(url: &str) -> bool {
    url.trim_start().starts_with("server:")
}
