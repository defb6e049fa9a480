//! Passwords in URLs: detected, so that they are refused, and masked in everything that is shown.
//!
//! A plan is stored in the results file and shown in reports, so it must not contain a password.
//! Passwords come from a file (`password-file=`) or from the environment. More is masked than is
//! refused: a text that is not a valid URL may still contain a password.

/// Whether a URL has a password between its user and its host: `scheme://user%password@host` (as
/// libiscsi writes it) or `scheme://user:password@host` (RFC 3986, section 3.2.1).
pub fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let Some((login, _)) = rest.rsplit_once('@') else { return false };
    // A password in libiscsi's syntax may contain a slash; a colon after a slash belongs to a path,
    // such as an IQN.
    let user_ends = login.find(['%', ':', '/']).unwrap_or(login.len());
    match login[user_ends..].chars().next() {
        Some('%') => true,
        Some(':') => rest.split('/').next().is_some_and(|authority| authority.contains('@')),
        _ => false,
    }
}

/// The text with each password replaced by asterisks, one per character, so that columns stay.
pub fn redacted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = url.find(|c: char| c.is_whitespace() || "\"'`".contains(c)).unwrap_or(url.len());
        let (url, after) = url.split_at(end);
        match url.rsplit_once('@') {
            Some((login, place)) => {
                let user_ends = login.find(['%', ':']).unwrap_or(login.len());
                shown.push_str(&login[..user_ends]);
                shown.extend(login[user_ends..].chars().map(|_| '*'));
                shown.push('@');
                shown.push_str(place);
            }
            None => shown.push_str(url),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_seen() {
        for url in ["iscsi://vm%open@nas/iqn.x:y/1", "nfs://u:p@h/x", "iscsi://u%a/b@h/iqn.x/1"] {
            assert!(has_password(url), "{url}");
            let shown = redacted(url);
            assert!(!has_password(&shown.replace('*', "")), "{shown}");
            assert_eq!(shown.chars().count(), url.chars().count());
        }
        for url in [
            "iscsi://vm@nas/iqn.2026-01.example:vm/1",
            "iscsi://nas:3260/iqn.2026-01.example:a@b/1",
            "nfs://nas/export/a@b:c",
            "/srv/a:b@c",
            "null:",
        ] {
            assert!(!has_password(url), "{url}");
        }
    }

    #[test]
    fn a_line_keeps_its_columns() {
        let line = "a: {url: \"iscsi://vm%open@nas/x/1\"} # and nfs://u:p@h/";
        assert_eq!(redacted(line), "a: {url: \"iscsi://vm*****@nas/x/1\"} # and nfs://u**@h/");
    }
}
