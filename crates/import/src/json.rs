//! JSON with places: what is wrong, with its line and column; and numbers with the digits that were printed.

use serde::Deserialize;
use serde_json::error::Category;

use crate::error::ImportError;
use crate::figure::Figure;

/// Reads a whole text.
pub(crate) fn parse<'a, T: Deserialize<'a>>(
    format: &'static str,
    text: &'a str,
) -> Result<T, ImportError> {
    serde_json::from_str(text).map_err(|error| from_serde(format, &error, 0))
}

/// The error with the lines before the text that was read.
pub(crate) fn from_serde(
    format: &'static str,
    error: &serde_json::Error,
    lines_before: usize,
) -> ImportError {
    let line = lines_before + error.line().max(1);
    if error.classify() == Category::Eof {
        return ImportError::Truncated { format, line };
    }
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    ImportError::Malformed { format, line, column: error.column().max(1), what: what.to_string() }
}

/// A number of a measured quantity, in the digits that it has.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Number(serde_json::Number);

impl Number {
    /// As printed: the last digit says the precision.
    pub(crate) fn printed(&self) -> Option<Figure> {
        Figure::printed(&self.0.to_string())
    }

    /// As a count, which is exact.
    pub(crate) fn count(&self) -> Option<Figure> {
        self.0.as_f64().map(Figure::exact)
    }

    /// Its value.
    pub(crate) fn value(&self) -> Option<f64> {
        self.0.as_f64()
    }
}

/// A string, or a number or truth value as such a string: some tools put everything into quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loose(pub(crate) String);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl serde::de::Visitor<'_> for Any {
            type Value = Loose;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a string or a number")
            }
            fn visit_str<E>(self, value: &str) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
                Ok(Loose(value.to_string()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
