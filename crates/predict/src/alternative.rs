//! The sites of a prediction with other plausible values of what is assumed, one value at a time.

use stormeter_results::OtherValue;
use stormeter_site::{Site, SiteFile};

/// A site with one assumed value replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteAlternative {
    /// The site (an index) that it is an alternative to.
    pub of: usize,
    /// The value and the other one.
    pub value: OtherValue,
    /// The site with the other one.
    pub site: Site,
}

/// The alternatives to each site, which is given with the changes that made it.
///
/// # Errors
/// The site cannot have one of the values.
pub(crate) fn alternatives(
    sites: &[(Vec<String>, SiteFile)],
    read: &dyn Fn(&[String]) -> Result<SiteFile, String>,
) -> Result<Vec<SiteAlternative>, String> {
    let mut all = Vec::new();
    for (of, (changes, file)) in sites.iter().enumerate() {
        for assumption in &file.assumed {
            for other in &assumption.others {
                let more = assumption.changed_to(other);
                let more = more.iter().map(ToString::to_string);
                let changed: Vec<String> = changes.iter().cloned().chain(more).collect();
                let site = read(&changed)?.site;
                if site == file.site {
                    continue;
                }
                let value = OtherValue {
                    parameter: assumption.parameter.clone(),
                    value: assumption.value.clone(),
                    other: other.clone(),
                    is_default: assumption.is_default,
                };
                all.push(SiteAlternative { of, value, site });
            }
        }
    }
    Ok(all)
}
