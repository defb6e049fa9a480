//! The scope of a claim: the clauses at the end of a question.

use super::claim::{Claim, Factor, Scope};
use super::error::QuestionError;
use super::parser::Parser;

impl Parser<'_> {
    /// `in METRIC`, `on WORKLOAD, ...` (where workloads are compared `on DATASTORE, ...`), `at N vms`, `with N outstanding`, `everywhere`, `durably`.
    pub(super) fn clause(
        &mut self,
        claim: &mut Claim,
        scope: &mut Scope,
    ) -> Result<(), QuestionError> {
        let wants_metric = match claim {
            Claim::Compared { metric, .. } if metric.is_none() => self.accept(&["in"]).is_some(),
            _ => false,
        };
        if wants_metric {
            let named = self.metric()?;
            if let Claim::Compared { metric, .. } = claim {
                *metric = Some(named);
            }
            return Ok(());
        }
        let is_open = scope.workloads.is_empty() && scope.datastores.is_empty();
        if is_open && self.accept(&["on"]).is_some() {
            match self.compares_workloads {
                true => scope.datastores = self.several(Self::datastore)?,
                false => scope.workloads = self.several(Self::workload)?,
            }
            return Ok(());
        }
        if scope.vms.is_empty() && self.accept(&["at"]).is_some() {
            let levels = &self.vocabulary.vms;
            scope.vms = self.levels(levels, Factor::Vms)?;
            self.require(&["vms", "vm"])?;
            return Ok(());
        }
        if scope.outstanding.is_empty() && self.accept(&["with"]).is_some() {
            let levels = &self.vocabulary.outstanding;
            scope.outstanding = self.levels(levels, Factor::Outstanding)?;
            self.require(&["outstanding"])?;
            return Ok(());
        }
        let can_hold_everywhere = !matches!(claim, Claim::Depends { .. });
        if can_hold_everywhere && !scope.everywhere && self.accept(&["everywhere"]).is_some() {
            scope.everywhere = true;
            return Ok(());
        }
        if !scope.durably {
            if self.peek().is_some_and(|token| token.is(",")) {
                self.advance(1);
                self.require(&["durably"])?;
                scope.durably = true;
                return Ok(());
            }
            if self.accept(&["durably"]).is_some() {
                scope.durably = true;
                return Ok(());
            }
        }
        self.note("the end");
        Err(self.unexpected())
    }

    /// Names, each once.
    fn several(
        &mut self,
        name: fn(&mut Self) -> Result<String, QuestionError>,
    ) -> Result<Vec<String>, QuestionError> {
        let mut names = Vec::new();
        loop {
            let place = self.place();
            let name = name(self)?;
            if names.contains(&name) {
                return Err(self.wrong(place, format!("{name} is named twice")));
            }
            names.push(name);
            if !self.and_another() {
                return Ok(names);
            }
        }
    }

    /// Levels that the study has: `4`, `1, 4 or 16`.
    fn levels(&mut self, known: &[u32], factor: Factor) -> Result<Vec<u32>, QuestionError> {
        let mut levels = Vec::new();
        loop {
            let place = self.place();
            let level = self.peek().and_then(|token| token.text.parse::<u32>().ok());
            let Some(level) = level else {
                self.note("a number");
                return Err(self.unexpected());
            };
            if !known.contains(&level) {
                return Err(self.wrong(place, unknown_level(known, factor, level)));
            }
            if levels.contains(&level) {
                return Err(self.wrong(place, format!("{level} is named twice")));
            }
            levels.push(level);
            self.advance(1);
            if !self.and_another() {
                return Ok(levels);
            }
        }
    }

    /// A factor with only one level in the scope has no effect.
    pub(super) fn check_levels(&self, claim: &Claim, scope: &Scope) -> Result<(), QuestionError> {
        let along = match claim {
            Claim::Trend { along, .. } => vec![along.factor()],
            Claim::Depends { factors, .. } => factors.clone(),
            Claim::Compared { .. } | Claim::Bounded { .. } => Vec::new(),
        };
        for factor in along {
            let left = match factor {
                Factor::Datastore => continue,
                Factor::Workload => scope.workloads.len(),
                Factor::Vms => scope.vms.len(),
                Factor::Outstanding => scope.outstanding.len(),
            };
            if left == 1 {
                let name = factor.name();
                return Err(self.wrong(
                    self.place(),
                    format!(
                        "with one level of {name} nothing is said about {name}: name several, \
                             or none for all"
                    ),
                ));
            }
        }
        Ok(())
    }
}

fn unknown_level(known: &[u32], factor: Factor, level: u32) -> String {
    let name = factor.name();
    if known.is_empty() {
        return format!("the study sets no levels of {name}");
    }
    let listed: Vec<String> = known.iter().map(u32::to_string).collect();
    format!("{level} is none of the study's levels of {name}, which are {}", listed.join(", "))
}
