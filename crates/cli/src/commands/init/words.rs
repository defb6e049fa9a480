//! Texts as YAML takes them.

/// Words that YAML 1.1 or 1.2 takes for something other than a text.
const SPECIAL: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"];

/// A text in quotes. YAML's double quotes have the escapes of JSON.
pub(super) fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// A name, in quotes where it would be taken for something else.
pub(super) fn key(name: &str) -> String {
    if SPECIAL.contains(&name.to_ascii_lowercase().as_str()) { text(name) } else { name.into() }
}

/// A text for a comment: one line, without characters that act on a terminal.
pub(super) fn comment(value: &str) -> String {
    stormeter_report::printable(value).replace(['\n', '\r'], " ")
}
