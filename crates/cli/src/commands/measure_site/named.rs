//! The datastores of the command line: names, URLs, and how they are reached.

use stormeter_datastore::{DatastoreUrl, Location, Secret};
use stormeter_predict::measured_site::Reached;
use stormeter_runner::RunError;

use crate::exit::Failure;
use crate::secrets::{apart, named};

/// The scheme of datastores that are started for the run.
const EMBEDDED: &str = "embedded:";

/// A datastore of the command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// Without a password.
    pub(crate) url: String,
    pub(crate) secret: Option<Secret>,
    pub(crate) reached: Reached,
}

/// The datastores, each with a name of its own.
pub(crate) fn all_named(texts: &[String]) -> Result<Vec<Named>, Failure> {
    let mut found: Vec<Named> = Vec::new();
    for text in texts {
        let (name, url) = named(text);
        let (url, secret) = apart(url);
        let (usual, reached) = kind(&url)?;
        let is_taken = |name: &str| found.iter().any(|other| other.name == name);
        let name = match name {
            Some(name) if is_taken(name) => {
                return Err(Failure::Usage(format!(
                    "two datastores are called {name}; give each a name of its own"
                )));
            }
            Some(name) => name.to_owned(),
            None => {
                let numbered = (2..).map(|number| format!("{usual}{number}"));
                let mut names = std::iter::once(usual.to_owned()).chain(numbered);
                names.find(|name| !is_taken(name)).unwrap_or_default()
            }
        };
        found.push(Named { name, url, secret, reached });
    }
    Ok(found)
}

/// The usual name of a datastore, and how it is reached.
fn kind(url: &str) -> Result<(&'static str, Reached), Failure> {
    if let Some(embedded) = url.strip_prefix(EMBEDDED) {
        return Ok(match embedded.split('?').next() {
            Some("nfs") => ("nfs", Reached::Nfs),
            Some("iscsi") => ("iscsi", Reached::Iscsi),
            Some("ceph") => ("rbd", Reached::Local),
            // An unknown one is refused when it is to be started.
            _ => ("local", Reached::Local),
        });
    }
    let parsed = DatastoreUrl::parse(url).map_err(|error| Failure::Run(RunError::Url(error)))?;
    match parsed.location {
        Location::Nfs(_) => Ok(("nfs", Reached::Nfs)),
        Location::Iscsi(_) => Ok(("iscsi", Reached::Iscsi)),
        Location::Rbd(_) => Ok(("rbd", Reached::Local)),
        Location::Null => Ok(("null", Reached::Local)),
        Location::Server(_) => Err(Failure::Usage(format!(
            "{url} is a server without disks; a site is measured on a datastore"
        ))),
        _ => Ok(("local", Reached::Local)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Vec<(String, String, Reached)> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let found = all_named(&texts).unwrap_or_else(|failure| panic!("{failure}"));
        found.into_iter().map(|one| (one.name, one.url, one.reached)).collect()
    }

    #[test]
    fn a_datastore_has_the_given_name_or_that_of_its_kind() {
        let found =
            names(&["/srv/vm", "nas=nfs://nas1/vm?sync=unstable", "/mnt", "embedded:iscsi"]);
        let expected = [
            ("local", "/srv/vm", Reached::Local),
            ("nas", "nfs://nas1/vm?sync=unstable", Reached::Nfs),
            ("local2", "/mnt", Reached::Local),
            ("iscsi", "embedded:iscsi", Reached::Iscsi),
        ];
        let expected = expected.map(|(name, url, reached)| (name.into(), url.into(), reached));
        assert_eq!(found, expected);
    }

    #[test]
    fn an_option_of_a_url_is_no_name() {
        assert_eq!(names(&["/srv/vm?direct=0"])[0].1, "/srv/vm?direct=0");
        assert_eq!(names(&["./a=b"])[0].1, "./a=b");
    }

    #[test]
    fn names_are_taken_once_and_servers_are_refused() {
        for (texts, words) in [
            (vec!["a=/x", "a=/y"], "two datastores are called a"),
            (vec!["server://vdi"], "without disks"),
        ] {
            let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
            let message = all_named(&texts).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
