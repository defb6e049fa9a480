//! Keys that earlier versions spelled differently.
//!
//! Files outlive versions: an old spelling is read like the new one, with a note that names it. Readers,
//! messages and schemas know the new spelling only.

use crate::document::{Node, Value};
use crate::error::Diagnostics;

/// A key that earlier versions spelled differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenamedKey {
    /// The spelling of earlier versions.
    pub old: &'static str,
    /// The spelling that readers know.
    pub new: &'static str,
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn value_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Value::Map(pairs) = &mut self.value else { return None };
        pairs.iter_mut().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// Gives keys of this mapping their new spelling, with a note for each. A key that is there in both
    /// spellings is a mistake.
    pub fn rename_keys(&mut self, renamed: &[RenamedKey], diagnostics: &mut Diagnostics) {
        for RenamedKey { old, new } in renamed {
            let has_new = self.value_mut(new).is_some();
            let Value::Map(pairs) = &mut self.value else { return };
            let Some((key, _)) = pairs.iter_mut().find(|(key, _)| key.text() == Some(old)) else {
                continue;
            };
            if has_new {
                diagnostics.error_at(
                    key.place,
                    format!("{old} is the old spelling of {new}, which is also there; keep {new}"),
                );
            } else {
                diagnostics.note_at(key.place, format!("{old} is the old spelling of {new}"));
            }
            key.value = Value::Text((*new).into());
        }
    }
}
