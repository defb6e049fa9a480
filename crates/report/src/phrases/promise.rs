//! What datastores promise about a write that they have acknowledged, in words: where its bytes are, how that is known,
//! and who promises less than whom.

use stormeter_results::{Acknowledged, Promise, PromiseEvidence};
use stormeter_statistics::Promised;

use crate::wording::listed;

/// Where the bytes of an acknowledged write are, in a table.
pub(crate) fn acknowledged(acknowledged: Acknowledged) -> &'static str {
    match acknowledged {
        Acknowledged::Stable => "on stable storage",
        Acknowledged::VolatileCache => "in a volatile cache",
        Acknowledged::Memory => "in memory",
        Acknowledged::Unknown => "unknown",
    }
}

/// The promise with all its evidence: `on stable storage (O_DIRECT: writes bypass the page cache; …)`.
pub(crate) fn promise(promise: &Promise) -> String {
    let evidence: Vec<String> = promise.evidence.iter().map(evidence).collect();
    let words = acknowledged(promise.acknowledged);
    match evidence.is_empty() {
        true => words.into(),
        false => format!("{words} ({})", evidence.join("; ")),
    }
}

/// A piece of evidence as a clause. One match without a wildcard, so that none goes without words.
pub(crate) fn evidence(evidence: &PromiseEvidence) -> String {
    match evidence {
        PromiseEvidence::PageCache => "writes go through this host's page cache".into(),
        PromiseEvidence::FileSystemInMemory { file_system } => {
            format!("{file_system} keeps files in memory")
        }
        PromiseEvidence::NothingStored => "nothing is stored".into(),
        PromiseEvidence::Direct => "O_DIRECT: writes bypass the page cache".into(),
        PromiseEvidence::MountedSync { option } => format!("mounted with {option}"),
        PromiseEvidence::FileSystemElsewhere { file_system } => {
            format!("{file_system}: the system's client writes to a server that cannot be seen")
        }
        PromiseEvidence::NothingSeenBelow { what } => {
            format!("what lies below {what} cannot be seen")
        }
        PromiseEvidence::DeviceCache { device, write_back: true, fua } => {
            let fua = if *fua { "with FUA" } else { "without FUA" };
            format!("{device} has a write-back cache, {fua}")
        }
        PromiseEvidence::DeviceCache { device, write_back: false, .. } => {
            format!("{device} has no write-back cache")
        }
        PromiseEvidence::DeviceInMemory { device } => format!("{device} is in memory"),
        PromiseEvidence::CopyOnWrite { file_system } => {
            format!("{file_system} writes blocks to new places, which it finds after a flush only")
        }
        PromiseEvidence::LoopThroughPageCache { device } => {
            format!("{device} writes its file through the page cache")
        }
        PromiseEvidence::NfsWrites { stable } => format!("writes are requested as {stable}"),
        PromiseEvidence::NfsCommitsAtOnce => {
            "the server commits at once what was requested as unstable".into()
        }
        PromiseEvidence::ModePage { write_cache: true } => {
            "WCE: the LUN reports a write cache".into()
        }
        PromiseEvidence::ModePage { write_cache: false } => {
            "no WCE: the LUN reports no write cache".into()
        }
        PromiseEvidence::NoModePage => "the LUN does not say whether it has a write cache".into(),
        PromiseEvidence::ForcedUnitAccess { supported: true } => "DPOFUA: the LUN has FUA".into(),
        PromiseEvidence::ForcedUnitAccess { supported: false } => {
            "no DPOFUA: the LUN has no FUA".into()
        }
        PromiseEvidence::Replicas { size, least, erasure_coded: false } => {
            format!("all of {size} replicas that are up have it, at least {least}")
        }
        PromiseEvidence::Replicas { size, least, erasure_coded: true } => {
            format!("all of {size} erasure-coded parts that are up have it, at least {least}")
        }
        PromiseEvidence::NoPoolFacts => "the cluster does not say how many copies it keeps".into(),
        PromiseEvidence::ClientCache => "librbd's cache on this host is on".into(),
        PromiseEvidence::KeepsNothing => "the LUN keeps nothing of what is written to it".into(),
        PromiseEvidence::Modelled { what } => format!("modelled: {what}"),
    }
}

