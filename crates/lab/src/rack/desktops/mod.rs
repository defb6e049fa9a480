//! Desktops as machines of a lab: made from a template, used, and taken apart, while the lab runs.
//!
//! Each desktop that is being made or used has a thread, which waits for QEMU's tool, for QEMU and for the program in the
//! guest. What they report goes through one channel, in the order in which it happened.

mod diagnosis;
mod image;
mod machine;
mod place;
mod pool;
mod template;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use stormeter_datastore::RealClock;
use stormeter_disk::{DesktopChange, DesktopEvent, Desktops, DisksError, Wait};
use stormeter_trial::{DesktopCopy, DesktopTrial};

use self::image::outstanding_of;
use self::machine::{Machine, Shared};
use self::place::Place;
use self::pool::Pool;
use self::template::TemplateDisk;
use super::directory::{FREEZING, started};
use super::plan::pool_url;
use super::state::State;
use super::template::{find, make};
use crate::desktop_guest::DesktopOrder;
use crate::error::{LabError, at};
use crate::model::{Datastore, DesktopSet, Lab};
use crate::qemu::{Accelerator, version};

/// A set of desktops of a running lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopPlaces {
    /// Its name in the lab file.
    pub name: String,
    /// Where their disks lie, in a few words.
    pub datastore: String,
    /// How many there can be.
    pub places: u32,
    /// Size of each disk.
    pub disk_bytes: u64,
    /// Memory of each machine.
    pub memory_bytes: u64,
    /// Its virtual processors.
    pub vcpus: u32,
}

/// The sets of desktops of the lab in `directory`.
///
/// # Errors
/// There is no lab, or it belongs to another user.
pub fn desktop_places(directory: &Path) -> Result<Vec<DesktopPlaces>, LabError> {
    let (_, state) = started(directory)?;
    Ok(state.lab.desktops.iter().map(|set| described(&state.lab, set)).collect())
}

/// A set of a lab.
pub(super) fn described(lab: &Lab, set: &DesktopSet) -> DesktopPlaces {
    let on = set.datastore();
    let protocol = match on {
        Datastore::Export { .. } => "NFS, ",
        Datastore::Lun { .. } => "iSCSI, ",
        Datastore::Pool { .. } => "Ceph, ",
        Datastore::Local => "",
    };
    let name = on.name(lab).unwrap_or_else(|| "a file of this machine".into());
    let datastore = format!("{protocol}{name}");
    DesktopPlaces {
        name: set.name.clone(),
        datastore,
        places: set.places.len() as u32,
        disk_bytes: set.disk_bytes(),
        memory_bytes: set.template.memory_bytes,
        vcpus: set.template.vcpus,
    }
}

/// Desktops of one set.
pub struct RackDesktops {
    shared: Arc<Shared>,
    places: Vec<Place>,
    lives: Vec<Option<Life>>,
    events: Receiver<DesktopEvent>,
    said: Receiver<String>,
    _template: TemplateDisk,
}

/// A desktop that is not yet taken apart.
struct Life {
    leaving: Arc<AtomicBool>,
    logging_out: Arc<AtomicBool>,
    /// Its user is at work, as far as is known here.
    is_at_work: bool,
    orders: Sender<String>,
    thread: JoinHandle<()>,
}

/// What is left when desktops are closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosedDesktops {
    /// What could not be taken apart, and why.
    pub remains: Vec<String>,
    /// Why desktops failed.
    pub said: Vec<String>,
}

/// Writes the template of a set, unless it holds what follows from the seed.
///
/// # Errors
/// There is no such set, another process uses it, or the template cannot be written.
pub fn prepare_template(
    directory: &Path,
    set: &str,
    seed: u64,
    cancel: &AtomicBool,
) -> Result<(), LabError> {
    let (path, state) = started(directory)?;
    let set = find_set(&state.lab, set)?;
    let (template, places) = opened(&path, &state, set)?;
    // Desktops that a killed run has left may use it.
    for place in places {
        place.clear()?;
    }
    template.prepare(seed, cancel)
}

