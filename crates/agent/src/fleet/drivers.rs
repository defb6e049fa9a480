//! Which hosts drive which datastore.
//!
//! A host opens only the datastores that it drives, so its numbers of them and of their stores are its own. A store of
//! the fleet is the same store on each of the hosts that have it.

use stormeter_runner::OpenedStores;
use stormeter_study::vms_of_host;

/// The drivers of a run's datastores.
#[derive(Debug, Default)]
pub(super) struct Drivers {
    /// The hosts of each datastore, in order.
    of_datastore: Vec<Vec<usize>>,
    /// The hosts of each store, in order, with its number there.
    of_store: Vec<Vec<(usize, usize)>>,
    /// The store of each datastore.
    pub(super) store_of: Vec<usize>,
}

impl Drivers {
    /// For a number of datastores and of hosts; `given` are the hosts of each datastore, none: all.
    pub(super) fn new(datastores: usize, hosts: usize, given: &[Vec<u32>]) -> Self {
        let of = |datastore: usize| match given.get(datastore).map(Vec::as_slice) {
            None | Some([]) => (0..hosts).collect(),
            Some(some) => some.iter().map(|&host| host as usize).collect(),
        };
        Self { of_datastore: (0..datastores).map(of).collect(), ..Self::default() }
    }

    /// The datastores that a host drives, in order.
    pub(super) fn of_host(&self, host: usize) -> impl Iterator<Item = usize> {
        let all = self.of_datastore.iter().enumerate();
        all.filter(move |(_, hosts)| hosts.contains(&host)).map(|(datastore, _)| datastore)
    }

    /// The most of `vms` VMs that a host drives on one of its datastores.
    pub(super) fn most_vms(&self, vms: u32, host: usize) -> u32 {
        let of = |datastore: usize| vms_on(vms, host, self.of_datastore[datastore].iter().copied());
        self.of_host(host).map(of).max().unwrap_or(0)
    }

    /// Finds the stores of the fleet in what each host has opened.
    pub(super) fn find_stores(&mut self, opened: &[OpenedStores]) {
        (self.of_store, self.store_of) = (Vec::new(), Vec::new());
        for (datastore, hosts) in self.of_datastore.iter().enumerate() {
            let on = |&host: &usize| {
                let place = self.of_host(host).position(|of| of == datastore)?;
                Some((host, *opened.get(host)?.store_of.get(place)?))
            };
            let there: Vec<(usize, usize)> = hosts.iter().filter_map(on).collect();
            let known = self.of_store.iter().position(|store| *store == there);
            self.store_of.push(known.unwrap_or(self.of_store.len()));
            if known.is_none() {
                self.of_store.push(there);
            }
        }
    }

    /// The parts of a store's hosts, in order, if it has `vms` VMs.
    pub(super) fn parts(&self, store: usize, vms: u32) -> impl Iterator<Item = Part> {
        let hosts = self.of_store.get(store).map_or(&[][..], Vec::as_slice);
        let count = hosts.len() as u32;
        hosts.iter().enumerate().map(move |(place, &(host, store))| Part {
            host,
            place,
            store,
            vms: vms_of_host(vms, place as u32, count),
        })
    }
}

/// What one host has to do with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The host.
    pub(super) host: usize,
    /// Its place among the hosts of the store.
    pub(super) place: usize,
    /// The store's number on the host.
    pub(super) store: usize,
    /// The VMs that it drives.
    pub(super) vms: u32,
}

/// How many of `vms` VMs a host drives, if these hosts share them.
fn vms_on(vms: u32, host: usize, hosts: impl Iterator<Item = usize> + Clone) -> u32 {
    let count = hosts.clone().count() as u32;
    let place = hosts.into_iter().position(|of| of == host);
    place.map_or(0, |place| vms_of_host(vms, place as u32, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(store_of: &[usize]) -> OpenedStores {
        OpenedStores { store_of: store_of.to_vec(), ..OpenedStores::default() }
    }

    #[test]
    fn hosts_share_the_vms_of_what_they_drive() {
        let drivers = Drivers::new(3, 3, &[vec![], vec![2], vec![0, 2]]);
        assert_eq!(drivers.of_host(0).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(drivers.of_host(1).collect::<Vec<_>>(), [0]);
        assert_eq!(drivers.of_host(2).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!([0, 1, 2].map(|host| drivers.most_vms(5, host)), [3, 2, 5]);
    }

    #[test]
    fn a_store_is_the_same_on_all_its_hosts() {
        // Datastores 0 and 1 are one device on all hosts; 2 and 3 have one URL, each on a host of its own.
        let mut drivers = Drivers::new(4, 2, &[vec![], vec![], vec![0], vec![1]]);
        drivers.find_stores(&[opened(&[0, 0, 1]), opened(&[0, 0, 1])]);
        assert_eq!(drivers.store_of, [0, 0, 1, 2]);
        let parts = |store| drivers.parts(store, 3).collect::<Vec<_>>();
        let part = |host, place, store, vms| Part { host, place, store, vms };
        assert_eq!(parts(0), [part(0, 0, 0, 2), part(1, 1, 0, 1)]);
        assert_eq!((parts(1), parts(2)), (vec![part(0, 0, 1, 3)], vec![part(1, 0, 1, 3)]));
        assert_eq!(parts(9), []);
    }
}
