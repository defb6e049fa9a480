//! The keys that a mapping may have, each with an example of its value.
//!
//! The same lists define what a reader accepts, what messages list, and what a JSON Schema is
//! checked against.

/// A key and how to write it.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    /// The key as written.
    pub name: &'static str,
    /// An example of its value.
    pub example: &'static str,
}

/// The keys of one mapping.
#[derive(Debug, PartialEq, Eq)]
pub struct Keys {
    /// The name of the mapping in the JSON Schema.
    pub schema: &'static str,
    /// The name of the mapping in messages.
    pub of: &'static str,
    /// All keys, in the order of tables.
    pub keys: &'static [Key],
    /// The key that best shows what the mapping is for; if it is not in the list, the first one is
    /// used.
    pub telling: &'static str,
    /// Keys that may be present without a value.
    pub may_be_empty: &'static [&'static str],
}

impl Keys {
    /// The names, in the order of tables.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }

    /// The key that best shows what the mapping is for.
    pub fn telling(&self) -> &Key {
        self.keys.iter().find(|key| key.name == self.telling).unwrap_or(&self.keys[0])
    }

    /// An example of a value of that key.
    pub fn example(&self, name: &str) -> &'static str {
        self.keys.iter().find(|key| key.name == name).map_or("", |key| key.example)
    }
}

/// Defines static lists of keys, and `ALL` of them: each with its name, its name in the schema, its
/// name in messages, and its keys with examples.
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
