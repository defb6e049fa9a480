//! A small checker of JSON Schema (draft 2020-12).
//!
//! It knows exactly the keywords that our schemas use and fails at any other, so that it cannot pass
//! by not looking.

use serde_json::Value;

/// Where and why `value` does not follow `schema`; empty if it does.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    of(schema, schema, value, "")
}

fn of(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    let rules = schema.as_object().unwrap();
    for (keyword, rule) in rules {
        let number = |holds: fn(f64, f64) -> bool| {
            value.as_f64().is_none_or(|value| holds(value, rule.as_f64().unwrap()))
        };
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let target = root.pointer(rule.as_str().unwrap().strip_prefix('#').unwrap());
                found.extend(of(root, target.unwrap(), value, at));
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|name| is_of_type(value, name)),
                name => is_of_type(value, name),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "anyOf" => {
                let mut choices = rule.as_array().unwrap().iter();
                choices.any(|choice| of(root, choice, value, at).is_empty())
            }
            "oneOf" => {
                let choices = rule.as_array().unwrap().iter();
                choices.filter(|choice| of(root, choice, value, at).is_empty()).count() == 1
            }
            "minimum" => number(|value, limit| value >= limit),
            "maximum" => number(|value, limit| value <= limit),
            "exclusiveMinimum" => number(|value, limit| value > limit),
            "exclusiveMaximum" => number(|value, limit| value < limit),
            "minItems" => value.as_array().is_none_or(|v| v.len() as u64 >= rule.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|v| v.len() as u64 <= rule.as_u64().unwrap()),
            "uniqueItems" => {
                let items = value.as_array().into_iter().flatten();
                let mut seen = Vec::new();
                *rule != Value::Bool(true)
                    || items.into_iter().all(|item| {
                        let first = !seen.contains(&item);
                        seen.push(item);
                        first
                    })
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(of(root, rule, item, &format!("{at}/{index}")));
                }
                true
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (index, (item, rule)) in items.zip(rule.as_array().unwrap()).enumerate() {
                    found.extend(of(root, rule, item, &format!("{at}/{index}")));
                }
                true
            }
            "required" => {
                let mut keys = rule.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
                value.as_object().is_none_or(|object| keys.all(|key| object.contains_key(key)))
            }
            "properties" => {
                for (key, schema) in rule.as_object().unwrap() {
                    if let Some(member) = value.get(key) {
                        found.extend(of(root, schema, member, &format!("{at}/{key}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = rules.get("properties").and_then(Value::as_object);
                let others = value.as_object().into_iter().flatten();
                let others = others.filter(|(key, _)| known.is_none_or(|k| !k.contains_key(*key)));
                match rule {
                    Value::Bool(false) => others.count() == 0,
                    rule => {
                        assert!(rule.is_object(), "{rule}");
                        for (key, member) in others {
                            found.extend(of(root, rule, member, &format!("{at}/{key}")));
                        }
                        true
                    }
                }
            }
            other => panic!("the check does not know the keyword {other}"),
        };
        if !holds {
            found.push(format!("{at}: {keyword} {rule} does not hold for {value}"));
        }
    }
    found
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no such type: {other}"),
    }
}

/// The keys of a schema that have no description, and the descriptions that contain links of rustdoc.
pub fn undescribed(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, "", &mut found);
    found
}

fn visit(schema: &Value, at: &str, found: &mut Vec<String>) {
    let properties = schema["properties"].as_object();
    for (key, property) in properties.into_iter().flatten() {
        // A tag, or a single key, names a variant, and the variant has the description.
        let is_only_key = properties.is_some_and(|all| all.len() == 1);
        let is_tag =
            property["const"].is_string() || is_only_key && schema["description"].is_string();
        match property["description"].as_str() {
            Some(text) if text.contains("[`") || text.contains("::") => {
                found.push(format!("{at}/{key}: {text}"));
            }
            None if !is_tag => found.push(format!("{at}/{key} has no description")),
            _ => {}
        }
    }
    match schema {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| visit(value, &format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| visit(value, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}
