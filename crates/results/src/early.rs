//! Notes in headers of the forms 1 to 7, which were sentences: they are kept, as the facts that they are now.

use serde_json::{Value, json};

/// The first form whose headers have facts.
pub(crate) const FORM_OF_FACTS: i32 = 8;

/// A header of an earlier form with its notes as facts, as `upgrade-8.sql` does with the notes of trials.
pub(crate) fn with_facts(mut header: Value) -> Value {
    if let Some(datastores) = header.get_mut("datastores").and_then(Value::as_array_mut) {
        datastores.iter_mut().for_each(notes_of);
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
