//! Expands a study for its prediction on a site: variants of the site become levels of the factor `datastore`.

use stormeter_site::{Site, SiteFile};
use stormeter_study::question::{Vocabulary, parse};
use stormeter_study::{NamedDatastore, StudyPlan};

use crate::alternative::{SiteAlternative, alternatives};
use crate::error::PredictError;
use crate::place::site_datastore;
use crate::request::SitePlace;

/// A study with a place for each of its datastores.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The plan; its datastores are those to predict, each with a `sim:` URL.
    pub plan: StudyPlan,
    /// The site and its variants.
    pub sites: Vec<Site>,
    /// The same sites with other plausible values of what is assumed.
    pub alternatives: Vec<SiteAlternative>,
    /// For each datastore of the plan, its place in a site.
    pub places: Vec<SitePlace>,
}

/// Finds each datastore of the plan in the site of `file`. The changes in `what_if`, together, add a second level of
/// each, named like those of the study's `site`: `NAME nic=40GbE nics=2`. `read` returns the site with changes applied.
///
/// # Errors
/// The site cannot be read, or does not have what the study names.
pub fn prepare(
    mut plan: StudyPlan,
    file: &str,
    what_if: &[String],
    read: &dyn Fn(&[String]) -> Result<SiteFile, String>,
) -> Result<Prepared, PredictError> {
    let mut variants: Vec<(String, &[String])> = vec![(String::new(), &[])];
    if !what_if.is_empty() {
        variants.push((format!(" {}", what_if.join(" ")), what_if));
    }
    // The unchanged site comes first: the prediction is named after it.
    let mut known: Vec<(Vec<String>, SiteFile)> =
        vec![(Vec::new(), read(&[]).map_err(PredictError::Site)?)];
    let planned = std::mem::take(&mut plan.datastores);
    let mut places = Vec::new();
    // Variants come after the study's own datastores, so that the index of the baseline stays the same.
    for (suffix, what_if) in variants {
        for named in &planned {
            let changes = [named.site_changes.as_slice(), what_if].concat();
            let site = match known.iter().position(|(other, _)| *other == changes) {
                Some(site) => site,
                None => {
                    let changed = read(&changes).map_err(PredictError::Site)?;
                    known.push((changes.clone(), changed));
                    known.len() - 1
                }
            };
            let changed = &known[site].1.site;
            let datastore = site_datastore(changed, named)?;
            let name = format!("{}{suffix}", named.name);
            if plan.datastores.iter().any(|known| known.name == name) {
                return Err(PredictError::SameName { name });
            }
            let url = format!("sim:{file}#{}", changed.datastores[datastore].name);
            plan.datastores.push(NamedDatastore {
                name,
                url,
                site_changes: changes,
                ceiling: None,
                hosts: vec![],
            });
            places.push(SitePlace { site, datastore });
        }
    }
    let alternatives = alternatives(&known, read).map_err(PredictError::Site)?;
    let sites = known.into_iter().map(|(_, file)| file.site).collect();
    Ok(Prepared { plan, sites, alternatives, places })
}

impl Prepared {
    /// Adds questions after the study's own. Unlike those, which were parsed before the site was changed, they may name
    /// the new levels: `"NAME nic=40GbE" is faster than NAME`. They become part of the plan, so they are stored and
    /// answered like the others.
    ///
    /// # Errors
    /// A question cannot be parsed, or names something that is not predicted.
    pub fn ask(&mut self, questions: &[String]) -> Result<(), PredictError> {
        let vocabulary = Vocabulary::of(&self.plan);
        for question in questions {
            let refused = |error| PredictError::Question(Box::new(error));
            let read = parse(question, &vocabulary).map_err(refused)?;
            self.plan.demand(&read);
            self.plan.questions.push(question.trim().to_owned());
        }
        Ok(())
    }
}