impl RackDesktops {
    /// Opens a set for a trial of at most as many desktops as it has places. Takes apart what a killed run has left.
    ///
    /// # Errors
    /// There is no such set, another process uses it, its template is not as it was written, or desktops cannot be made in
    /// this way there.
    pub fn open(
        directory: &Path,
        set: &str,
        trial: &DesktopTrial,
        program: &str,
        clock: RealClock,
        cancel: &AtomicBool,
    ) -> Result<Self, LabError> {
        let (path, state) = started(directory)?;
        let set = find_set(&state.lab, set)?;
        match (trial.load.deployment.copy, set.datastore()) {
            (DesktopCopy::Linked, Datastore::Lun { .. } | Datastore::Pool { .. }) => {
                return Err(LabError::NoLinks);
            }
            (DesktopCopy::Clone, Datastore::Pool { .. }) => {}
            (DesktopCopy::Clone, _) => return Err(LabError::NoClones),
            (DesktopCopy::Full | DesktopCopy::Linked, _) => {}
        }
        let (template, mut places) = opened(&path, &state, set)?;
        if places.len() < trial.desktops as usize {
            return Err(LabError::FewPlaces {
                set: set.name.clone(),
                places: places.len(),
                wanted: trial.desktops,
            });
        }
        for place in &places {
            place.clear()?;
        }
        places.truncate(trial.desktops as usize);
        template.check(cancel)?;
        let accelerator = Accelerator::from_name(&state.accelerator);
        let frozen = frozen(&path, &state, &places, accelerator, cancel)?;
        let ((events_in, events), (said_in, said)) = (mpsc::channel(), mpsc::channel());
        let asked = trial.load.deployment.outstanding;
        let outstanding = outstanding_of(asked, copies(trial), storage_memory(&state.lab, set));
        let shared = Shared {
            images: state.images.clone(),
            accelerator,
            frozen,
            template: template.place().clone(),
            trial: trial.clone(),
            outstanding,
            version: program.into(),
            clock,
            events: events_in,
            said: said_in,
        };
        Ok(Self {
            shared: Arc::new(shared),
            lives: places.iter().map(|_| None).collect(),
            places,
            events,
            said,
            _template: template,
        })
    }

    /// Takes everything apart.
    pub fn close(mut self) -> ClosedDesktops {
        self.end();
        ClosedDesktops { remains: self.remains(), said: self.said.try_iter().collect() }
    }

    fn end(&mut self) {
        for number in 0..self.lives.len() {
            self.leave(number);
        }
        for life in self.lives.iter_mut().filter_map(Option::take) {
            let _ = life.thread.join();
        }
    }

    fn remains(&self) -> Vec<String> {
        let left = self.places.iter().filter(|place| place.guest.process().is_some());
        left.map(|place| format!("the desktop {} still runs", place.guest.name)).collect()
    }

    /// Makes a desktop leave, whatever it is waiting for.
    fn leave(&self, number: usize) {
        let Some(Some(life)) = self.lives.get(number) else { return };
        if life.leaving.swap(true, Ordering::Relaxed) {
            return;
        }
        let place = self.places[number].clone();
        // Its thread may be waiting for its guest. Looking for the process takes a moment.
        thread::spawn(move || place.end());
    }

    fn set_at_work(&mut self, desktop: u32, is_at_work: bool) {
        if let Some(Some(life)) = self.lives.get_mut(desktop as usize) {
            life.is_at_work = is_at_work;
        }
    }

    fn order(&self, desktop: u32, order: DesktopOrder) {
        let Some(Some(life)) = self.lives.get(desktop as usize) else { return };
        if let Ok(line) = serde_json::to_string(&order) {
            // A desktop that is gone reports it.
            let _ = life.orders.send(line + "\n");
        }
    }
}

impl Drop for RackDesktops {
    fn drop(&mut self) {
        self.end();
    }
}

impl Desktops for RackDesktops {
    fn deploy(&mut self, desktop: u32) -> Result<(), DisksError> {
        let number = desktop as usize;
        let Some(place) = self.places.get(number).cloned() else {
            return Err(DisksError {
                action: "making a desktop",
                reason: format!("there is no place number {desktop}"),
            });
        };
        if let Some(before) = self.lives[number].take() {
            // It has said that nothing is left of it.
            let _ = before.thread.join();
        }
        let [leaving, logging_out] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (orders_in, orders) = mpsc::channel();
        let shared = Arc::clone(&self.shared);
        let flags = (Arc::clone(&leaving), Arc::clone(&logging_out));
        let thread = thread::Builder::new().name(place.guest.name.clone()).spawn(move || {
            let (leaving, logging_out) = (&*flags.0, &*flags.1);
            Machine { shared: &shared, number: desktop, place, leaving, logging_out }.live(orders);
        });
        let thread = thread.map_err(|error| DisksError {
            action: "making a desktop",
            reason: error.to_string(),
        })?;
        let is_at_work = false;
        self.lives[number] =
            Some(Life { leaving, logging_out, is_at_work, orders: orders_in, thread });
        Ok(())
    }

