//! `site` and `faults`: changes to the site that a study is predicted for, as levels of the factor
//! `datastore`, and the faults there. Whether a site has the parts that fail is checked by the prediction.

use stormeter_fault::ScheduledFault;
use stormeter_yaml::{Diagnostics, Node, Section, Value};

use crate::study_plan::NamedDatastore;

const EXAMPLE: &str = "site: {nics: [1, 2, 3]}";
/// The most variants of a datastore; a report of more would not be readable.
const MOST_VARIANTS: usize = 256;

/// Each datastore once for every combination of the changes: `nas nics=2`. Also the number of combinations: 1
/// if the file changes nothing.
pub(super) fn expand(
    study: &Section<'_>,
    datastores: Vec<NamedDatastore>,
    diagnostics: &mut Diagnostics,
) -> (Vec<NamedDatastore>, usize) {
    let Some(node) = study.get("site") else { return (datastores, 1) };
    let Value::Map(pairs) = &node.value else {
        diagnostics.error_at(
            node.place,
            format!("site has changes with their levels, not {}; write {EXAMPLE}", node.found()),
        );
        return (datastores, 1);
    };
    let mut combinations: Vec<Vec<String>> = vec![Vec::new()];
    for (key, value) in pairs {
        let Some(levels) = levels(key, value, diagnostics) else { continue };
        let all = |known: &Vec<String>| {
            let with = |level: &String| [known.as_slice(), std::slice::from_ref(level)].concat();
            levels.iter().map(with).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(all).collect();
        if combinations.len() > MOST_VARIANTS {
            diagnostics.error_at(
                value.place,
                format!("these changes make more than {MOST_VARIANTS} sites; leave some out"),
            );
            return (datastores, 1);
        }
    }
    let variants = combinations.len();
    let named = datastores.into_iter().flat_map(|datastore| {
        combinations
            .iter()
            .map(move |changes| NamedDatastore {
                name: std::iter::once(&datastore.name)
                    .chain(changes)
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
                url: datastore.url.clone(),
                site_changes: changes.clone(),
                ceiling: datastore.ceiling.clone(),
                hosts: datastore.hosts.clone(),
            })
            .collect::<Vec<_>>()
    });
    (named.collect(), variants)
}

/// The levels of a change, each as `nics=2`.
fn levels(key: &Node, value: &Node, diagnostics: &mut Diagnostics) -> Option<Vec<String>> {
    let what = key.text().unwrap_or_default();
    let items = match &value.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let mut levels: Vec<String> = Vec::new();
    for item in items {
        let text = item.text().map(str::trim).unwrap_or_default();
        let level = format!("{what}={text}");
        if text.is_empty() || what.is_empty() || text.contains(char::is_control) {
            let found = item.found();
            diagnostics.error_at(
                item.place,
                format!("a level is a number or a word, not {found}; write {EXAMPLE}"),
            );
            return None;
        }
        if levels.contains(&level) {
            diagnostics.error_at(item.place, format!("{level} appears twice; remove one"));
            return None;
        }
        levels.push(level);
    }
    if levels.is_empty() {
        diagnostics.error_at(value.place, format!("no level is given; write {EXAMPLE}"));
        return None;
    }
    Some(levels)
}

/// The faults of every trial of a prediction.
pub(super) fn faults(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Vec<ScheduledFault> {
    let Some(node) = study.get("faults") else { return Vec::new() };
    let items = match &node.value {
        Value::List(items) => items.as_slice(),
        // A single one needs no list.
        _ => std::slice::from_ref(node),
    };
    let mut faults: Vec<ScheduledFault> = Vec::new();
    for item in items {
        let text = item.text().map(str::trim).filter(|text| !text.is_empty());
        match text.map(str::parse::<ScheduledFault>) {
            Some(Ok(fault)) if faults.contains(&fault) => {
                diagnostics
                    .error_at(item.place, format!("\"{fault}\" appears twice; remove one"));
            }
            Some(Ok(fault)) => faults.push(fault),
            Some(Err(error)) => diagnostics.error_at(item.place, error.to_string()),
            None => diagnostics.error_at(
                item.place,
                format!(
                    "a fault is a line of words, not {}; write it like - disk-fail aggregate 3 at 10s",
                    item.found()
                ),
            ),
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use crate::{StudyPlan, parse_study};

    fn names(plan: &StudyPlan) -> Vec<&str> {
        plan.datastores.iter().map(|datastore| datastore.name.as_str()).collect()
    }

    #[test]
    fn every_combination_is_a_datastore() {
        let plan = parse_study(
            "datastores: {a: /a, b: /b}\nbaseline: b\nsite: {nics: [1, 2], mtu: 9000}\n\
             questions: ['\"b nics=2 mtu=9000\" is faster than \"b nics=1 mtu=9000\" in iops']",
        )
        .unwrap();
        let expected =
            ["a nics=1 mtu=9000", "a nics=2 mtu=9000", "b nics=1 mtu=9000", "b nics=2 mtu=9000"];
        assert_eq!(names(&plan), expected);
        assert_eq!(plan.baseline, 2, "the first variant of the baseline");
        assert_eq!(plan.datastores[3].site_changes, ["nics=2", "mtu=9000"]);
        assert_eq!(plan.datastores[3].url, "/b");
        let back: StudyPlan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
        assert_eq!(back, plan);
    }

    #[test]
    fn faults_are_read_in_the_words_of_steps_and_in_those_of_earlier_versions() {
        let faults = |text: &str| parse_study(&format!("datastores: {{a: /a}}\nfaults: {text}"));
        let plan = faults("[disk-fail d 0 at 3s, ' link-down n  at 1s for 1s ']").unwrap();
        let texts: Vec<String> = plan.site_faults.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["disk-fail d 0 at 3s", "link-down n at 1s for 1s"]);
        let old = faults("[disk d.0 lost at 3s, ' network n down at 1s for 1s ']").unwrap();
        assert_eq!(old, plan);
        // As earlier versions stored them.
        let mut stored = serde_json::to_value(&plan).unwrap();
        stored["site_faults"][0] = "disk d.0 lost at 3s".into();
        assert_eq!(serde_json::from_value::<StudyPlan>(stored).unwrap(), plan);
        let back: StudyPlan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
        assert_eq!(back, plan);
        assert_eq!(faults("disk-fail d 0 at 3s").unwrap().site_faults.len(), 1);
        for (text, words) in [
            ("[kill a.1 at 1s, kill a.1 at 1s]", "appears twice"),
            ("[kill a.1 at 1s, node a.1 lost at 1s]", "appears twice"),
            ("[a]", "\"a\" is not a fault with its time"),
            ("[disk-fail d at 1s]", "disk-fail is written"),
            ("[{disk: d}]", "a fault is a line of words, not a mapping"),
            ("['']", "a fault is a line of words"),
        ] {
            let error = faults(text).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains(":2:"), "{error}");
        }
    }

    #[test]
    fn what_makes_no_levels_is_reported_with_its_place() {
        for (site, words) in [
            ("[nics]", "site has changes with their levels, not a list"),
            ("{nics: []}", "no level is given"),
            ("{nics: [2, 2]}", "nics=2 appears twice"),
            ("{nics: [{a: b}]}", "not a mapping"),
        ] {
            let error = parse_study(&format!("datastores: {{a: /a}}\nsite: {site}")).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(words) && text.contains(":2:"), "{text}");
        }
    }
}
