//! Notes and losses of the forms 1 to 7, which were sentences: they are kept, as the facts that they are now.

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

/// The failure of a trial of form 7 with the losses of a prediction as facts, as `upgrade-8.sql` has it.
pub(crate) fn with_losses(mut failure: Value) -> Value {
    sentences_of(&mut failure, "losses", "loss");
    failure
}

fn notes_of(owner: &mut Value) {
    sentences_of(owner, "notes", "note");
}

fn sentences_of(owner: &mut Value, list: &str, tag: &str) {
    let all = owner.get_mut(list).and_then(Value::as_array_mut);
    for one in all.into_iter().flatten().filter(|one| one.is_string()) {
        let said = one.take();
        *one = json!({ tag: "early", "said": said });
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