    fn log_on(&mut self, desktop: u32, user: u32) -> Result<(), DisksError> {
        self.order(desktop, DesktopOrder::LogOn { user });
        self.set_at_work(desktop, true);
        Ok(())
    }

    fn fall_idle(&mut self, desktop: u32) -> Result<(), DisksError> {
        self.order(desktop, DesktopOrder::FallIdle);
        self.set_at_work(desktop, false);
        Ok(())
    }

    fn tear_down(&mut self, desktop: u32) -> Result<(), DisksError> {
        match self.lives.get_mut(desktop as usize) {
            Some(Some(life)) if life.is_at_work => {
                life.is_at_work = false;
                life.logging_out.store(true, Ordering::Relaxed);
                self.order(desktop, DesktopOrder::LogOut);
            }
            _ => self.leave(desktop as usize),
        }
        Ok(())
    }

    fn wait(&mut self, wait: Wait, events: &mut Vec<DesktopEvent>) -> Result<(), DisksError> {
        let first = match wait {
            Wait::No => self.events.try_recv().ok(),
            // The channel stays open: this value has a sender, too.
            Wait::AtMost(ns) => self.events.recv_timeout(Duration::from_nanos(ns)).ok(),
        };
        let happened: Vec<DesktopEvent> = first.into_iter().chain(self.events.try_iter()).collect();
        for event in &happened {
            if let DesktopChange::Failed { .. } = event.what {
                self.set_at_work(event.desktop, false);
            }
        }
        events.extend(happened);
        Ok(())
    }
}

fn find_set<'l>(lab: &'l Lab, name: &str) -> Result<&'l DesktopSet, LabError> {
    lab.desktops.iter().find(|set| set.name == name).ok_or_else(|| LabError::NoDesktops {
        set: name.into(),
        known: lab.desktops.iter().map(|set| set.name.clone()).collect(),
    })
}

/// The template of a set, and its places.
fn opened(
    path: &Path,
    state: &State,
    set: &DesktopSet,
) -> Result<(TemplateDisk, Vec<Place>), LabError> {
    let pool = match set.datastore() {
        Datastore::Pool { pool } => pool_url(&state.lab, pool).map(Pool::open).transpose()?,
        _ => None,
    };
    let place = |vm| Place::of(path, &state.lab, vm, &state.addresses, pool.clone());
    let template = place(&set.template);
    let template = template.ok_or_else(|| LabError::NoTemplate { set: set.name.clone() })?;
    let template = TemplateDisk::open(template, &set.name)?;
    Ok((template, set.places.iter().filter_map(place).collect()))
}

/// The frozen guest that desktops are clones of; `None` if QEMU cannot freeze them: they are booted.
fn frozen(
    path: &Path,
    state: &State,
    places: &[Place],
    accelerator: Accelerator,
    cancel: &AtomicBool,
) -> Result<Option<super::template::Template>, LabError> {
    let Some(hardware) = places.first().map(|place| &place.hardware) else { return Ok(None) };
    if !hardware.can_freeze() {
        return Ok(None);
    }
    let qemu = version()?;
    let (images, blank) = (&state.images, hardware.blank());
    // Two sets of a lab may be opened at once, and there is one place where guests are frozen.
    let lock = path.join(FREEZING);
    let lock =
        File::create(&lock).and_then(|file| file.lock().map(|()| file)).map_err(at(&lock))?;
    if let Some(found) = find(images, &blank, accelerator, &qemu) {
        return Ok(Some(found));
    }
    let mut keep_going = || !cancel.load(Ordering::Relaxed);
    let made = make(images, &blank, accelerator, &qemu, path, &mut keep_going).map(Some);
    drop(lock);
    made
}

/// How many copies may be made at once.
fn copies(trial: &DesktopTrial) -> u32 {
    trial.load.broker.deploying_most.min(trial.desktops)
}

/// Memory of the storage guest that has the disks of a set; `None` if they are this machine's.
fn storage_memory(lab: &Lab, set: &DesktopSet) -> Option<u64> {
    match set.datastore() {
        Datastore::Export { storage, .. } | Datastore::Lun { storage, .. } => {
            lab.storage.get(storage).map(|storage| storage.memory_bytes)
        }
        Datastore::Local | Datastore::Pool { .. } => None,
    }
}
