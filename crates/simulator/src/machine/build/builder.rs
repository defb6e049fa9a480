//! A machine being built: its parts so far.

use stormeter_site::{Site, SiteDatastore};

use crate::machine::component::{Component, ComponentKind, SitePart};
use crate::machine::fault::Map;
use crate::machine::interrupts::Interrupts;
use crate::machine::load::Load;
use crate::machine::nodes::Nodes;
use crate::machine::parts::Fork;
use crate::machine::station::Station;
use crate::machine::step::Step;
use crate::storage::Store;

/// A machine being built.
pub(in crate::machine) struct Builder<'a> {
    pub(super) site: &'a Site,
    pub(super) datastore: &'a SiteDatastore,
    pub(super) load: Load,
    pub(super) seed: u64,
    /// The seed of hashes and of the placement of pieces.
    pub(super) layout_seed: u64,
    pub(super) stations: Vec<Station>,
    /// Of stations that have them, in order.
    pub(super) interrupts: Vec<(u32, Interrupts)>,
    pub(super) components: Vec<Component>,
    pub(super) steps: Vec<Step>,
    pub(super) stores: Vec<Store>,
    /// First steps of all programs, in order.
    pub(super) programs: Vec<u32>,
    pub(super) forks: Vec<Fork>,
    pub(super) nodes: Option<Nodes>,
    pub(super) map: Map,
}

impl Builder<'_> {
    /// Adds a component without stations; returns its index.
    pub(super) fn component(&mut self, name: String, kind: ComponentKind) -> u32 {
        self.components.push(Component {
            name,
            kind,
            part: None,
            stations: Vec::new(),
            residence_ns: 0,
            lost: 0,
        });
        self.components.len() as u32 - 1
    }

    /// Sets what a component stands for, unless it is set.
    pub(super) fn stands_for(&mut self, component: u32, part: SitePart) {
        self.components[component as usize].part.get_or_insert(part);
    }

    /// Adds a station of a component; returns its index.
    pub(super) fn station(&mut self, component: u32, servers: u32) -> u32 {
        let number = self.stations.len() as u32;
        self.stations.push(Station::new(servers));
        self.components[component as usize].stations.push(number);
        number
    }
}
