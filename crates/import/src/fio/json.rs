//! fio's JSON and JSON+: one document for each invocation, with an entry for each job or group.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::documents;
use super::entry::{self, Identity, Surroundings};
use super::notes::Notes;
use super::options::Options;
use super::version::Version;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::Node;
use crate::room::Room;
use crate::run::{Imported, Run};
use crate::series::Series;

/// The name of the format.
pub(crate) const NAME: &str = "fio JSON";

/// The name that fio gives the sum over its servers.
const ALL_CLIENTS: &str = "All clients";

/// Whether it is this format. Every version has written the key.
pub(crate) fn is(text: &str) -> bool {
    text.contains("\"fio version\"") && documents::has_document(text)
}

/// Reads all documents of a file.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut notes = Notes::default();
    let mut imported = Imported {
        tool: "fio".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    let mut index = 0;
    documents::read(NAME, text, &mut notes, |document, count, notes| {
        let path = if count > 1 { format!("documents[{index}]") } else { String::new() };
        index += 1;
        let root = Node::root(NAME, &path, document);
        let version = root.get("fio version").and_then(|node| node.text());
        read_document(&root, version.as_deref(), &mut imported.runs, notes)?;
        match (&imported.version, version) {
            (None, version) => imported.version = version.map(Cow::into_owned),
            (Some(first), Some(version)) if *first != version => {
                notes.add(format!("{path} is by {version}"));
            }
            _ => {}
        }
        Ok(())
    })?;
    imported.left_out = notes.into_sentences();
    Ok(imported)
}

fn read_document(
    root: &Node<'_>,
    version: Option<&str>,
    runs: &mut Series<Run>,
    notes: &mut Notes,
) -> Result<(), ImportError> {
    root.object()?;
    let (Some(entries), from_servers) = (match root.get("jobs") {
        Some(jobs) => (Some(jobs), false),
        None => (root.get("client_stats"), true),
    }) else {
        return Err(root.wrong("expected jobs or client_stats"));
    };
    let copies = Copies::count(&entries)?;
    let globals = Globals::read(root)?;
    let cpu_busy = cpu_busy(root, from_servers)?;
    let half_of_fractions = Version::half_of_fractions(version.and_then(Version::read));
    for entry in entries.entries()? {
        let identity = Identity::read(&entry)?;
        let is_sum = from_servers && copies.entries() > 1 && entry.get("job options").is_none();
        if is_sum && identity.name == ALL_CLIENTS {
            notes.add(format!("{}: the sum over all servers", entry.path()));
            continue;
        }
        let surroundings = Surroundings {
            options: globals.of(&identity),
            half_of_fractions,
            copies: copies.of(&identity),
            cpu_busy,
        };
        for key in ["usr_cpu", "sys_cpu"] {
            if entry.get(key).is_some() {
                notes.add("usr_cpu and sys_cpu: shares of one CPU for each job, not of the host's");
            }
        }
        if entry.get("steadystate").is_some() {
            notes.add(format!("{}.steadystate", entry.path()));
        }
        runs.push(entry::read(&entry, &identity, &surroundings, notes)?);
    }
    Ok(())
}

/// How many entries have one identity: eight bytes for each, since an entry may have two.
struct Copies(Vec<u64>);

impl Copies {
    fn count(entries: &Node<'_>) -> Result<Self, ImportError> {
        let mut hashes = Vec::with_capacity(entries.entries()?.count());
        for entry in entries.entries()? {
            hashes.push(hash(&Identity::read(&entry)?));
        }
        hashes.sort_unstable();
        Ok(Self(hashes))
    }

    fn entries(&self) -> usize {
        self.0.len()
    }

    fn of(&self, identity: &Identity<'_>) -> u64 {
        let hash = hash(identity);
        let below = |limit: &u64| *limit < hash;
        let up_to = |limit: &u64| *limit <= hash;
        (self.0.partition_point(up_to) - self.0.partition_point(below)).max(1) as u64
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Options of all jobs: an object, or for several servers an array with one for each.
#[derive(Debug, Default)]
struct Globals<'a> {
    common: Options<'a>,
    /// By the hash of host and port, in its order.
    of_hosts: Vec<(u64, Options<'a>)>,
}

impl<'a> Globals<'a> {
    fn read(root: &Node<'a>) -> Result<Self, ImportError> {
        let mut globals = Self::default();
        let Some(node) = root.get("global options") else { return Ok(globals) };
        if !node.is_array() {
            globals.common.extend(&node)?;
            return Ok(globals);
        }
        let mut room = Room::of(root.source());
        for of_host in node.entries()? {
            let mut options = Options::default();
            options.extend(&of_host)?;
            let text = |key: &str| of_host.get(key).and_then(|node| node.text());
            let (host, port) = (text("hostname"), text("port"));
            if host.is_some() || port.is_some() {
                room.take(options.memory()).map_err(|what| of_host.wrong(what))?;
                globals.of_hosts.push((hash(&(host, port)), options));
            }
        }
        globals.of_hosts.sort_by_key(|(hash, _)| *hash);
        Ok(globals)
    }

    fn of(&self, identity: &Identity<'_>) -> &Options<'a> {
        let port = identity.port.map(|port| Cow::<str>::Owned(port.to_string()));
        let hash = hash(&(&identity.host, &port));
        let end = self.of_hosts.partition_point(|(of, _)| *of <= hash);
        let found = end.checked_sub(1).and_then(|at| self.of_hosts.get(at));
        found.filter(|(of, _)| *of == hash).map_or(&self.common, |(_, options)| options)
    }
}

/// With `--idle-prof`, the idle share of the machine; of a client it is not that of the servers.
fn cpu_busy(root: &Node<'_>, from_servers: bool) -> Result<Option<Figure>, ImportError> {
    let Some(idleness) = root.get("cpu_idleness").filter(|_| !from_servers) else {
        return Ok(None);
    };
    let idle = idleness.amount("system")?.filter(|(share, _)| *share <= 100.0);
    Ok(idle.map(|(percent, _)| Figure { value: 1.0 - percent / 100.0, half: 5e-9 }))
}