/// Where bytes are that are known by this evidence alone; `None` if it only adds to others.
fn shown_by(evidence: &PromiseEvidence) -> Option<Acknowledged> {
    Some(match evidence {
        PromiseEvidence::Direct | PromiseEvidence::ForcedUnitAccess { .. } => return None,
        PromiseEvidence::PageCache
        | PromiseEvidence::FileSystemInMemory { .. }
        | PromiseEvidence::LoopThroughPageCache { .. }
        | PromiseEvidence::ClientCache
        | PromiseEvidence::DeviceInMemory { .. }
        | PromiseEvidence::CopyOnWrite { .. }
        | PromiseEvidence::NothingStored
        | PromiseEvidence::KeepsNothing => Acknowledged::Memory,
        PromiseEvidence::DeviceCache { write_back: true, .. }
        | PromiseEvidence::ModePage { write_cache: true } => Acknowledged::VolatileCache,
        PromiseEvidence::FileSystemElsewhere { .. }
        | PromiseEvidence::NothingSeenBelow { .. }
        | PromiseEvidence::NoModePage => Acknowledged::Unknown,
        PromiseEvidence::MountedSync { .. }
        | PromiseEvidence::DeviceCache { write_back: false, .. }
        | PromiseEvidence::NfsCommitsAtOnce
        | PromiseEvidence::Replicas { .. }
        | PromiseEvidence::NoPoolFacts
        | PromiseEvidence::ModePage { write_cache: false } => Acknowledged::Stable,
        // What is meant depends on the words.
        PromiseEvidence::NfsWrites { .. } | PromiseEvidence::Modelled { .. } => return None,
    })
}

/// The evidence that decides: all of it where no single piece does. Of a stack of devices that say the same, the lowest
/// speaks for all.
fn deciding(promise: &Promise) -> String {
    let decides = |it: &&PromiseEvidence| shown_by(it) == Some(promise.acknowledged);
    let mut deciding: Vec<&PromiseEvidence> = promise.evidence.iter().filter(decides).collect();
    if deciding.is_empty() {
        deciding = promise.evidence.iter().collect();
    }
    let is_alike = |a: &mut &PromiseEvidence, b: &mut &PromiseEvidence| {
        std::mem::discriminant(*a) == std::mem::discriminant(*b)
    };
    deciding.reverse();
    deciding.dedup_by(is_alike);
    deciding.reverse();
    deciding.into_iter().map(evidence).collect::<Vec<_>>().join("; ")
}

