//! Values that are stored as the text that people write.

/// Stores a type that `FromStr` reads and `Display` writes as its text, together with
/// `#[serde(try_from = "String", into = "String")]`.
#[macro_export]
macro_rules! by_text {
    ($type:ty, $error:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                text.parse()
            }
        }
    };
}
