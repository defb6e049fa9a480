//! Reads from `disk` how images in a Ceph pool are made: `disk: {stripes: 10}` for all datastores that are pools and whose
//! URLs do not say otherwise.

use stormeter_units::format_bytes;
use stormeter_yaml::{Diagnostics, Section};

use super::keys;
use crate::study_plan::NamedDatastore;

/// What URLs of pools begin with.
const POOLS: [&str; 2] = ["rbd:", "embedded:ceph"];

/// Adds the options that `disk` gives to the URLs of pools. The values themselves are checked with the URLs.
pub(super) fn apply(
    study: &Section<'_>,
    datastores: &mut [NamedDatastore],
    diagnostics: &mut Diagnostics,
) {
    let Some(node) = study.get("disk") else { return };
    // Mistakes in it are reported where the disks are read.
    let Some(section) = Section::open(node, "disk", &keys::DISK, &mut Diagnostics::default())
    else {
        return;
    };
    let size =
        |key: &str, diagnostics: &mut Diagnostics| section.size(key, diagnostics).map(format_bytes);
    let options = [
        ("object-size", size("object-size", diagnostics)),
        ("stripe-unit", size("stripe-unit", diagnostics)),
        ("stripes", section.count("stripes", 1, diagnostics).map(|count| count.to_string())),
    ];
    for (name, value) in options {
        let Some(value) = value else { continue };
        let mut found = false;
        for url in datastores.iter_mut().map(|datastore| &mut datastore.url) {
            if POOLS.iter().any(|pool| url.starts_with(pool)) {
                found = true;
                add(url, name, &value);
            }
        }
        if !found {
            diagnostics.error_at(
                section.place_of(name),
                format!(
                    "{name} says how images in a Ceph pool are made, and no datastore is one; leave it out, or \
                     add a datastore such as \"rbd:vms\""
                ),
            );
        }
    }
}

/// Adds an option to a URL that does not have it.
fn add(url: &mut String, name: &str, value: &str) {
    let options = url.split_once('?').map(|(_, options)| options);
    let has =
        |options: &str| options.split('&').any(|option| option.split('=').next() == Some(name));
    if options.is_some_and(has) {
        return;
    }
    let separator = if options.is_some() { '&' } else { '?' };
    url.push_str(&format!("{separator}{name}={value}"));
}

#[cfg(test)]
mod tests {
    use crate::parse_study;

    #[test]
    fn pools_get_what_their_urls_do_not_say() {
        let text = "datastores:\n  a: \"rbd:vms?conf=c\"\n  b: \"embedded:ceph\"\n  c: \"rbd:vms/x?stripes=2\"\n  d: /srv/vm\n\
                    disk: {size: 1GiB, stripes: 10, stripe-unit: 64KiB}\n";
        let plan = parse_study(text).unwrap_or_else(|errors| panic!("{errors}"));
        let urls: Vec<&str> = plan.datastores.iter().map(|it| it.url.as_str()).collect();
        let expected = [
            "rbd:vms?conf=c&stripe-unit=64KiB&stripes=10",
            "embedded:ceph?stripe-unit=64KiB&stripes=10",
            "rbd:vms/x?stripes=2&stripe-unit=64KiB",
            "/srv/vm",
        ];
        assert_eq!(urls, expected);
    }
}
