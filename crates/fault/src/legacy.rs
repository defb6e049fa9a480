//! The syntax in which earlier versions wrote faults for predictions: `disk aggregate.3 lost`. It is still read, from
//! study files and results files, and no longer written.

/// Whether the words before the time use that syntax.
pub(crate) fn is_legacy(words: &[&str]) -> bool {
    matches!(words.first(), Some(&("disk" | "path" | "network" | "node")))
}

/// The fault in the current syntax; `None` if it was invalid in the earlier one, too.
pub(crate) fn current(words: &[&str]) -> Option<String> {
    Some(match *words {
        ["disk", place, "lost"] => {
            let (disks, number) = place.rsplit_once('.')?;
            format!("disk-fail {disks} {number}")
        }
        ["disk", place, "slow", times] => {
            let (disks, number) = place.rsplit_once('.')?;
            format!("disk-slow {disks} {number} {times}")
        }
        ["path", place, "down"] => {
            let (adapter, number) = place.rsplit_once('.')?;
            format!("path-down {adapter} {number}")
        }
        ["network", name, "down"] => format!("link-down {name}"),
        ["node", place, "lost"] => format!("kill {place}"),
        _ => return None,
    })
}
