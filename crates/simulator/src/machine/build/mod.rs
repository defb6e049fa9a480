//! From the description of a site to a machine: what is shared, and the paths in between.

mod batch;
mod builder;
mod client;
mod cluster;
mod error;
mod network;
mod path;
mod placement;
mod ports;
mod program;
mod protocol;
mod route;
mod storage;
mod target;
mod wire;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use stormeter_site::{Placement, Site, Target};

use super::component::{ComponentKind, SitePart};
use super::fault::Map;
use super::interrupts::Interrupts;
use super::load::{Load, Window};
use super::meter::Meter;
use super::settling::Settling;
use super::vm_path::VmPath;
use super::{EventQueue, Machine};
use crate::slab::Slab;
use crate::time::VirtualTime;

pub(crate) use client::{ClientWay, Lane};
pub(super) use placement::Place;
pub(super) use ports::{Line, Ports};
use target::{port_of, unit_of};

pub(super) use builder::Builder;
pub use error::MachineError;

impl Machine {
    /// The machine of a site's datastore (an index into [`Site::datastores`]), for a load.
    ///
    /// # Errors
    /// The site does not have enough space for it.
    pub fn new(
        site: &Site,
        datastore: usize,
        load: Load,
        window: Window,
        seed: u64,
    ) -> Result<Machine, MachineError> {
        Self::built(site, datastore, (load, false), window, seed)
    }

    /// Like [`Machine::new`], with the site's client, its CPU, its ports and the networks between it
    /// and the VMs, which [`crate::drive_transfer`] needs.
    ///
    /// # Errors
    /// The site does not have enough space for the load, or has no client.
    pub fn with_client(
        site: &Site,
        datastore: usize,
        load: Load,
        window: Window,
        seed: u64,
    ) -> Result<Machine, MachineError> {
        Self::built(site, datastore, (load, true), window, seed)
    }

    fn built(
        site: &Site,
        datastore: usize,
        (load, with_client): (Load, bool),
        window: Window,
        seed: u64,
    ) -> Result<Machine, MachineError> {
        let datastore = &site.datastores[datastore];
        let mut builder = Builder {
            site,
            datastore,
            load,
            seed,
            layout_seed: site.as_built.map_or(seed, u64::from),
            stations: Vec::new(),
            interrupts: Vec::new(),
            components: Vec::new(),
            steps: Vec::new(),
            stores: Vec::new(),
            programs: Vec::new(),
            forks: Vec::new(),
            nodes: None,
            map: Map::default(),
        };
        let failover = |&number: &usize| site.networks[number].failover_ns;
        builder.map.failover_ns = datastore.networks.iter().map(failover).max().unwrap_or(0);
        let hosts = builder.hosts_of_vms()?;
        let vm_path = builder.vm_path();
        let mut routes = builder.routes(&hosts)?;
        let client = match with_client {
            true => {
                let (lanes, way) = builder.client_routes(&hosts)?;
                routes.extend(lanes);
                Some(way)
            }
            false => None,
        };
        let turns = vec![0; builder.stations.len()];
        let mut interrupts = match builder.interrupts.is_empty() {
            true => Vec::new(),
            false => vec![Interrupts::default(); turns.len()],
        };
        for (station, of_port) in builder.interrupts {
            interrupts[station as usize] = of_port;
        }
        Ok(Machine {
            time: VirtualTime::new(),
            now_ns: 0,
            events: EventQueue::default(),
            jobs: Slab::default(),
            steps: builder.steps,
            routes,
            vm_path,
            client,
            stations: builder.stations,
            interrupts,
            down: vec![false; turns.len()],
            any_down: false,
            noticed: vec![false; turns.len()],
            turns,
            standing: Vec::new(),
            components: builder.components,
            stores: builder.stores,
            programs: builder.programs,
            forks: builder.forks,
            nodes: builder.nodes,
            map: builder.map,
            actions: Vec::new(),
            lost_nodes: Vec::new(),
            as_built: Vec::new(),
            again_ns: 0,
            accesses: Slab::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            meter: Meter::new(window.from_ns, window.interval_ns, u64::MAX),
            steady: !site.fresh,
            settling: Settling::default(),
            completions: Vec::new(),
            done: Vec::new(),
            ready: Vec::new(),
            steps_done: 0,
        })
    }
}

impl Builder<'_> {
    /// By VM: the host of the group on which it runs.
    fn hosts_of_vms(&self) -> Result<Vec<u32>, MachineError> {
        let group = &self.site.hosts[self.datastore.hosts];
        let vms = self.load.vms;
        if let Some(each) = group.vms_per_host
            && u64::from(vms) > u64::from(each) * u64::from(group.count)
        {
            return Err(MachineError::TooManyVms {
                vms,
                hosts: group.count,
                each,
                name: group.name.clone(),
            });
        }
        let each = group.vms_per_host.unwrap_or_else(|| vms.div_ceil(group.count)).max(1);
        let spread = self.spread();
        let host = |vm| match self.datastore.placement {
            Placement::Spread => spread[(vm % group.count) as usize],
            Placement::Fill => vm / each,
        };
        Ok((0..vms).map(host).collect())
    }

    /// The hosts in the order in which VMs are spread over them: consecutive ones have different
    /// controllers, and different ports of these, so that even a few VMs use all of them.
    fn spread(&self) -> Vec<u32> {
        let hosts = self.site.hosts[self.datastore.hosts].count;
        let mut order: Vec<u32> = (0..hosts).collect();
        if let Target::Controller { controller, port } = self.datastore.target {
            let controller = &self.site.controllers[controller];
            let (units, ports) = (controller.count, &controller.ports[port]);
            // Each port's first host, then the second ones.
            let place = |host| (port_of(host, units, ports, hosts), unit_of(host, units, hosts));
            let mut turns = vec![0u32; hosts as usize];
            let mut before = vec![0u32; units as usize * ports.count.max(1) as usize];
            for host in 0..hosts {
                let (port, unit) = place(host);
                let before = &mut before[(port * units + unit) as usize];
                turns[host as usize] = *before;
                *before += 1;
            }
            order.sort_by_key(|&host| (turns[host as usize], place(host)));
        }
        order
    }

    /// The serial path of each VM's requests, if it takes any time.
    fn vm_path(&mut self) -> Option<VmPath> {
        let number = self.datastore.hosts;
        let group = &self.site.hosts[number];
        let takes_ns = (group.vm_path_cycles / group.clock_hz * 1e9) as u64;
        (takes_ns > 0).then(|| {
            let name = format!("{} vm path", group.name);
            let component = self.component(name, ComponentKind::VmPath);
            self.stands_for(component, SitePart::VmPath(number));
            let vms = self.load.vms;
            let first = self.stations.len() as u32;
            for _ in 0..vms {
                self.station(component, 1);
            }
            VmPath { component, first, vms, takes_ns }
        })
    }
}
