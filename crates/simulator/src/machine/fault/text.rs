//! Faults as people write them: `disk aggregate.3 lost at 10s`.

use stormeter_site::{Adapter, Site};
use stormeter_units::parse_duration_ns;

use super::plan::{Broken, SiteFault};

/// What is wrong with the text of a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultTextError {
    /// It has not the form of one.
    #[error(
        "{text:?} is no fault; write one such as `disk aggregate.3 lost at 10s`, `disk aggregate.3 \
         slow 10x at 5s for 5s`, `path esx.hba.0 down at 10s for 5s`, `network wan down at 10s for \
         200ms` or `node server.2 lost at 10s`"
    )]
    Form {
        /// As it was written.
        text: String,
    },
    /// A name that the site does not have.
    #[error("the site has no {what} {name:?}; it has {known}")]
    Unknown {
        /// What the name should be of.
        what: &'static str,
        /// As it was written.
        name: String,
        /// What there is.
        known: String,
    },
    /// Hosts that keep no data.
    #[error(
        "{name:?} are no nodes: only hosts that keep the data of a distributed datastore are; {known}"
    )]
    NoNodes {
        /// As it was written.
        name: String,
        /// What to write instead.
        known: String,
    },
    /// A time without number or unit.
    #[error("{text:?} is no time; write a number and a unit: 10s, 200ms, 50us")]
    Time {
        /// As it was written.
        text: String,
    },
    /// Where a number should be.
    #[error(
        "{text:?} is no number of a {what}; write {what} numbers from 0 behind a dot: {example}"
    )]
    Number {
        /// Disk, port or node.
        what: &'static str,
        /// As it was written.
        text: String,
        /// How it looks.
        example: &'static str,
    },
}

impl SiteFault {
    /// Reads a fault: `disk GROUP.N lost at TIME`, `disk GROUP.N slow TIMESx at TIME [for TIME]`,
    /// `path OWNER.ADAPTER.N down at TIME [for TIME]`, `network NAME down at TIME [for TIME]`,
    /// `node HOSTS.N lost at TIME [for TIME]`. `GROUP` may be a distributed datastore; numbers count
    /// from 0.
    ///
    /// # Errors
    /// What is wrong and what to write.
    pub fn parse(text: &str, site: &Site) -> Result<SiteFault, FaultTextError> {
        let form = || FaultTextError::Form { text: text.to_owned() };
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let mut for_ns = None;
        if let [.., "for", time] = words[..] {
            for_ns = Some(time_ns(time)?);
            words.truncate(words.len() - 2);
        }
        let [ref what @ .., "at", time] = words[..] else { return Err(form()) };
        let at_ns = time_ns(time)?;
        let broken = match *what {
            ["disk", place, "lost"] => disk(place, None, site)?,
            ["disk", place, "slow", times] => {
                let number = times.strip_suffix('x').and_then(|times| times.parse().ok());
                disk(place, Some(number.ok_or_else(form)?), site)?
            }
            ["path", place, "down"] => path(place, site)?,
            ["network", name, "down"] => {
                let networks = site.networks.iter().map(|network| network.name.as_str());
                Broken::LinkDown { network: named("network", name, networks)? }
            }
            ["node", place, "lost"] => {
                let (name, node) = numbered("node", place, "server.2")?;
                Broken::NodeLost { hosts: nodes(name, site)?, node }
            }
            _ => return Err(form()),
        };
        Ok(SiteFault { at_ns, for_ns, broken })
    }
}

fn disk(place: &str, times: Option<f64>, site: &Site) -> Result<Broken, FaultTextError> {
    let (name, disk) = numbered("disk", place, "aggregate.3")?;
    let groups = site.groups.iter().map(|group| group.name.as_str());
    let clusters = site.clusters.iter().map(|cluster| cluster.name.as_str());
    let place = named("disk group", name, groups.chain(clusters))?;
    Ok(match (place.checked_sub(site.groups.len()), times) {
        (None, None) => Broken::DiskLost { group: place, disk },
        (None, Some(times)) => Broken::DiskSlow { group: place, disk, times },
        (Some(cluster), None) => Broken::CapacityLost { cluster, disk },
        (Some(cluster), Some(times)) => Broken::CapacitySlow { cluster, disk, times },
    })
}

/// A group of hosts that are nodes.
fn nodes(name: &str, site: &Site) -> Result<usize, FaultTextError> {
    let names = site.hosts.iter().map(|group| group.name.as_str());
    let hosts = named("group of hosts", name, names)?;
    if site.clusters.iter().any(|cluster| cluster.nodes == hosts) {
        return Ok(hosts);
    }
    let mut known: Vec<&str> =
        site.clusters.iter().map(|cluster| site.hosts[cluster.nodes].name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    let known = match known.as_slice() {
        [] => {
            "the site has none, so leave the fault out; what hosts that run VMs can lose are paths: \
             path HOSTS.ADAPTER.0 down at 10s"
                .into()
        }
        known => format!("name one of {}", known.join(", ")),
    };
    Err(FaultTextError::NoNodes { name: name.to_owned(), known })
}

fn path(place: &str, site: &Site) -> Result<Broken, FaultTextError> {
    let (rest, port) = numbered("port", place, "esx.hba.0")?;
    let Some((owner, name)) = rest.split_once('.') else {
        let (what, example, text) = ("port", "esx.hba.0", place.to_owned());
        return Err(FaultTextError::Number { what, text, example });
    };
    let hosts = site.hosts.iter().map(|group| group.name.as_str());
    let controllers = site.controllers.iter().map(|controller| controller.name.as_str());
    let place = named("hosts or controller", owner, hosts.chain(controllers))?;
    let adapter = |adapters: &[Adapter]| {
        named("adapter", name, adapters.iter().map(|adapter| adapter.name.as_str()))
    };
    Ok(match place.checked_sub(site.hosts.len()) {
        None => {
            let adapter = adapter(&site.hosts[place].adapters)?;
            Broken::HostPathDown { hosts: place, adapter, port }
        }
        Some(controller) => {
            let adapter = adapter(&site.controllers[controller].ports)?;
            Broken::ControllerPathDown { controller, adapter, port }
        }
    })
}

/// A name and the number behind its last dot.
fn numbered<'a>(
    what: &'static str,
    text: &'a str,
    example: &'static str,
) -> Result<(&'a str, u32), FaultTextError> {
    let parts = text.rsplit_once('.');
    let found = parts.and_then(|(name, number)| Some((name, number.parse().ok()?)));
    found.ok_or_else(|| FaultTextError::Number { what, text: text.to_owned(), example })
}

/// The place of a name among those that there are.
fn named<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, FaultTextError> {
    let mut all = known.clone();
    all.position(|other| other == name).ok_or_else(|| {
        let known: Vec<&str> = known.collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        FaultTextError::Unknown { what, name: name.to_owned(), known }
    })
}

fn time_ns(text: &str) -> Result<u64, FaultTextError> {
    parse_duration_ns(text).map_err(|_| FaultTextError::Time { text: text.to_owned() })
}
