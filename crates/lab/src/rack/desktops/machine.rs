//! The life of one desktop, on a thread of its own: copied, set, booted, configured, used, taken apart.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use stormeter_agent::{Errand, ErrandError};
use stormeter_datastore::RealClock;
use stormeter_disk::{Clock, DesktopChange, DesktopEvent, DesktopStep, DeviceError, Kind};
use stormeter_trial::{DesktopCopy, DesktopTrial};

use super::diagnosis::{TIMED_OUT, closest, why_not_copied};
use super::image::{Workshop, file_name, image, linked};
use super::place::Place;
use crate::desktop_guest::DesktopWork;
use crate::error::LabError;
use crate::image::Images;
use crate::qemu::{Accelerator, folder};
use crate::rack::clone::{Common, thawed};
use crate::rack::template::Template;

/// How often a desktop that has failed looks whether it is to be taken apart.
const LOOK: Duration = Duration::from_millis(10);
/// The device in a guest.
const DEVICE: &str = "/dev/lab/disk";

/// What all desktops of a trial share.
pub(super) struct Shared {
    pub(super) images: Images,
    pub(super) accelerator: Accelerator,
    pub(super) frozen: Option<Template>,
    pub(super) template: Place,
    pub(super) trial: DesktopTrial,
    /// Requests of a copy that are outstanding.
    pub(super) outstanding: u32,
    pub(super) version: String,
    pub(super) clock: RealClock,
    pub(super) events: Sender<DesktopEvent>,
    /// Why desktops failed, in words.
    pub(super) said: Sender<String>,
}

/// One desktop.
pub(super) struct Machine<'a> {
    pub(super) shared: &'a Shared,
    pub(super) number: u32,
    pub(super) place: Place,
    /// It is to be taken apart.
    pub(super) leaving: &'a AtomicBool,
    /// Its guest finishes the work of its user, and then it is to be taken apart.
    pub(super) logging_out: &'a AtomicBool,
}

/// Why a desktop is no more.
struct Failed {
    step: Option<DesktopStep>,
    kind: Kind,
    error: DeviceError,
    said: String,
}

