//! The workflows that `docs/gate.md` shows: their keys are those that GitHub and GitLab document, and their scripts run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use stormeter_testkit::as_json;

use crate::exported::{measured, readers};
use crate::page::Page;
use crate::place::Place;

const PAGE: Page = Page(include_str!("../../../../docs/gate.md"));

/// Keys that GitHub documents ("Workflow syntax for GitHub Actions").
const OF_WORKFLOW: [&str; 8] =
    ["name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"];
const OF_JOB: [&str; 17] = [
    "name",
    "permissions",
    "needs",
    "if",
    "runs-on",
    "environment",
    "concurrency",
    "outputs",
    "env",
    "defaults",
    "steps",
    "timeout-minutes",
    "strategy",
    "continue-on-error",
    "container",
    "services",
    "uses",
];
const OF_STEP: [&str; 10] = [
    "id",
    "if",
    "name",
    "uses",
    "run",
    "working-directory",
    "shell",
    "with",
    "env",
    "timeout-minutes",
];
/// Keywords of jobs that GitLab documents ("CI/CD YAML syntax reference").
pub(crate) const OF_GITLAB_JOB: [&str; 18] = [
    "after_script",
    "allow_failure",
    "artifacts",
    "before_script",
    "cache",
    "environment",
    "image",
    "interruptible",
    "needs",
    "parallel",
    "resource_group",
    "retry",
    "rules",
    "script",
    "stage",
    "tags",
    "timeout",
    "variables",
];

fn workflows() -> [String; 2] {
    PAGE.below("In continuous integration", "yaml").try_into().unwrap()
}

#[track_caller]
pub(crate) fn assert_known(of: &Value, known: &[&str]) {
    for key in of.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "{key} is none of {known:?}");
    }
}

/// The steps' scripts.
pub(crate) fn github(workflow: &Value) -> Vec<String> {
    assert_known(workflow, &OF_WORKFLOW);
    let mut scripts = Vec::new();
    for job in workflow["jobs"].as_object().unwrap().values() {
        assert_known(job, &OF_JOB);
        for step in job["steps"].as_array().unwrap() {
            assert_known(step, &OF_STEP);
            match (&step["uses"], &step["run"]) {
                (Value::String(uses), Value::Null) => {
                    // An action is a repository at a version.
                    let (repository, version) = uses.split_once('@').unwrap();
                    assert!(repository.contains('/') && version.starts_with('v'), "{uses}");
                }
                (Value::Null, Value::String(run)) => scripts.push(run.clone()),
                _ => panic!("a step either uses an action or runs a script: {step}"),
            }
        }
    }
    scripts
}

fn gitlab(workflow: &Value) -> Vec<String> {
    let job = &workflow["storage-gate"];
    assert_known(job, &OF_GITLAB_JOB);
    assert_known(&job["artifacts"], &["when", "paths", "reports", "expire_in", "name", "exclude"]);
    assert_known(&job["artifacts"]["reports"], &["junit"]);
    assert_known(&job["cache"], &["key", "paths", "policy", "when", "untracked", "fallback_keys"]);
    let lines = job["script"].as_array().unwrap().iter();
    lines.map(|line| line.as_str().unwrap().to_owned()).collect()
}

/// A program `stormeter` for which the study has been run: it gives its results and carries out all else.
pub(crate) fn prepared(place: &Place) -> BTreeMap<&'static str, String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(place.path("study.yaml"), crate::exported::STUDY).unwrap();
    let path = place.make("bin").join("stormeter");
    let program = env!("CARGO_BIN_EXE_stormeter");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = run ]; then {program} \"$@\" --plan && cp night.db new.db\n\
         else exec {program} \"$@\"; fi\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let search = std::env::var("PATH").unwrap();
    BTreeMap::from([
        ("PATH", format!("{}:{search}", place.path("bin").display())),
        ("GITHUB_STEP_SUMMARY", place.path("summary.md").display().to_string()),
    ])
}

/// Runs a script as both do, by bash that ends at the first failure.
#[track_caller]
pub(crate) fn bash(place: &Place, script: &str, variables: &BTreeMap<&str, String>, run: &str) {
    let mut bash = Command::new("bash");
    bash.args(["-e", "-o", "pipefail", "-c", script]).current_dir(place.root()).envs(variables);
    bash.env("GITHUB_RUN_ID", run).env("CI_PIPELINE_ID", run);
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
}

#[test]
fn the_workflow_for_github_is_sound_and_its_steps_run() {
    let place = measured();
    let variables = prepared(&place);
    let steps = github(&as_json(&workflows()[0]));
    for run in ["1", "2"] {
        for step in &steps {
            // A condition leaves it out.
            if !step.contains("gate.md >>") || place.path("gate.md").exists() {
                bash(&place, step, &variables, run);
            }
        }
        assert!(place.path(&format!("history/{run}.db")).exists());
        // The first run has nothing to be compared with.
        assert_eq!(place.path("gate.md").exists(), run == "2");
    }
    assert!(std::fs::read_to_string(place.path("summary.md")).unwrap().contains("| Datastore |"));
}

#[test]
fn the_job_for_gitlab_is_sound_and_its_script_runs() {
    let place = measured();
    let variables = prepared(&place);
    let job = as_json(&workflows()[1]);
    let script = gitlab(&job);
    for run in ["1", "2"] {
        script.iter().for_each(|line| bash(&place, line, &variables, run));
        assert!(place.path(&format!("history/{run}.db")).exists());
    }
    let report = job["storage-gate"]["artifacts"]["reports"]["junit"].as_str().unwrap();
    let report = std::fs::read_to_string(place.path(report)).unwrap();
    assert!(report.contains("<testsuite name=\"stormeter gate\""), "{report}");
}

#[test]
fn actionlint_finds_nothing_in_the_workflows_for_github() {
    let Some(directory) = readers() else { return };
    let place = Place::new();
    let directory: &Path = &directory;
    std::fs::write(place.path("gate.yml"), &workflows()[0]).unwrap();
    let mut names = vec!["gate.yml".to_owned()];
    for (name, text) in crate::repository_files::WORKFLOWS {
        std::fs::write(place.path(name), text).unwrap();
        names.push(name.to_owned());
    }
    let mut lint = Command::new(directory.join("actionlint"));
    crate::exported::printed(lint.arg("-no-color").args(names).current_dir(place.root()));
}
