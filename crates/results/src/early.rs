//! Notes in headers of the forms 1 to 7, which were sentences: they are kept, as the facts that they are now.

use serde_json::{Value, json};

/// The first form whose headers have facts.
pub(crate) const FORM_OF_FACTS: i32 = 8;

/// A header of an earlier form with its notes as facts, as `upgrade-8.sql` does with the notes of trials.
pub(crate) fn with_facts(mut header: Value) -> Value {
    if let Some(datastores) = header.get_mut("datastores").and_then(Value::as_array_mut) {
        datastores.iter_mut().for_each(notes_of);
    }
    if let Some(environment) = header.get_mut("environment") {
        notes_of(environment);
        let hosts = environment.get_mut("hosts").and_then(Value::as_array_mut);
        let of_hosts = hosts.into_iter().flatten().filter_map(|host| host.get_mut("environment"));
        of_hosts.for_each(notes_of);
    }
    header
}

fn notes_of(owner: &mut Value) {
    let notes = owner.get_mut("notes").and_then(Value::as_array_mut);
    for note in notes.into_iter().flatten().filter(|note| note.is_string()) {
        let said = note.take();
        *note = json!({ "note": "early", "said": said });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_become_facts_and_nothing_else_changes() {
        let header = |note: Value| {
            let notes = json!([note]);
            json!({
                "run_id": "5f2c",
                "datastores": [{ "url": "null:" }, { "url": "/srv/vm", "notes": notes.clone() }],
                "environment": {
                    "notes": notes.clone(),
                    "hosts": [{ "name": "esx1", "environment": { "notes": notes } }],
                },
            })
        };
        let fact = json!({ "note": "early", "said": "as it was said" });
        assert_eq!(with_facts(header("as it was said".into())), header(fact.clone()));
        assert_eq!(with_facts(header(fact.clone())), header(fact), "it is done once");
        assert_eq!(with_facts(json!("strange")), json!("strange"));
    }
}
