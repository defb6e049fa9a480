//! fio's JSON and JSON+: one document for each invocation, with an entry for each job or group.

use std::collections::HashMap;

use super::documents;
use super::entry::{self, Identity, Surroundings};
use super::node::Node;
use super::notes::Notes;
use super::options::Options;
use super::version::Version;
use crate::error::ImportError;
use crate::figure::Figure;
use crate::run::{Imported, Run};

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
    let documents = documents::read(NAME, text, &mut notes)?;
    let several = documents.len() > 1;
    let mut imported =
        Imported { tool: "fio".into(), version: None, runs: Vec::new(), left_out: Vec::new() };
    for (index, document) in documents.iter().enumerate() {
        let path = if several { format!("documents[{index}]") } else { String::new() };
        let root = Node::root(NAME, &path, document);
        let version = root.get("fio version").and_then(|node| node.text());
        read_document(&root, version.as_deref(), &mut imported.runs, &mut notes)?;
        match (&imported.version, version) {
            (None, version) => imported.version = version,
            (Some(first), Some(version)) if *first != version => {
                notes.add(format!("{path} is by {version}"));
            }
            _ => {}
        }
    }
    imported.left_out = notes.into_sentences();
    Ok(imported)
}

fn read_document(
    root: &Node<'_>,
    version: Option<&str>,
    runs: &mut Vec<Run>,
    notes: &mut Notes,
) -> Result<(), ImportError> {
    root.object()?;
    let (Some(entries), from_servers) = (match root.get("jobs") {
        Some(jobs) => (Some(jobs), false),
        None => (root.get("client_stats"), true),
    }) else {
        return Err(root.wrong("expected jobs or client_stats"));
    };
    let identities = entries.entries()?.map(|entry| Identity::read(&entry));
    let identities: Vec<Identity> = identities.collect::<Result<_, _>>()?;
    let mut copies: HashMap<&Identity, u64> = HashMap::new();
    for identity in &identities {
        *copies.entry(identity).or_default() += 1;
    }
    let globals = Globals::read(root)?;
    let cpu_busy = cpu_busy(root, from_servers)?;
    let half_of_fractions = Version::half_of_fractions(version.and_then(Version::read));
    for (entry, identity) in entries.entries()?.zip(&identities) {
        let is_sum = from_servers && identities.len() > 1 && entry.get("job options").is_none();
        if is_sum && identity.name == ALL_CLIENTS {
            notes.add(format!("{}: the sum over all servers", entry.path()));
            continue;
        }
        let surroundings = Surroundings {
            options: globals.of(identity),
            half_of_fractions,
            copies: copies.get(identity).copied().unwrap_or(1),
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
        runs.push(entry::read(&entry, identity, &surroundings, notes)?);
    }
    Ok(())
}

/// Options of all jobs: an object, or for several servers an array with one for each.
#[derive(Debug, Default)]
struct Globals {
    common: Options,
    of_hosts: HashMap<(Option<String>, Option<String>), Options>,
}

impl Globals {
    fn read(root: &Node<'_>) -> Result<Self, ImportError> {
        let mut globals = Self::default();
        let Some(node) = root.get("global options") else { return Ok(globals) };
        if !node.is_array() {
            globals.common.extend(&node)?;
            return Ok(globals);
        }
        for of_host in node.entries()? {
            let mut options = Options::default();
            options.extend(&of_host)?;
            let text = |key: &str| options.get(key).map(str::to_owned);
            globals.of_hosts.insert((text("hostname"), text("port")), options);
        }
        Ok(globals)
    }

    fn of(&self, identity: &Identity) -> &Options {
        let key = (identity.host.clone(), identity.port.map(|port| port.to_string()));
        self.of_hosts.get(&key).unwrap_or(&self.common)
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
