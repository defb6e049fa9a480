//! Faults as earlier versions wrote them for predictions: `disk aggregate.3 lost`. Study files and results
//! files of theirs are read; nothing is written so any more.

/// Whether the words before the time are of that kind.
pub(crate) fn is_one(words: &[&str]) -> bool {
    matches!(words.first(), Some(&("disk" | "path" | "network" | "node")))
}

/// The same in today's words; `None` where it was none then either.
pub(crate) fn today(words: &[&str]) -> Option<String> {
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
