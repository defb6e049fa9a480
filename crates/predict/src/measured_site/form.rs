//! How the device of a datastore may serve its requests: the forms among which the measurements decide.

use serde::Serialize;

/// A form of the device `queue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Each request by itself, always for the same time.
    Constant,
    /// Each request by itself, for times that vary: exponential.
    Varying,
    /// All that wait at once.
    Bulk,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 3] = [Form::Constant, Form::Varying, Form::Bulk];

    /// The keys of the device that say so.
    pub(crate) fn keys(self) -> [(&'static str, &'static str); 2] {
        match self {
            Form::Constant => [("service", "single"), ("spread", "constant")],
            Form::Varying => [("service", "single"), ("spread", "exponential")],
            Form::Bulk => [("service", "bulk"), ("spread", "constant")],
        }
    }

    /// Its description, for people.
    pub fn words(self) -> &'static str {
        match self {
            Form::Constant => "requests served one by one, in constant times",
            Form::Varying => "requests served one by one, in varying times",
            Form::Bulk => "waiting requests served together",
        }
    }
}
