//! Which datastores have no disks of their own: servers, which have services, and a lab's desktops, which are machines.

/// Whether a URL names a server whose services are used.
pub(crate) fn is_server(url: &str) -> bool {
    url.trim_start().starts_with("server:")
}

/// Whether a URL names desktops of a lab, which are made on demand.
pub(crate) fn is_desktops(url: &str) -> bool {
    url.trim_start().starts_with("lab:")
}
