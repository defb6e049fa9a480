//! Checks a hand-written JSON Schema against what is really read. For the tests of the crates that read
//! YAML files.
//!
//! It reads with saphyr itself: an editor sees numbers and truth values where our own reader keeps the text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Value, json};

/// What an editor that checks YAML by a JSON Schema sees.
pub fn as_json(text: &str) -> Value {
    fn value(yaml: &Yaml<'_>) -> Value {
        match yaml {
            Yaml::Value(Scalar::Null) => Value::Null,
            Yaml::Value(Scalar::Boolean(value)) => json!(value),
            Yaml::Value(Scalar::Integer(value)) => json!(value),
            Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
            Yaml::Value(Scalar::String(value)) => json!(value),
            Yaml::Sequence(items) => items.iter().map(value).collect(),
            Yaml::Mapping(entries) => entries
                .iter()
                .map(|(key, item)| (key.as_str().unwrap().to_owned(), value(item)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            other => panic!("{other:?}"),
        }
    }
    value(&Yaml::load_from_str(text).unwrap()[0])
}

/// The files in a directory and the examples in a document, each with a name for messages. `root` is the
/// crate's directory, both paths are relative to it.
pub fn examples(root: &str, directory: &str, document: &str) -> Vec<(String, String)> {
    let root = Path::new(root);
    let mut files: Vec<(String, String)> = fs::read_dir(root.join(directory))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect();
    let text = fs::read_to_string(root.join(document)).unwrap();
    for (index, block) in text.split("```yaml\n").skip(1).enumerate() {
        let text = block.split("```").next().unwrap();
        files.push((format!("{document}, example {}", index + 1), text.to_owned()));
    }
    files
}

/// The schema has exactly the keys that are read, list by list; those of a whole file are under `whole`.
pub fn assert_same_keys<'a>(
    schema: &Value,
    whole: &str,
    read: impl IntoIterator<Item = (&'a str, Vec<&'a str>)>,
) {
    let names = |value: &Value| {
        let properties = value["properties"].as_object();
        properties.map(|p| p.keys().cloned().collect::<Vec<String>>())
    };
    let mut in_schema: BTreeMap<String, Vec<String>> = BTreeMap::new();
    in_schema.insert(whole.into(), names(schema).unwrap());
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if let Some(names) = names(definition) {
            assert_eq!(definition["additionalProperties"], json!(false), "{name}");
            in_schema.insert(name.clone(), names);
        }
    }
    let to_owned = |keys: Vec<&str>| keys.into_iter().map(str::to_owned).collect();
    let mut read: BTreeMap<String, Vec<String>> =
        read.into_iter().map(|(name, keys)| (name.to_owned(), to_owned(keys))).collect();
    for keys in in_schema.values_mut().chain(read.values_mut()) {
        keys.sort();
    }
    assert_eq!(in_schema, read);
}
