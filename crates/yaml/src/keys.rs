//! The keys that a mapping may have, each with an example of its value.
//!
//! Such lists are what a reader accepts, what messages tell, and what a JSON Schema is held against.

/// A key and how to write it.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// An example of its value.
    pub example: &'static str,
}

/// The keys of one mapping.
#[derive(Debug, PartialEq, Eq)]
pub struct Keys {
    /// What the JSON Schema calls the mapping.
    pub schema: &'static str,
    /// What messages call it.
    pub of: &'static str,
    /// All of them, in the order of tables.
    pub keys: &'static [Key],
    /// The key that shows best what the mapping is for; the first where it is none of them.
    pub telling: &'static str,
    /// Keys that may be there with nothing behind them.
    pub may_be_empty: &'static [&'static str],
}

impl Keys {
    /// The names, in the order of tables.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }

    /// The key that shows best what the mapping is for.
    pub fn telling(&self) -> &Key {
        self.keys.iter().find(|key| key.name == self.telling).unwrap_or(&self.keys[0])
    }

    /// How to write a value of that key.
    pub fn example(&self, name: &str) -> &'static str {
        self.keys.iter().find(|key| key.name == name).map_or("", |key| key.example)
    }
}

/// Static lists of keys, and `ALL` of them: for each its name, what the schema calls it, what
/// messages call it, and its keys with examples.
#[macro_export]
macro_rules! keys {
    ($($(#[$doc:meta])* $list:ident $schema:literal $of:literal
        $(telling $telling:literal)? $(empty [$($empty:literal)*])?
        { $($name:literal: $example:literal,)* })*) => {
        $($(#[$doc])* pub(crate) static $list: $crate::Keys = $crate::Keys {
            schema: $schema,
            of: $of,
            keys: &[$($crate::Key { name: $name, example: $example },)*],
            telling: concat!($($telling)?),
            may_be_empty: &[$($($empty),*)?],
        };)*
        /// All lists.
        pub(crate) static ALL: &[&$crate::Keys] = &[$(&$list),*];
    };
}
