//! Passwords in URLs: removed before anything is stored or shown.

use stormeter_datastore::{DatastoreUrl, Secret};

/// A datastore's name without its password, and the password.
pub(crate) fn apart(text: &str) -> (String, Option<Secret>) {
    // An invalid URL is reported when it is opened.
    let Ok(mut url) = DatastoreUrl::parse(text) else { return (cut(text), None) };
    match url.take_secret() {
        Some(secret) => (url.to_string(), Some(secret)),
        None => (text.into(), None),
    }
}

/// A text that is not a URL, without a possible password: everything between the user and the last @.
fn cut(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.into() };
    let Some((login, place)) = rest.rsplit_once('@') else { return text.into() };
    let user = login.split(['%', ':']).next().unwrap_or_default();
    format!("{scheme}://{user}@{place}")
}

/// Names without passwords, and pairs of such a name and its password.
pub(crate) fn all_apart(texts: &[String]) -> (Vec<String>, Vec<(String, Secret)>) {
    let mut secrets = Vec::new();
    let names = texts.iter().map(|text| {
        let (name, secret) = apart(text);
        secrets.extend(secret.map(|secret| (name.clone(), secret)));
        name
    });
    (names.collect(), secrets)
}

/// The name before a datastore's URL, as in `nas=nfs://nas1/vm`, and the URL.
pub(crate) fn named(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    match text.split_once('=') {
        Some((name, url)) if is_name(name) => (Some(name), url),
        _ => (None, text),
    }
}

/// A word of the command line in a form that may be stored.
pub(crate) fn redacted(word: &str) -> String {
    // The value of an option may be part of the same word.
    match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => format!("{option}={}", apart(value).0),
        _ => match named(word) {
            (Some(name), url) => format!("{name}={}", apart(url).0),
            (None, url) => apart(url).0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPED: &str = "iscsi://vm%open@nas1/iqn.2026-01.example:vm/1?sessions=2";
    const SHOWN: &str = "iscsi://vm@nas1/iqn.2026-01.example:vm/1?sessions=2";

    #[test]
    fn passwords_leave_what_is_stored() {
        let (names, secrets) = all_apart(&["/srv".into(), TYPED.into()]);
        assert_eq!(names, ["/srv", SHOWN]);
        assert_eq!(secrets, [(SHOWN.to_owned(), Secret::new("open"))]);
        assert_eq!(redacted(TYPED), SHOWN);
        assert_eq!(redacted(&format!("--baseline={TYPED}")), format!("--baseline={SHOWN}"));
        assert_eq!(redacted(&format!("san={TYPED}")), format!("san={SHOWN}"));
        for broken in
            ["iscsi://vm%open@nas1/x/y?typo=1", "ISCSI://vm%o@pen@nas1", "ftp://vm:open@h/"]
        {
            assert!(!redacted(broken).contains("pen"), "{broken}");
            assert!(redacted(broken).contains("vm@"), "{broken}");
        }
        for word in ["--seed=7", "compare", "/srv?direct=0", "nfs://nas1/x"] {
            assert_eq!(redacted(word), word);
        }
    }
}
