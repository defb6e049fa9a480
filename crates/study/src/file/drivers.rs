//! Reads the `hosts` of a datastore: which of the study's hosts drive it. Two hosts are compared by two datastores, each
//! driven by one of them.

use stormeter_units::nearest;
use stormeter_yaml::{Diagnostics, Node, Section, Value, one_of};

use crate::study_plan::{NamedDatastore, StudyHost};

/// Sets the hosts of the datastores that name them.
pub(super) fn read(
    study: &Section<'_>,
    datastores: &mut [NamedDatastore],
    hosts: &[StudyHost],
    diagnostics: &mut Diagnostics,
) {
    let Some(Node { value: Value::Map(pairs), .. }) = study.get("datastores") else { return };
    let before = diagnostics.count();
    for (key, value) in pairs {
        let Value::Map(settings) = &value.value else { continue };
        let Some((_, node)) = settings.iter().find(|(key, _)| key.text() == Some("hosts")) else {
            continue;
        };
        let found = numbers(key.text().unwrap_or_default(), node, hosts, diagnostics);
        let named = datastores.iter_mut().find(|datastore| Some(&*datastore.name) == key.text());
        if let (Some(found), Some(datastore)) = (found, named) {
            datastore.hosts = found;
        }
    }
    let drives =
        |number: u32| datastores.iter().any(|it| it.hosts.is_empty() || it.hosts.contains(&number));
    let idle = (0..).zip(hosts).find(|(number, _)| !drives(*number));
    if let Some((_, host)) = idle.filter(|_| diagnostics.count() == before) {
        diagnostics.error_at(
            study.place_of("hosts"),
            format!(
                "host {} drives none of the datastores; remove it, or name it in one",
                host.name
            ),
        );
    }
}

/// The numbers of the hosts that a datastore names, in order.
fn numbers(
    datastore: &str,
    node: &Node,
    hosts: &[StudyHost],
    diagnostics: &mut Diagnostics,
) -> Option<Vec<u32>> {
    let names = || hosts.iter().map(|host| host.name.as_str());
    let example = names().next().unwrap_or("esx1");
    let items = match &node.value {
        Value::List(items) if !items.is_empty() => items,
        _ => {
            let found = node.found();
            diagnostics.error_at(
                node.place,
                format!(
                    "the hosts of datastore {datastore} are a list of names, not {found}; write \
                     hosts: [{example}]"
                ),
            );
            return None;
        }
    };
    let mut numbers = Vec::new();
    for item in items {
        let text = item.text().unwrap_or_default();
        let Some(number) = names().position(|name| name == text) else {
            let meant = nearest(text, names());
            let meant = meant.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
            let advice = match hosts.is_empty() {
                true => "The study has no hosts; add hosts: {esx1: \"ssh:root@esx1\"}".into(),
                false => format!("{meant}Write {}", one_of(names())),
            };
            let found = item.found();
            diagnostics.error_at(
                item.place,
                format!("{found} is none of the study's hosts, which datastore {datastore} names; {advice}"),
            );
            return None;
        };
        if numbers.contains(&(number as u32)) {
            diagnostics.error_at(
                item.place,
                format!("datastore {datastore} names host {text} twice; remove one"),
            );
            return None;
        }
        numbers.push(number as u32);
    }
    numbers.sort_unstable();
    Some(numbers)
}
