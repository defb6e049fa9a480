//! Which virtual disks share an array, and whether they fit.

use std::rc::Rc;

use stormeter_site::{Cache, DiskGroup, WriteCache};
use stormeter_units::format_bytes;

use super::{Builder, Load, MachineError};
use crate::machine::component::ComponentKind;
use crate::storage::{Geometry, Place, Store};

/// The virtual disks of each store.
#[derive(Debug)]
pub(super) struct Sharing {
    /// By virtual disk: its index among its store's disks.
    places: Rc<[u32]>,
    /// By store: its number of disks.
    counts: Vec<u32>,
}

impl Sharing {
    /// `stores`: the store of each virtual disk, counted from 0.
    pub(super) fn new(stores: impl Iterator<Item = u32>) -> Self {
        let mut counts = Vec::new();
        let places = stores.map(|store| {
            let store = store as usize;
            if counts.len() <= store {
                counts.resize(store + 1, 0);
            }
            counts[store] += 1;
            counts[store] - 1
        });
        Self { places: places.collect(), counts }
    }

    fn count(&self, store: u32) -> u32 {
        self.counts.get(store as usize).copied().unwrap_or(0)
    }

    /// Checks that each store's disks have enough space.
    pub(super) fn fits(&self, load: &Load, group: &DiskGroup) -> Result<(), MachineError> {
        let room = Geometry::new(group).capacity_bytes();
        let vms = self.counts.iter().copied().max().unwrap_or(0);
        if u128::from(vms) * u128::from(load.disk_bytes) > u128::from(room) {
            return Err(MachineError::NoRoom {
                vms,
                disk: format_bytes(load.disk_bytes),
                name: group.name.clone(),
                room: format_bytes(room),
            });
        }
        Ok(())
    }
}

impl Builder<'_> {
    /// The memory of controllers as a component, if it buffers writes; otherwise that of their
    /// disks.
    pub(super) fn memory(&mut self, controller: &str, cache: &Cache, disks: u32) -> u32 {
        match cache.write {
            WriteCache::Through => disks,
            WriteCache::Back { .. } => {
                self.component(format!("{controller} cache"), ComponentKind::Cache)
            }
        }
    }

    /// The array with this number among those that share the datastore's disks; returns its store.
    pub(super) fn array(
        &mut self,
        which: u32,
        sharing: &Sharing,
        group: &DiskGroup,
        cache: Option<&Cache>,
        (disks, memory): (u32, u32),
    ) -> u32 {
        let number = self.stores.len() as u32;
        let load = Load { vms: sharing.count(which), ..self.load };
        let place = Place { number, disks, memory, places: sharing.places.clone(), load };
        self.stores.push(Store::array(place, group, cache));
        number
    }
}
