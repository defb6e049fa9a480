//! A comparison as a study: of one workload at one load.

use crate::plan::ComparisonPlan;
use crate::study_plan::{
    Blocks, Design, NamedDatastore, Order, Prepare, Reset, StudyPlan, StudyWorkload, Unit,
    WorkloadKind,
};

impl From<&ComparisonPlan> for StudyPlan {
    /// Its cells are the datastores, in order.
    fn from(plan: &ComparisonPlan) -> Self {
        // The same one twice is an A/A test; the names of a study's datastores differ.
        let mut names: Vec<String> = Vec::new();
        for (place, url) in plan.datastores.iter().enumerate() {
            let is_second = plan.datastores[..place].contains(url);
            let is_taken = |name: &String| names.contains(name) || plan.datastores.contains(name);
            let numbered = || (2..).map(|number| format!("{url} ({number})"));
            let other = if is_second { numbered().find(|name| !is_taken(name)) } else { None };
            names.push(other.unwrap_or_else(|| url.clone()));
        }
        let named = |(url, name): (&String, String)| NamedDatastore {
            name,
            url: url.clone(),
            site_changes: Vec::new(),
            ceiling: None,
            hosts: vec![],
        };
        Self {
            study: String::new(),
            datastores: plan.datastores.iter().zip(names).map(named).collect(),
            hosts: Vec::new(),
            baseline: plan.baseline,
            workloads: vec![StudyWorkload {
                name: plan.workload.name.clone(),
                disk_bytes: None,
                kind: WorkloadKind::Io(plan.workload.clone()),
            }],
            vms: vec![plan.vms],
            outstanding: Vec::new(),
            disk_bytes: plan.disk_bytes,
            prepare: Prepare::Random,
            timing: plan.timing,
            steps: Vec::new(),
            design: Design {
                blocks: Blocks::Auto { min: plan.min_blocks, max: plan.max_blocks },
                precision: plan.precision,
                margin: plan.margin,
                level: plan.level,
                metric: plan.metric,
                order: Order::Randomized,
                reset: Reset::None,
                unit: Unit::Trial,
                time_limit_ns: Some(plan.time_limit_ns),
                equal_load: plan.equal_load,
            },
            site_faults: Vec::new(),
            questions: Vec::new(),
            threads: plan.threads,
            verify: plan.verify,
            seed: plan.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{block_order, content_seed, tests::plan, trial_seed, trial_start};

    #[test]
    fn a_datastore_that_is_named_twice_has_two_names() {
        let comparison = ComparisonPlan {
            datastores: ["/a", "/b", "/a", "/a"].map(String::from).into(),
            ..plan()
        };
        let study = StudyPlan::from(&comparison);
        let names: Vec<&str> = study.datastores.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["/a", "/b", "/a (2)", "/a (3)"]);
        assert!(study.is_comparison() && study.is_a_a_test());
        // A directory may be called like that.
        let comparison = ComparisonPlan {
            datastores: ["/a", "/a (2)", "/a"].map(String::from).into(),
            ..plan()
        };
        let study = StudyPlan::from(&comparison);
        let names: Vec<&str> = study.datastores.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["/a", "/a (2)", "/a (3)"]);
    }

    /// Results files of comparisons are resumed as they were started.
    #[test]
    fn its_trials_are_those_of_the_comparison() {
        let comparison = plan();
        let study = StudyPlan::from(&comparison);
        let seed = comparison.seed;
        assert_eq!(study.cells().len(), comparison.datastores.len());
        for block in [0, 1, 7, u32::MAX - 1] {
            let order = block_order(seed, block, comparison.datastores.len());
            assert_eq!(study.trials_of_block(block), order);
            assert_eq!(study.seed_of(block), trial_seed(seed, block));
            for datastore in 0..comparison.datastores.len() {
                assert_eq!(study.cells()[datastore].datastore, datastore);
                let number = u64::from(block);
                assert_eq!(study.start_of(block, datastore), trial_start(seed, number));
                let content = content_seed(seed, datastore, number);
                assert_eq!(study.content_seed_of(block, datastore), content);
            }
        }
    }
}
