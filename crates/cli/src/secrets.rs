//! Passwords that were typed as part of a URL: taken out before anything is stored or shown.

use stormeter_datastore::{DatastoreUrl, Secret};

/// A datastore's name without its password, and the password.
pub(crate) fn apart(text: &str) -> (String, Option<Secret>) {
    // What is no URL has its error elsewhere, where it is opened; those never repeat a password.
    let Ok(mut url) = DatastoreUrl::parse(text) else { return (text.into(), None) };
    match url.take_secret() {
        Some(secret) => (url.to_string(), Some(secret)),
        None => (text.into(), None),
    }
}

/// Names without passwords, and the passwords by these names.
pub(crate) fn all_apart(texts: &[String]) -> (Vec<String>, Vec<(String, Secret)>) {
    let mut secrets = Vec::new();
    let names = texts.iter().map(|text| {
        let (name, secret) = apart(text);
        secrets.extend(secret.map(|secret| (name.clone(), secret)));
        name
    });
    (names.collect(), secrets)
}

/// A word of the command line as it may be stored.
pub(crate) fn redacted(word: &str) -> String {
    // An option's value may stand in the option's own word.
    match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => format!("{option}={}", apart(value).0),
        _ => apart(word).0,
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
        for word in ["--seed=7", "compare", "/srv?direct=0", "nfs://nas1/x"] {
            assert_eq!(redacted(word), word);
        }
    }
}
