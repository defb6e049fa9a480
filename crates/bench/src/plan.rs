//! The time to predict the whole plan of a published study, at full length.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use stormeter_datastore::RealClock;
use stormeter_predict::{PredictRequest, predict_study, prepare};
use stormeter_results::Prediction;
use stormeter_runner::{Silent, environment};
use stormeter_site::parse_site;
use stormeter_study::{Blocks, StudyPlan, Timing, parse_study};
use tempfile::TempDir;

use crate::failure::Failure;

const STUDY: &str = include_str!("../../../studies/tr3808/study.yaml");
const SITE: &str = include_str!("../../../studies/tr3808/site.yaml");

/// The prefix of the other hypervisor generation, of which only three configurations were published;
/// this one has all ten.
const OTHER_GENERATION: &str = "esx35-";
/// Caches start as full as they get, so no more is needed.
const RAMP_NS: u64 = 2_000_000_000;

/// Ten configurations, two sizes and three loads, each once with this window.
fn plan(window_ns: u64) -> Result<StudyPlan, Failure> {
    let mut plan = parse_study(STUDY).map_err(|error| error.to_string())?;
    plan.datastores.retain(|datastore| !datastore.name.starts_with(OTHER_GENERATION));
    plan.questions.clear();
    plan.design.blocks = Blocks::Fixed(1);
    plan.timing = Timing { ramp_ns: RAMP_NS, duration_ns: window_ns, ..plan.timing };
    Ok(plan)
}

/// A plan that was predicted.
pub(crate) struct Predicted {
    pub(crate) cells: usize,
    pub(crate) seconds: f64,
}

/// Predicts the plan on all CPUs.
pub(crate) fn predict(window_ns: u64) -> Result<Predicted, Failure> {
    let read = |_: &[String]| parse_site(SITE).map_err(|errors| errors.to_string());
    let prepared =
        prepare(plan(window_ns)?, "site.yaml", &[], &read).map_err(|error| error.to_string())?;
    let scratch = TempDir::with_prefix("stormeter-bench").map_err(|error| error.to_string())?;
    let request = PredictRequest {
        prediction: Prediction {
            site: prepared.sites[0].name.clone(),
            file: "site.yaml".into(),
            text: SITE.into(),
            what_if: Vec::new(),
            faults: Vec::new(),
            shortened_from: None,
            model_errors: Vec::new(),
        },
        faults: Vec::new(),
        plan: prepared.plan,
        sites: prepared.sites,
        alternatives: prepared.alternatives,
        places: prepared.places,
        output: Path::new(scratch.path()).join("predicted.db"),
        sensitivity: false,
        threads: 0,
        environment: environment(&RealClock::new()),
        command_line: Vec::new(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let began = Instant::now();
    let file = predict_study(&request, &AtomicBool::new(false), &mut Silent)
        .map_err(|error| error.to_string())?;
    let trials = file.trials().map_err(|error| error.to_string())?;
    if let Some(failed) = trials.iter().find(|trial| trial.sample().is_none()) {
        return Err(format!("a trial of the plan failed: {:?}", failed.outcome));
    }
    Ok(Predicted { cells: trials.len(), seconds: began.elapsed().as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_ten_configurations_of_two_sizes_and_three_loads() {
        let plan = plan(300_000_000_000).unwrap();
        assert_eq!(plan.cells().len(), 10 * 2 * 3);
        assert_eq!(plan.design.blocks.most(), 1);
        // A moment of it can be executed here too.
        assert_eq!(predict(1_000_000).unwrap().cells, 60);
    }
}
