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
                let site = match read(&changed) {
                    Ok(file) => file.site,
                    // What another change has made meaningless: a battery where nothing is cached any more.
                    Err(_) if !changes.is_empty() => continue,
                    Err(error) => return Err(error),
                };
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

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_site::{Override, parse_site, parse_site_with};

    const SITE: &str = "
hosts: {pc: {cores: 4, clock: 3GHz, adapters: {nic: {rate: 1GbE}}}}
stacks: {nfs: {protocol: nfs, per-read: 20000 cycles}}
disk-groups: {raid: {device: {like: sas-10k-600gb}}}
controllers:
  filer: {cores: 1, clock: 1GHz, ports: {e0: {rate: 1GbE}}, costs: {nfs: {per-read: 1 cycles}}, cache: {write: 1GiB, battery: no}, disks: raid}
datastores: {nas: {hosts: pc, stack: nfs, adapter: nic, controller: filer, port: e0}}
assumed: [{parameter: controllers.filer.cache.battery, plausible: [yes]}]
";

    #[test]
    fn a_value_that_another_change_has_made_meaningless_is_left_out() {
        let read = |changes: &[String]| {
            let changes: Vec<Override> =
                changes.iter().map(|change| Override::parse(change).unwrap()).collect();
            parse_site_with(SITE, &changes).map_err(|errors| errors.to_string())
        };
        let through = vec!["controllers.filer.cache.write=through".to_owned()];
        let sites =
            [(Vec::new(), parse_site(SITE).unwrap()), (through.clone(), read(&through).unwrap())];
        let all = alternatives(&sites, &read).unwrap();
        let of: Vec<(usize, bool)> = all.iter().map(|one| (one.of, one.value.is_default)).collect();
        assert!(of.contains(&(0, false)), "{of:?}");
        assert!(!of.contains(&(1, false)), "{of:?}");
    }
}
