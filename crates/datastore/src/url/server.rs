//! `server://host`: a server whose services are used, such as FTP or VNC. Ports and passwords belong to workloads.

use super::authority::Host;
use super::error::UrlError;

const FORM: &str = "server://host; ports belong to workloads: ftp: {port: 2121}";

/// Reads what follows `server:`.
pub(super) fn parse(rest: &str) -> Result<Host, UrlError> {
    let form = || UrlError::Form { text: format!("server:{rest}"), form: FORM };
    let host = rest.strip_prefix("//").ok_or_else(form)?;
    // A password could be before an @, so that such a text is not repeated.
    if host.contains('@') {
        return Err(UrlError::Form { text: "server://…".into(), form: FORM });
    }
    let host = host.strip_suffix('/').unwrap_or(host);
    if host.contains('/') {
        return Err(form());
    }
    let host = Host::parse(host, "server")?;
    if host.port.is_some() { Err(form()) } else { Ok(host) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_nothing_more() {
        for (text, name) in [("//files", "files"), ("//10.0.0.7/", "10.0.0.7"), ("//[::1]", "::1")]
        {
            assert_eq!(parse(text).unwrap(), Host { name: name.into(), port: None });
        }
        for wrong in ["", "files", "//", "//files:21", "//files/pub", "//me%secret@files"] {
            let message = parse(wrong).unwrap_err().to_string();
            assert!(message.contains("server://") && !message.contains("secret"), "{message}");
        }
    }
}
