//! Desktops of a lab as the runner's machines.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use stormeter_datastore::RealClock;
use stormeter_disk::{DesktopEvent, Desktops, DisksError, Wait};
use stormeter_lab::{RackDesktops, desktop_places, prepare_template};
use stormeter_results::DatastoreDescription;
use stormeter_runner::{ClosedMachines, MachineOrder, Machines, MachinesError, OpenMachines};
use stormeter_units::format_bytes;

/// The scheme of such datastores.
const SCHEME: &str = "lab:";

/// The desktops of the lab in a directory.
pub(crate) struct LabMachines {
    pub(crate) lab: PathBuf,
    pub(crate) clock: RealClock,
}

fn set_of(url: &str) -> &str {
    url.trim().strip_prefix(SCHEME).unwrap_or(url)
}

impl Machines for LabMachines {
    fn describe(
        &self,
        url: &str,
        places: u32,
        disk_bytes: u64,
    ) -> Result<DatastoreDescription, MachinesError> {
        let name = set_of(url);
        let sets = desktop_places(&self.lab)?;
        let Some(set) = sets.iter().find(|set| set.name == name) else {
            let known: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
            return Err(match known.as_slice() {
                [] => "the lab has no desktops; write them into its file and start it again".into(),
                known => {
                    format!("the lab has no desktops {name}; it has {}", known.join(", ")).into()
                }
            });
        };
        if set.places < places {
            return Err(format!(
                "the lab has {} places for desktops {name}, and the study wants {places}; raise count in the lab file, or \
                 lower load.vms",
                set.places
            )
            .into());
        }
        if set.disk_bytes != disk_bytes {
            return Err(format!(
                "the disks of desktops {name} have {}, and the study's {}; write the same size",
                format_bytes(set.disk_bytes),
                format_bytes(disk_bytes)
            )
            .into());
        }
        Ok(DatastoreDescription {
            url: url.into(),
            kind: "desktops".into(),
            file_system: None,
            source: Some(set.datastore.clone()),
            mount_options: None,
            logical_block_bytes: None,
            direct: true,
            engine: "virtual machines".into(),
            protocol: vec![
                ("places".into(), set.places.to_string()),
                ("memory".into(), format_bytes(set.memory_bytes)),
                ("virtual processors".into(), set.vcpus.to_string()),
            ],
            promise: None,
            memories: Vec::new(),
            notes: Vec::new(),
        })
    }

    fn prepare(&self, url: &str, seed: u64, cancel: &AtomicBool) -> Result<(), MachinesError> {
        Ok(prepare_template(&self.lab, set_of(url), seed, cancel)?)
    }

    fn open(
        &self,
        url: &str,
        order: &MachineOrder,
        cancel: &AtomicBool,
    ) -> Result<Box<dyn OpenMachines>, MachinesError> {
        let (trial, version) = (&order.trial, env!("CARGO_PKG_VERSION"));
        let clock = self.clock.clone();
        let open = RackDesktops::open(&self.lab, set_of(url), trial, version, clock, cancel)?;
        Ok(Box::new(LabDesktops(open)))
    }
}

struct LabDesktops(RackDesktops);

impl Desktops for LabDesktops {
    fn deploy(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.0.deploy(desktop)
    }

    fn log_on(&mut self, desktop: u32, user: u32) -> Result<(), DisksError> {
        self.0.log_on(desktop, user)
    }

    fn fall_idle(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.0.fall_idle(desktop)
    }

    fn tear_down(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.0.tear_down(desktop)
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<DesktopEvent>) -> Result<(), DisksError> {
        self.0.wait(wait, events)
    }
}

impl OpenMachines for LabDesktops {
    fn close(self: Box<Self>) -> ClosedMachines {
        let closed = self.0.close();
        ClosedMachines { remains: closed.remains, said: closed.said }
    }
}
