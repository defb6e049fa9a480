//! A value of a JSON document that knows its path, so that a wrong one is named by it.

use serde_json::{Map, Value};

use crate::error::ImportError;

/// A value and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    format: &'static str,
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    /// The whole of a document; `path` is its name, or empty.
    pub(crate) fn root(format: &'static str, path: &str, value: &'a Value) -> Self {
        Self { format, path: path.to_owned(), value }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a key. `null` is as good as nothing.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.as_object()?.get(key).filter(|value| !value.is_null())?;
        Some(Self { format: self.format, path: self.path_of(key), value })
    }

    /// An object's keys and values; an error if it is none.
    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, ImportError> {
        self.value.as_object().ok_or_else(|| self.wrong("expected an object"))
    }

    /// The entries of an array; an error if it is none.
    pub(crate) fn entries(&self) -> Result<impl Iterator<Item = Self> + use<'a>, ImportError> {
        let entries = self.value.as_array().ok_or_else(|| self.wrong("expected an array"))?;
        let (format, path) = (self.format, self.path.clone());
        Ok(entries.iter().enumerate().map(move |(index, value)| Self {
            format,
            path: format!("{path}[{index}]"),
            value,
        }))
    }

    /// Whether it is an array.
    pub(crate) fn is_array(&self) -> bool {
        self.value.is_array()
    }

    /// A text; of a number, its digits.
    pub(crate) fn text(&self) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// A count of a key.
    pub(crate) fn count(&self, key: &str) -> Result<Option<u64>, ImportError> {
        match self.get(key) {
            Some(node) => count_of(node.value).map(Some).map_err(|what| node.wrong(&what)),
            None => Ok(None),
        }
    }

    /// A number, not negative, of a key; also whether it is printed as a whole one.
    pub(crate) fn amount(&self, key: &str) -> Result<Option<(f64, bool)>, ImportError> {
        let Some(node) = self.get(key) else { return Ok(None) };
        match node.value.as_f64() {
            Some(value) if value >= 0.0 && value.is_finite() => {
                Ok(Some((value, !node.value.is_f64())))
            }
            Some(_) => Err(node.wrong(&format!("{} cannot be", node.value))),
            None => Err(node.wrong("expected a number")),
        }
    }

    /// That its value cannot be.
    pub(crate) fn wrong(&self, what: &str) -> ImportError {
        wrong(self.format, &self.path, what)
    }

    /// That the value of one of its keys cannot be.
    pub(crate) fn wrong_at(&self, key: &str, what: &str) -> ImportError {
        wrong(self.format, &self.path_of(key), what)
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// A count: a whole number that is not negative, whichever way a tool in between has printed it.
pub(crate) fn count_of(value: &Value) -> Result<u64, String> {
    const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;
    let Value::Number(number) = value else { return Err("expected a count".to_owned()) };
    if let Some(count) = number.as_u64() {
        return Ok(count);
    }
    match number.as_f64() {
        Some(count) if (0.0..TOO_LARGE).contains(&count) && count.fract() == 0.0 => {
            Ok(count as u64)
        }
        _ => Err(format!("{number} is no count")),
    }
}

fn wrong(format: &'static str, path: &str, what: &str) -> ImportError {
    let path = if path.is_empty() { "the document" } else { path };
    ImportError::Wrong { format, path: path.to_owned(), what: what.to_owned() }
}
