//! The files with which the repository is hosted: workflows, the action for other projects, templates of issues.

use serde_json::Value;
use stormeter_testkit::as_json;

use crate::exported::measured;
use crate::workflows::{OF_GITLAB_JOB, assert_known, bash, github, prepared};

macro_rules! file {
    ($path:literal) => {
        include_str!(concat!("../../../../", $path))
    };
}

/// The workflows of the repository.
pub(crate) const WORKFLOWS: [(&str, &str); 3] = [
    ("test.yml", file!(".github/workflows/test.yml")),
    ("release.yml", file!(".github/workflows/release.yml")),
    ("docs.yml", file!(".github/workflows/docs.yml")),
];
const ACTION: &str = file!("action.yml");
const TEMPLATES: [&str; 2] =
    [file!(".github/ISSUE_TEMPLATE/wrong.yml"), file!(".github/ISSUE_TEMPLATE/wish.yml")];

#[test]
fn workflows_have_known_keys_few_rights_and_an_end() {
    for (name, text) in WORKFLOWS {
        let workflow = as_json(text);
        let scripts = github(&workflow);
        assert_eq!(workflow["permissions"], serde_json::json!({"contents": "read"}), "{name}");
        for job in workflow["jobs"].as_object().unwrap().values() {
            assert!(job["timeout-minutes"].is_u64(), "{name}: {job} may run for hours");
        }
        // Text of others must not become a script: it is passed in variables.
        assert!(scripts.iter().all(|script| !script.contains("${{")), "{name}: {scripts:?}");
    }
    let release = WORKFLOWS[1].1;
    assert!(release.contains("cargo xtask dist") && release.contains("target/dist/*"));
}

/// The steps of the action, with their scripts.
fn steps(action: &Value) -> Vec<(String, &Value)> {
    let steps = action["runs"]["steps"].as_array().unwrap();
    steps.iter().map(|step| (step["run"].as_str().unwrap().to_owned(), &step["env"])).collect()
}

#[test]
fn the_action_is_sound() {
    let action = as_json(ACTION);
    assert_known(&action, &["name", "description", "inputs", "outputs", "runs", "branding"]);
    for input in action["inputs"].as_object().unwrap().values() {
        assert_known(input, &["description", "required", "default"]);
    }
    for output in action["outputs"].as_object().unwrap().values() {
        assert_known(output, &["description", "value"]);
    }
    assert_known(&action["runs"], &["using", "steps"]);
    assert_eq!(action["runs"]["using"], "composite");
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert_known(step, &["id", "name", "shell", "env", "run", "if", "working-directory"]);
        assert_eq!(step["shell"], "bash");
        let script = step["run"].as_str().unwrap();
        assert!(!script.contains("${{"), "text of others would be executed: {script}");
    }
    // Every input is used, and nothing else is.
    let inputs = action["inputs"].as_object().unwrap();
    for name in inputs.keys() {
        assert!(ACTION.contains(&format!("${{{{ inputs.{name} }}}}")), "{name} is not used");
    }
    assert_eq!(ACTION.matches("${{ inputs.").count(), inputs.len());
}

#[test]
fn the_actions_scripts_run_and_keep_a_run_that_is_not_slower() {
    let place = measured();
    let mut variables = prepared(&place);
    let action = as_json(ACTION);
    let outputs = place.path("outputs");
    for run in ["1", "2"] {
        std::fs::write(&outputs, "").unwrap();
        variables.insert("GITHUB_OUTPUT", outputs.display().to_string());
        for (script, environment) in steps(&action) {
            let mut all = variables.clone();
            let of_inputs = environment.as_object().unwrap();
            for (name, value) in of_inputs {
                let value = value.as_str().unwrap();
                let input =
                    value.strip_prefix("${{ inputs.").map(|rest| rest.trim_end_matches(" }}"));
                let given = match input {
                    Some(input) => action["inputs"][input]["default"].as_str().unwrap().to_owned(),
                    // What the first step wrote.
                    None => "new.db".to_owned(),
                };
                all.insert(name.as_str(), given);
            }
            bash(&place, &script, &all, run);
        }
        let written = std::fs::read_to_string(&outputs).unwrap();
        assert!(written.contains("results=new.db\n"), "{written}");
        assert!(place.path(&format!("history/{run}.db")).exists());
        assert_eq!(place.path("gate.md").exists(), run == "2");
    }
}

/// Keywords of whole files that GitLab documents.
const OF_GITLAB: [&str; 7] =
    ["default", "include", "stages", "variables", "workflow", "cache", "image"];

#[test]
fn the_jobs_for_gitlab_have_known_keys_and_their_gate_runs() {
    for text in [file!(".gitlab-ci.yml"), file!(".gitlab/gate.yml")] {
        let file = as_json(text);
        let stages: Vec<&str> = file["stages"]
            .as_array()
            .map(|stages| stages.iter().map(|stage| stage.as_str().unwrap()).collect())
            .unwrap_or_default();
        let jobs = file.as_object().unwrap().iter();
        for (name, job) in jobs.filter(|(name, _)| !OF_GITLAB.contains(&name.as_str())) {
            assert_known(job, &OF_GITLAB_JOB);
            let stage = job["stage"].as_str();
            assert!(stage.is_none_or(|stage| stages.contains(&stage)), "{name}: {stage:?}");
            assert!(job["timeout"].is_string(), "{name} may run for ever");
        }
    }
    let place = measured();
    let mut variables = prepared(&place);
    let gate = as_json(file!(".gitlab/gate.yml"));
    let job = &gate[".stormeter-gate"];
    for (name, value) in job["variables"].as_object().unwrap() {
        variables.insert(name.as_str(), value.as_str().unwrap().to_owned());
    }
    for run in ["1", "2"] {
        for line in job["script"].as_array().unwrap() {
            bash(&place, line.as_str().unwrap(), &variables, run);
        }
        assert!(place.path(&format!("history/{run}.db")).exists());
    }
    assert!(place.path("gate.xml").exists());
}

#[test]
fn templates_of_issues_have_known_fields() {
    for text in TEMPLATES {
        let template = as_json(text);
        assert_known(&template, &["name", "description", "title", "labels", "assignees", "body"]);
        let mut ids = Vec::new();
        for field in template["body"].as_array().unwrap() {
            assert_known(field, &["type", "id", "attributes", "validations"]);
            let known: &[&str] = match field["type"].as_str().unwrap() {
                "markdown" => &["value"],
                "textarea" => &["label", "description", "placeholder", "value", "render"],
                "input" => &["label", "description", "placeholder", "value"],
                "dropdown" => &["label", "description", "multiple", "options", "default"],
                "checkboxes" => &["label", "description", "options"],
                other => panic!("GitHub has no field {other}"),
            };
            assert_known(&field["attributes"], known);
            if let Some(id) = field["id"].as_str() {
                assert!(!ids.contains(&id), "{id} is there twice");
                ids.push(id);
            }
        }
    }
}