impl Machine<'_> {
    /// Lives until it is to be taken apart, and takes it apart.
    /// `orders` are lines for the program in its guest.
    pub(super) fn live(self, orders: Receiver<String>) {
        if let Err(failed) = self.made_and_used(orders)
            && !self.is_unwanted()
        {
            let Failed { step, kind, error, said } = failed;
            let _ = self.shared.said.send(format!("{}: {said}", self.place.guest.name));
            self.tell(DesktopChange::Failed { step, kind, error });
        }
        while !self.is_unwanted() {
            std::thread::sleep(LOOK);
        }
        if let Err(error) = self.place.clear() {
            let _ = self.shared.said.send(format!("{}: {error}", self.place.guest.name));
        }
        self.tell(DesktopChange::TornDown);
    }

    fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }

    /// Whether its end is none that anyone waits for.
    fn is_unwanted(&self) -> bool {
        self.is_leaving() || self.logging_out.load(Ordering::Relaxed)
    }

    fn tell(&self, what: DesktopChange) {
        let _ = self.shared.events.send(DesktopEvent { desktop: self.number, what });
    }

    fn ended(&self, step: DesktopStep, since_ns: u64) -> u64 {
        let now_ns = self.shared.clock.clone().now_ns();
        self.tell(DesktopChange::StepEnded { step, took_ns: now_ns.saturating_sub(since_ns) });
        now_ns
    }

    fn made_and_used(&self, orders: Receiver<String>) -> Result<(), Failed> {
        let begun_ns = self.shared.clock.clone().now_ns();
        let place = self.copied().map_err(|error| {
            let (kind, why) = why_not_copied(&self.shared.template, &self.place, &error);
            Failed { step: Some(DesktopStep::Copy), kind, error: why, said: error.to_string() }
        })?;
        let copied_ns = self.ended(DesktopStep::Copy, begun_ns);
        let Shared { images, accelerator, frozen, .. } = self.shared;
        let common = Common { images, accelerator: *accelerator };
        let mut keep_going = || !self.is_leaving();
        thawed(common, &place.guest, &place.hardware, frozen.as_ref(), &mut keep_going).map_err(
            |error| Failed {
                step: Some(DesktopStep::Setting),
                kind: Kind::Read,
                error: closest(&error),
                said: error.to_string(),
            },
        )?;
        let set_ns = self.ended(DesktopStep::Setting, copied_ns);
        self.used(&place, set_ns, orders)
    }

    /// Makes the disk.
    fn copied(&self) -> Result<Place, LabError> {
        let Shared { template, trial, .. } = self.shared;
        folder::make(&self.place.guest.folder)?;
        let workshop = Workshop { folder: &self.place.guest.folder, leaving: self.leaving };
        match trial.load.deployment.copy {
            DesktopCopy::Full => {
                self.place.create()?;
                let (from, to) = (image(&template.disk), image(&self.place.disk));
                workshop.copy(&from, &to, self.shared.outstanding)?;
                let bytes = self.place.disk.size_bytes.saturating_mul(2);
                self.tell(DesktopChange::Moved { bytes });
                Ok(self.place.clone())
            }
            DesktopCopy::Linked => {
                let place = self.place.with(linked(&self.place.disk));
                let files = file_name(&place.disk.backend).zip(file_name(&template.disk.backend));
                let (file, below) = files.ok_or(LabError::NoLinks)?;
                workshop.link(&file, &below)?;
                Ok(place)
            }
            DesktopCopy::Clone => {
                self.place.clone_of(template)?;
                Ok(self.place.clone())
            }
        }
    }

    /// Boots, and does what is asked until its guest ends.
    fn used(&self, place: &Place, set_ns: u64, orders: Receiver<String>) -> Result<(), Failed> {
        let mut keep_going = || !self.is_leaving();
        let patience = Duration::from_nanos(self.shared.trial.load.broker.deploy_most_ns);
        let gone = |step: Option<DesktopStep>, error: DeviceError, said: String| Failed {
            step,
            kind: Kind::Read,
            error,
            said,
        };
        let booting = Some(DesktopStep::Deployment);
        place.guest.wait_for(place.hardware.kind, patience, &mut keep_going).map_err(|error| {
            let lives = place.guest.process().is_some();
            gone(booting, if lives { TIMED_OUT } else { DeviceError::IO }, error.to_string())
        })?;
        let mut trial = self.shared.trial.clone();
        trial.desktops = 1;
        trial.seed ^= u64::from(self.number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (trial.load.deployment.copy_bytes, trial.load.deployment.setting_ns) = (0, 0);
        let work =
            DesktopWork { content_seed: trial.seed, trial, disk_bytes: place.disk.size_bytes };
        let errand = Errand {
            arguments: vec!["desktop".into(), DEVICE.into()],
            input: serde_json::to_string(&work).unwrap_or_default() + "\n",
            is_answered: true,
        };
        let mut step = booting;
        let mut begun_ns = set_ns;
        let mut line = |printed: String| {
            let changes: Vec<DesktopChange> = serde_json::from_str(&printed).unwrap_or_default();
            for change in changes {
                match change {
                    // Its copy was made here, and its boot began here.
                    DesktopChange::StepEnded {
                        step: DesktopStep::Copy | DesktopStep::Setting,
                        ..
                    } => {}
                    DesktopChange::StepEnded { step: ended, .. } => {
                        begun_ns = self.ended(ended, begun_ns);
                        step = Some(DesktopStep::Configure);
                    }
                    // Its guest has logged out, and nothing is left of the machine only when it is gone, too.
                    DesktopChange::TornDown => {
                        self.leaving.store(true, Ordering::Relaxed);
                        let _ = place.end();
                    }
                    change => {
                        if change == DesktopChange::Deployed {
                            step = None;
                        }
                        self.tell(change);
                    }
                }
            }
        };
        let nonce = format!("desktop-{}-{}", std::process::id(), place.guest.name);
        let Shared { version, .. } = self.shared;
        let end = errand.converse(&place.guest.agent(), &nonce, version, &mut line, orders);
        let said = match end {
            Ok(end) => format!("its program ended: {}", end.said),
            Err(ErrandError::Gone(_)) => "its guest is gone".into(),
            Err(error) => error.to_string(),
        };
        Err(gone(step, DeviceError::IO, said))
    }
}
