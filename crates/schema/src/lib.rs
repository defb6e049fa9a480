//! JSON Schemas of what is printed as JSON, derived from the types that are printed: a schema cannot
//! disagree with the program, and its descriptions are the comments of the fields.
//!
//! The generated files are committed in `docs/schema`, and a test of each crate that prints JSON
//! compares them. So a renamed field shows in a diff and does not surprise the user's scripts.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Serialize;
//! use stormeter_schema::{Number, schema_of};
//!
//! /// A trial.
//! #[derive(Serialize, JsonSchema)]
//! struct Trial {
//!     /// Its mean latency, in nanoseconds.
//!     latency_ns: Number,
//! }
//!
//! assert!(schema_of::<Trial>().contains("Its mean latency"));
//! assert_eq!(serde_json::to_string(&Trial { latency_ns: 7.5.into() }).unwrap(), r#"{"latency_ns":7.5}"#);
//! ```

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

/// The JSON Schema (draft 2020-12) of what serialising a `T` gives, as text that ends in a newline.
pub fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(closed))
        .with_transform(RecursiveTransform(plain))
        .with_transform(RecursiveTransform(described));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

/// A number that may be infinite or undefined. JSON has neither, so it is `null` then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Number(#[schemars(with = "Option<f64>")] f64);

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

/// An object has the keys that are listed, and no others.
fn closed(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".into(), false.into());
    }
}

/// Leaves out what validators do not know (`"format": "uint32"`), and defaults, which are for readers of
/// JSON: whatever is printed is printed in full.
fn plain(schema: &mut Schema) {
    schema.remove("format");
    schema.remove("default");
}

/// The comments of Rust code are broken into lines, and speak of `None` where JSON has null.
fn described(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n").replace("`None`", "null");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Both ends;
    /// `None`: unknown.
    #[derive(Serialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is of interest")]
    struct Ends {
        /// The lower one, in nanoseconds.
        low_ns: u32,
        /// The upper one.
        high: Option<Number>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    }

    #[test]
    fn a_schema_is_closed_and_speaks_json() {
        let schema: Value = serde_json::from_str(&schema_of::<Ends>()).unwrap();
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Ends",
            "description": "Both ends; null: unknown.",
            "type": "object",
            "properties": {
                "low_ns": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The lower one, in nanoseconds."
                },
                "high": { "type": ["number", "null"], "description": "The upper one." },
                "notes": { "type": "array", "items": { "type": "string" } }
            },
            "required": ["low_ns", "high"],
            "additionalProperties": false
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn what_json_cannot_write_is_null() {
        let written = |number: f64| serde_json::to_value(Number::from(number)).unwrap();
        assert_eq!(written(0.5), json!(0.5));
        for number in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(written(number), Value::Null);
        }
    }
}
