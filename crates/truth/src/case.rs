//! A study as the validation sees it: its site, its plans and its relations with their cells.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use stormeter_predict::calibrate::{Observed, Outcome, published};
use stormeter_predict::{predict_cells, site_datastore};
use stormeter_site::{Override, Site, SiteFile, parse_site, parse_site_with};
use stormeter_study::{Cell, StudyPlan, parse_study};

use crate::relation::{Relation, read};

/// A study.
pub(crate) struct Case {
    pub(crate) name: String,
    site_text: String,
    pub(crate) file: SiteFile,
    plans: BTreeMap<String, StudyPlan>,
    pub(crate) relations: Vec<Placed>,
    /// By free parameter of the site: its value before anything is known of the publication.
    pub(crate) priors: Vec<f64>,
    /// Outcomes that are known already.
    known: RefCell<HashMap<Key, Outcome>>,
}

/// A plan, a cell of it, and the parts of a site that it uses.
type Key = (String, String, u64);

/// A relation and its cells in its plan.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) relation: Relation,
    pub(crate) observed: Observed,
}

impl Case {
    /// Reads the study in a directory.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let text = |name: &str| {
            let path = directory.join(name);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let site_text = text("site.yaml")?;
        let file = parse_site(&site_text).map_err(|error| error.to_string())?;
        let said = read(&text("relations.yaml")?).map_err(|error| error.to_string())?;
        let mut plans = BTreeMap::new();
        for relation in &said.relations {
            if !plans.contains_key(&relation.plan) {
                let plan =
                    parse_study(&text(&relation.plan)?).map_err(|error| error.to_string())?;
                plans.insert(relation.plan.clone(), plan);
            }
        }
        let placed = |relation: Relation| -> Result<Placed, String> {
            let plan = &plans[&relation.plan];
            let figure = |point| -> Result<Observed, String> {
                let (found, _) = published(plan, &file.site, std::slice::from_ref(point))
                    .map_err(|error| error.to_string())?;
                found.first().map(|one| one.of).ok_or_else(|| {
                    format!("{}: {} has no such cell", relation.finding, relation.plan)
                })
            };
            let observed = match (figure(&relation.of)?, &relation.base) {
                (of, None) => of,
                (of, Some(base)) => ratio(of, figure(base)?),
            };
            Ok(Placed { observed, relation })
        };
        let relations = said.relations.into_iter().map(placed).collect::<Result<Vec<_>, _>>()?;
        for (path, _) in &said.priors {
            if !file.fit.iter().any(|free| free.parameter == *path) {
                return Err(format!("{path} is no free parameter of the site"));
            }
        }
        let prior = |free: &stormeter_site::FreeParameter| {
            let given = said.priors.iter().find(|(path, _)| *path == free.parameter);
            given.map(|(_, value)| *value).ok_or(format!("{} has no prior", free.parameter))
        };
        let priors = file.fit.iter().map(prior).collect::<Result<Vec<_>, _>>()?;
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = RefCell::default();
        Ok(Self { name, site_text, priors, plans, relations, file, known })
    }

    /// The site with these values of its free parameters.
    pub(crate) fn site(&self, values: &[f64]) -> Result<Site, String> {
        let free = self.file.fit.iter().zip(values);
        let changes: Vec<Override> = free.flat_map(|(one, value)| one.at(*value)).collect();
        let file = parse_site_with(&self.site_text, &changes).map_err(|error| error.to_string())?;
        Ok(file.site)
    }

    /// What the model says of relations on a site, in their order: a ratio, or a figure.
    pub(crate) fn predict(&self, site: &Site, relations: &[&Placed]) -> Result<Vec<f64>, String> {
        let mut missing: BTreeMap<&str, Vec<Cell>> = BTreeMap::new();
        for placed in relations {
            for cell in placed.observed.cells() {
                let cells = missing.entry(&placed.relation.plan).or_default();
                let key = self.key(site, placed, cell);
                if !self.known.borrow().contains_key(&key) && !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
        let never = AtomicBool::new(false);
        let mut found: BTreeMap<(&str, usize), Outcome> = BTreeMap::new();
        for (plan, cells) in &missing {
            let all = predict_cells(&self.plans[*plan], site, cells, &never)
                .map_err(|error| format!("{} of {}: {error}", plan, self.name))?;
            for (number, (sample, cpu)) in all.into_iter().enumerate() {
                found.insert((plan, number), Outcome { sample, cpu });
            }
        }
        let mut known = self.known.borrow_mut();
        for placed in relations {
            let plan = placed.relation.plan.as_str();
            for cell in placed.observed.cells() {
                let number = missing[plan].iter().position(|other| *other == cell);
                if let Some(outcome) = number.and_then(|number| found.get(&(plan, number))) {
                    let key = self.key(site, placed, cell);
                    known.entry(key).or_insert_with(|| outcome.clone());
                }
            }
        }
        let value = |placed: &&Placed| {
            let outcome = |cell: Cell| known.get(&self.key(site, placed, cell));
            placed
                .observed
                .value(outcome)
                .ok_or_else(|| format!("{} has no such figure", placed.relation.finding))
        };
        relations.iter().map(value).collect()
    }

    /// What the outcome of a cell follows from: its place in its plan, and the parts of the site that it uses. A fit
    /// changes one part at a time.
    fn key(&self, site: &Site, placed: &Placed, cell: Cell) -> Key {
        let named = &self.plans[&placed.relation.plan].datastores[cell.datastore];
        let mut hasher = DefaultHasher::new();
        if let Ok(own) = site_datastore(site, named) {
            format!("{:?}", site.used_by(own)).hash(&mut hasher);
        }
        (placed.relation.plan.clone(), format!("{cell:?}"), hasher.finish())
    }

    /// The name of a cell's datastore.
    pub(crate) fn datastore(&self, placed: &Placed, cell: Cell) -> &str {
        &self.plans[&placed.relation.plan].datastores[cell.datastore].name
    }
}

/// A figure in relation to another of the same metric.
fn ratio(of: Observed, to: Observed) -> Observed {
    match (of, to) {
        (Observed::Figure { cell, metric }, Observed::Figure { cell: base, .. }) => {
            Observed::Ratio { cell, base, metric }
        }
        (of, _) => of,
    }
}