/// Who promises less than whom, and what: a clause without a full stop.
pub(super) fn unlike(promised: &[Promised], workloads: &[String]) -> String {
    use Acknowledged::{Memory, Stable, Unknown, VolatileCache};
    // The weakest first: what is known to be volatile is weaker than what is not known.
    let groups: Vec<(Acknowledged, Vec<&Promised>)> = [Memory, VolatileCache, Unknown, Stable]
        .into_iter()
        .map(|one| {
            let alike = promised.iter().filter(|it| it.promise.acknowledged == one);
            (one, alike.collect::<Vec<_>>())
        })
        .filter(|(_, alike)| !alike.is_empty())
        .collect();
    let (Some((weakest, less)), Some((strongest, more))) = (groups.first(), groups.last()) else {
        return String::new();
    };
    let names = |of: &[&Promised]| listed(of.iter().map(|it| it.name.clone()));
    let verb = match (weakest, strongest) {
        (Unknown, _) | (_, Unknown) => "may promise",
        _ if less.len() == 1 => "promises",
        _ => "promise",
    };
    let places = groups.iter().map(|(acknowledged, alike)| {
        let place = match acknowledged {
            Memory => "may still be in memory",
            VolatileCache => "may still be in a volatile cache",
            Unknown => "may be in a cache or on stable storage",
            Stable => "is on stable storage",
        };
        let known = alike.iter().map(|it| match deciding(&it.promise).as_str() {
            "" => it.name.clone(),
            evidence => format!("{} ({evidence})", it.name),
        });
        format!("{place} on {}", listed(known))
    });
    let relying = match workloads {
        [] => String::new(),
        [only] => format!("; workload {only} relies on it"),
        several => format!("; workloads {} rely on it", listed(several.iter().cloned())),
    };
    format!(
        "{} {verb} less than {}: an acknowledged write {}{relying}",
        names(less),
        names(more),
        listed(places)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn every_evidence() -> Vec<PromiseEvidence> {
        use PromiseEvidence as E;
        let file_system = || "nfs4".to_owned();
        let device = || "vda".to_owned();
        let cache = |write_back, fua| E::DeviceCache { device: device(), write_back, fua };
        vec![
            E::PageCache,
            E::FileSystemInMemory { file_system: "tmpfs".into() },
            E::NothingStored,
            E::Direct,
            E::MountedSync { option: "sync".into() },
            E::FileSystemElsewhere { file_system: file_system() },
            E::NothingSeenBelow { what: "overlay".into() },
            cache(true, true),
            cache(true, false),
            cache(false, false),
            E::DeviceInMemory { device: "zram0".into() },
            E::CopyOnWrite { file_system: "btrfs".into() },
            E::LoopThroughPageCache { device: device() },
            E::NfsWrites { stable: "FILE_SYNC".into() },
            E::NfsCommitsAtOnce,
            E::ModePage { write_cache: true },
            E::ModePage { write_cache: false },
            E::NoModePage,
            E::ForcedUnitAccess { supported: true },
            E::ForcedUnitAccess { supported: false },
            E::Replicas { size: 3, least: 2, erasure_coded: false },
            E::Replicas { size: 6, least: 5, erasure_coded: true },
            E::NoPoolFacts,
            E::ClientCache,
            E::KeepsNothing,
            E::Modelled { what: "an array with a battery".into() },
        ]
    }

    #[test]
    fn every_promise_and_every_evidence_has_words_of_its_own() {
        use Acknowledged::{Memory, Stable, Unknown, VolatileCache};
        let promises: HashSet<_> =
            [Stable, VolatileCache, Memory, Unknown].into_iter().map(acknowledged).collect();
        assert_eq!(promises.len(), 4);
        let all = every_evidence();
        let words: HashSet<String> = all.iter().map(evidence).collect();
        assert_eq!(words.len(), all.len());
        // They stand in parentheses.
        assert!(words.iter().all(|it| !it.contains(['(', ')', '.'])), "{words:?}");
    }

    #[test]
    fn a_promise_is_shown_with_all_its_evidence() {
        let one = Promise {
            acknowledged: Acknowledged::VolatileCache,
            evidence: vec![
                PromiseEvidence::ModePage { write_cache: true },
                PromiseEvidence::ForcedUnitAccess { supported: true },
            ],
        };
        assert_eq!(
            promise(&one),
            "in a volatile cache (WCE: the LUN reports a write cache; DPOFUA: the LUN has FUA)"
        );
        let bare = Promise { evidence: vec![], ..one };
        assert_eq!(promise(&bare), "in a volatile cache");
    }

    fn of(name: &str, acknowledged: Acknowledged, evidence: &[PromiseEvidence]) -> Promised {
        let promise = Promise { acknowledged, evidence: evidence.to_vec() };
        Promised { datastore: 0, name: name.into(), promise }
    }

    #[test]
    fn who_promises_less_is_named_with_the_evidence_that_decides() {
        use PromiseEvidence as E;
        let nas = of("nas", Acknowledged::Stable, &[E::NfsWrites { stable: "FILE_SYNC".into() }]);
        let lun = [E::ModePage { write_cache: true }, E::ForcedUnitAccess { supported: true }];
        let san = of("san", Acknowledged::VolatileCache, &lun);
        assert_eq!(
            unlike(&[nas.clone(), san.clone()], &[]),
            "san promises less than nas: an acknowledged write may still be in a volatile cache on san (WCE: the \
             LUN reports a write cache) and is on stable storage on nas (writes are requested as FILE_SYNC)"
        );
        // Of a volume on a disk, the disk.
        let disk =
            |name: &str| E::DeviceCache { device: name.into(), write_back: false, fua: false };
        let stacked = of("dir", Acknowledged::Stable, &[E::Direct, disk("dm-0"), disk("sda")]);
        let less = unlike(&[stacked, san.clone()], &[]);
        assert!(
            less.ends_with("is on stable storage on dir (sda has no write-back cache)"),
            "{less}"
        );
        let below = [E::Direct, E::NothingSeenBelow { what: "overlay".into() }];
        let dir = of("dir", Acknowledged::Unknown, &below);
        assert_eq!(
            unlike(&[dir.clone(), nas.clone()], &["log".into()]),
            "dir may promise less than nas: an acknowledged write may be in a cache or on stable storage on dir \
             (what lies below overlay cannot be seen) and is on stable storage on nas (writes are requested as \
             FILE_SYNC); workload log relies on it"
        );
        let memory = of("shm", Acknowledged::Memory, &[]);
        let other = of("san2", Acknowledged::VolatileCache, &[]);
        assert_eq!(
            unlike(&[nas, san, memory, dir, other], &["a".into(), "b".into()]),
            "shm promises less than nas: an acknowledged write may still be in memory on shm, may still be in a \
             volatile cache on san (WCE: the LUN reports a write cache) and san2, may be in a cache or on stable \
             storage on dir (what lies below overlay cannot be seen) and is on stable storage on nas (writes are \
             requested as FILE_SYNC); workloads a and b rely on it"
        );
    }
}
