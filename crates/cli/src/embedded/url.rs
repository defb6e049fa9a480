//! The URLs of embedded datastores: `embedded:iscsi?sessions=2`.

use crate::exit::Failure;

pub(super) const SCHEME: &str = "embedded:";
pub(super) const CEPH: &str = "ceph";

/// `iscsi` of `embedded:iscsi?sessions=2`.
pub(super) fn kind(url: &str) -> &str {
    let rest = url.strip_prefix(SCHEME).unwrap_or(url);
    rest.split('?').next().unwrap_or(rest)
}

/// Offers each option, as its name and value, and returns those that were not taken, with a question mark before them.
pub(super) fn take(
    url: &str,
    mut taken: impl FnMut(&str, &str) -> Result<bool, String>,
) -> Result<String, Failure> {
    let mut rest = Vec::new();
    let options = url.split_once('?').map_or("", |(_, options)| options);
    for option in options.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match taken(name, value) {
            Ok(true) => {}
            Ok(false) => rest.push(option),
            Err(reason) => {
                return Err(Failure::Usage(format!("{url}: {name}={value}: {reason}")));
            }
        }
    }
    Ok(if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) })
}

/// Adds options to a URL that may have some.
pub(super) fn join(url: &str, options: &str) -> String {
    match (url.contains('?'), options.strip_prefix('?')) {
        (true, Some(more)) => format!("{url}&{more}"),
        _ => format!("{url}{options}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_go_with_the_address() {
        assert_eq!(kind("embedded:iscsi?sessions=2"), "iscsi");
        assert_eq!(kind("embedded:nfs"), "nfs");
        assert_eq!(join("nfs://127.0.0.1:20/x", ""), "nfs://127.0.0.1:20/x");
        assert_eq!(join("nfs://h/x", "?connections=2"), "nfs://h/x?connections=2");
        assert_eq!(join("nfs://h/x?a=1", "?connections=2"), "nfs://h/x?a=1&connections=2");
    }
}
