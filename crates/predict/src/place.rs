//! Finds the datastore of a site that a study's datastore stands for.

use stormeter_site::Site;
use stormeter_study::NamedDatastore;

use crate::error::PredictError;

/// The site's datastore (an index) that a study's datastore stands for: by `#name` of a `sim:` URL, by
/// the name in the study, or by one of the names under `also`.
///
/// # Errors
/// The site has no datastore of that name.
pub fn site_datastore(site: &Site, named: &NamedDatastore) -> Result<usize, PredictError> {
    let fragment = named.url.strip_prefix("sim:").and_then(|rest| rest.split_once('#'));
    // A variant from the study's `site` has its changes after the name: `nas nics=2`.
    let suffix: String = named.site_changes.iter().map(|change| format!(" {change}")).collect();
    let own = named.name.strip_suffix(suffix.as_str()).unwrap_or(&named.name);
    let name = fragment.map_or(own, |(_, name)| name);
    let by_name = site.datastores.iter().position(|datastore| datastore.name == name);
    let also = || {
        let also = |own: &stormeter_site::SiteDatastore| own.also.iter().any(|other| other == name);
        site.datastores.iter().position(also)
    };
    by_name.or_else(also).ok_or_else(|| PredictError::NoDatastore {
        name: name.into(),
        site: site.name.clone(),
        known: datastore_names(site),
    })
}

/// The names that a site's datastores answer to, for messages.
pub fn datastore_names(site: &Site) -> String {
    let names = site.datastores.iter().map(|datastore| match datastore.also.as_slice() {
        [] => datastore.name.clone(),
        also => format!("{} (also {})", datastore.name, also.join(", ")),
    });
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let datastore = |name: &str, also: &[&str]| stormeter_site::SiteDatastore {
            name: name.into(),
            also: also.iter().map(|name| String::from(*name)).collect(),
            hosts: 0,
            stack: 0,
            adapter: None,
            policy: Default::default(),
            networks: vec![],
            target: stormeter_site::Target::Group(0),
            placement: Default::default(),
        };
        Site {
            name: "lab".into(),
            datastores: vec![datastore("fc", &["local"]), datastore("nas", &[])],
            ..Site::default()
        }
    }

    fn find(name: &str, url: &str) -> Result<usize, String> {
        let named = NamedDatastore {
            name: name.into(),
            url: url.into(),
            site_changes: vec![],
            ceiling: None,
            hosts: vec![],
        };
        site_datastore(&site(), &named).map_err(|error| error.to_string())
    }

    #[test]
    fn a_datastore_is_found_by_its_name_its_other_names_or_its_url() {
        assert_eq!(find("nas", "/mnt"), Ok(1));
        assert_eq!(find("local", "/srv/vm"), Ok(0));
        assert_eq!(find("whatever", "sim:site.yaml#nas"), Ok(1));
        let message = find("san", "/x").unwrap_err();
        assert!(message.contains("no datastore san; it has fc (also local), nas"), "{message}");
    }
}
