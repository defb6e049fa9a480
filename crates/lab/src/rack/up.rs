//! `lab up`: checks first, then the storage guests, then the VMs. An error, or a signal, ends
//! everything that was started.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use stormeter_agent::GUEST_PORT;

use super::address::{forwards, free_address, may_have_portmapper, storage_ports};
use super::clone::{Common, bring_up};
use super::directory::{Directory, guest};
use super::mounts;
use super::on_disks::{Disks, export_path};
use super::plan::{
    AcceleratorChoice, export_in_use, file_bytes, host_hardware, local_file, need_memory,
    router_hardware, storage_file, storage_hardware, vm_hardware,
};
use super::reach;
use super::routed;
use super::router;
use super::secrets::{Secrets, anchored};
use super::setup::{file_name, script};
use super::state::{self, State, VERSION};
use super::template::{self, Template};
use super::write_logs::prepare_logs;
use crate::error::{LabDirectory, LabError, at, tool};
use crate::image::{Held, Images, last_words, need_room};
use crate::links::Node;
use crate::model::{Datastore, DiskFormat, Lab, Storage, Vm};
use crate::qemu::folder::make;
use crate::qemu::{Accelerator, Guest, Hardware, Probed, probe, throttle, version};
use crate::wiring::channels;

/// How a lab is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct UpOptions {
    /// The accelerator for the guests.
    pub accelerator: AcceleratorChoice,
    /// Boot every guest instead of cloning frozen ones.
    pub cold: bool,
    /// Log the writes to VMs' own disks, so that a loss of power can be modelled ([`super::power::Power`]).
    pub logs_writes: bool,
}

/// A lab that is up.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// Number of guests.
    pub guests: usize,
    /// Time from the first process to the last answer.
    pub took: Duration,
    /// Time for booting guests to be frozen, before that.
    pub froze: Duration,
    /// `kvm` or `tcg`, and the reason.
    pub accelerator: String,
}

/// How long a storage guest may take to create its file systems and LUNs.
const SET_UP: Duration = Duration::from_secs(120);

/// Starts a lab in `directory`. `say` receives progress messages; `cancel` ends it.
///
/// # Errors
/// What is missing, in use or too small, before anything is started; or what went wrong with a
/// guest, after everything that was started has been ended.
pub fn up(
    lab: &Lab,
    directory: &Path,
    images: &Images,
    options: UpOptions,
    say: &mut dyn FnMut(&str),
    cancel: &AtomicBool,
) -> Result<Started, LabError> {
    let lab = &anchored(lab);
    let qemu = version()?;
    let directory = Directory::claim(directory)?;
    directory.check_idle()?;
    need_memory(template::memory_bytes(lab))?;
    need_room("the lab", &directory.path, file_bytes(lab), LabDirectory::Lab)?;
    let lab_file = directory.path.join(state::FILE);
    let held = images.systems().map(|system| Held::new(system, &lab_file));
    let _held = held.collect::<Result<Vec<Held>, LabError>>()?;
    let secrets = Secrets::read(lab)?;
    let portmapper: Vec<bool> =
        (0..lab.storage.len()).map(|index| export_in_use(lab, index).is_some()).collect();
    if let Some(export) = (0..lab.storage.len()).find_map(|index| export_in_use(lab, index))
        && !may_have_portmapper()
    {
        return Err(LabError::Portmapper { export });
    }
    let started =
        start(lab, &directory, images, options, &qemu, &portmapper, &secrets, say, cancel);
    if started.is_err() {
        directory.end_guests()?;
        directory.clear()?;
    }
    started
}

#[allow(clippy::too_many_arguments, reason = "the one caller is above")]
fn start(
    lab: &Lab,
    directory: &Directory,
    images: &Images,
    options: UpOptions,
    qemu: &str,
    portmapper: &[bool],
    secrets: &Secrets,
    say: &mut dyn FnMut(&str),
    cancel: &AtomicBool,
) -> Result<Started, LabError> {
    let path = &directory.path;
    let mut keep_going = || !cancel.load(Ordering::Relaxed);
    let probed = choose(options.accelerator, images, path, say, &mut keep_going)?;
    say(&format!("guests run under {} ({})", probed.accelerator.name(), probed.why));
    let mut addresses = Vec::new();
    for (storage, portmapper) in lab.storage.iter().zip(portmapper) {
        let seed = path.to_string_lossy();
        let ports = storage_ports(*portmapper);
        addresses.push(free_address(&storage.name, &seed, &ports, &addresses)?);
    }
    let vm_addresses = vm_addresses(lab, path, &addresses)?;
    let state = State {
        version: VERSION,
        lab: lab.clone(),
        accelerator: probed.accelerator.name().into(),
        why: probed.why,
        addresses: addresses.clone(),
        vm_addresses,
        logs_writes: options.logs_writes,
        images: images.clone(),
    };
    state.write(path)?;
    let storage: Vec<Hardware> =
        (0..lab.storage.len()).map(|index| storage_hardware(path, lab, index)).collect();
    let hosts: Vec<Hardware> =
        (0..lab.hosts.len()).map(|index| host_hardware(path, lab, index)).collect();
    let routers: Vec<Hardware> =
        (0..lab.routers.len()).map(|index| router_hardware(path, lab, index)).collect();
    let channels = channels(lab);
    let vms: Vec<Hardware> = lab
        .vms
        .iter()
        .map(|vm| vm_hardware(path, lab, vm, &addresses, options.logs_writes))
        .collect();
    let common = Common { images, accelerator: probed.accelerator };
    let freezing = Instant::now();
    let all = storage.iter().chain(&routers).chain(&hosts).chain(&vms).cloned();
    let templates = if options.cold {
        Vec::new()
    } else {
        freeze(common, all, qemu, path, say, &mut keep_going)?
    };
    let froze = freezing.elapsed();
    let find = |hardware: &Hardware| {
        let blank = hardware.blank();
        templates.iter().find(|(kind, _)| *kind == blank).map(|(_, template)| template)
    };
    let begin = Instant::now();
    let notes = Mutex::new(Vec::new());
    let note = |name: &str, why: Option<String>| {
        if let (Some(why), Ok(mut notes)) = (why, notes.lock()) {
            notes.push(format!("{name} was booted, not cloned: {why}"));
        }
    };
    // The hosts' ends of cables must exist before those of storage guests, which connect to them.
    side_by_side(lab.hosts.len(), &|index| {
        let guest = guest(path, &lab.hosts[index].name);
        let hardware = &hosts[index];
        make(&guest.folder)?;
        let mut keep_going = || !cancel.load(Ordering::Relaxed);
        let cold = bring_up(common, &guest, hardware, find(hardware), &[], &mut keep_going)?;
        note(&guest.name, cold);
        Ok(())
    })?;
    // One after the other, for the same reason.
    for (index, router) in lab.routers.iter().enumerate() {
        let guest = guest(path, &router.name);
        make(&guest.folder)?;
        let hardware = &routers[index];
        let cold = bring_up(common, &guest, hardware, find(hardware), &[], &mut keep_going)?;
        note(&router.name, cold);
    }
    side_by_side(lab.storage.len(), &|index| {
        let (storage, hardware) = (&lab.storage[index], &storage[index]);
        let guest = guest(path, &storage.name);
        make(&guest.folder)?;
        for (disk, asked) in storage.disks.iter().enumerate() {
            sparse(&storage_file(path, &storage.name, disk), asked.size_bytes)?;
        }
        let forwards = forwards(&addresses[index], &storage_ports(portmapper[index]));
        let mut keep_going = || !cancel.load(Ordering::Relaxed);
        let cold = bring_up(common, &guest, hardware, find(hardware), &forwards, &mut keep_going)?;
        note(&storage.name, cold);
        set_up(&guest, &script(lab, index, Disks::New, &channels, secrets))?;
        limit_disks(&guest, storage)
    })?;
    side_by_side(lab.routers.len(), &|index| {
        set_up(&guest(path, &lab.routers[index].name), &router::script(lab, index))
    })?;
    if !lab.routers.is_empty() {
        say("waiting for routers to find their ways");
        side_by_side(lab.hosts.len(), &|index| {
            let ports = routed::lines(lab, Node::Host(index)).join("\n") + "\n";
            set_up(&guest(path, &lab.hosts[index].name), &ports)
        })?;
        reach::wait(path, lab, &mut keep_going)?;
    }
    side_by_side(lab.hosts.len(), &|index| {
        let text = mounts::script(lab, index, &channels, secrets);
        set_up(&guest(path, &lab.hosts[index].name), &text)
    })?;
    side_by_side(lab.vms.len(), &|index| {
        let (vm, hardware) = (&lab.vms[index], &vms[index]);
        let guest = guest(path, &vm.name);
        make(&guest.folder)?;
        disk_files(path, lab, index, &addresses)?;
        if options.logs_writes {
            prepare_logs(path, vm)?;
        }
        let mut keep_going = || !cancel.load(Ordering::Relaxed);
        let forwards = state.vm_forwards(index);
        let cold = bring_up(common, &guest, hardware, find(hardware), &forwards, &mut keep_going)?;
        note(&vm.name, cold);
        Ok(())
    })?;
    let took = begin.elapsed();
    for note in notes.into_inner().unwrap_or_default() {
        say(&note);
    }
    Ok(Started {
        guests: lab.names().count(),
        took,
        froze,
        accelerator: format!("{} ({})", state.accelerator, state.why),
    })
}

/// An address for each VM that has a network; `taken` are those of storage guests.
fn vm_addresses(lab: &Lab, path: &Path, taken: &[String]) -> Result<Vec<Option<String>>, LabError> {
    let mut taken = taken.to_vec();
    let address = |vm: &Vm| {
        if vm.network.is_none() {
            return Ok(None);
        }
        let found = free_address(&vm.name, &path.to_string_lossy(), &[GUEST_PORT], &taken)?;
        taken.push(found.clone());
        Ok(Some(found))
    };
    lab.vms.iter().map(address).collect()
}

/// Sets the limits of a storage guest's disks once it is ready: until then they have none.
pub(super) fn limit_disks(guest: &Guest, storage: &Storage) -> Result<(), LabError> {
    let mut qmp = guest.connect()?;
    for (disk, asked) in storage.disks.iter().enumerate() {
        if asked.limit.is_some() {
            let limits: serde_json::Map<_, _> = throttle::named(asked.limit)
                .map(|(name, most)| (name.to_owned(), json!(most)))
                .collect();
            let limits = json!({
                "path": format!("/objects/{}", crate::qemu::group(disk)),
                "property": "limits",
                "value": limits,
            });
            qmp.run("qom-set", limits)?;
        }
    }
    Ok(())
}

/// Runs a script on a guest with a shell.
pub(super) fn set_up(guest: &Guest, script: &str) -> Result<(), LabError> {
    guest
        .control_port()?
        .set_up(script, SET_UP)
        .map_err(|error| guest.failed(&format!("was not set up: {error}")))
}

fn choose(
    choice: AcceleratorChoice,
    images: &Images,
    directory: &Path,
    say: &mut dyn FnMut(&str),
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Probed, LabError> {
    if choice == AcceleratorChoice::Tcg {
        return Ok(Probed { accelerator: Accelerator::Tcg, why: "as asked".into() });
    }
    let scratch = guest(directory, ".kvm").folder;
    let probed = probe(images, &scratch, say, keep_going);
    let _ = fs::remove_dir_all(&scratch);
    match probed? {
        Probed { accelerator: Accelerator::Tcg, why } if choice == AcceleratorChoice::Kvm => {
            Err(LabError::NoKvm { why })
        }
        probed => Ok(probed),
    }
}

/// The templates of all kinds of hardware; those that cannot be made are reported and left out.
fn freeze(
    common: Common<'_>,
    all: impl Iterator<Item = Hardware>,
    qemu: &str,
    directory: &Path,
    say: &mut dyn FnMut(&str),
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Vec<(Hardware, Template)>, LabError> {
    let Common { images, accelerator } = common;
    let mut templates = Vec::new();
    for kind in template::kinds(all) {
        let found = template::find(images, &kind, accelerator, qemu);
        let made = match found {
            Some(template) => Ok(template),
            None => {
                say("freezing a guest, once for each kind");
                template::make(images, &kind, accelerator, qemu, directory, keep_going)
            }
        };
        match made {
            Ok(template) => templates.push((kind, template)),
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            Err(error) => say(&format!("guests are booted, not cloned: {error}")),
        }
    }
    Ok(templates)
}

/// Does `count` things, a few at a time; returns the first error after all that were started have
/// ended.
fn side_by_side(
    count: usize,
    work: &(dyn Fn(usize) -> Result<(), LabError> + Sync),
) -> Result<(), LabError> {
    const WORKERS: usize = 4;
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(count) {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && index < count
                {
                    if let Err(error) = work(index) {
                        next.store(count, Ordering::Relaxed);
                        if let Ok(mut failed) = failed.lock() {
                            failed.get_or_insert(error);
                        }
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_default().map_or(Ok(()), Err)
}

fn sparse(path: &Path, bytes: u64) -> Result<(), LabError> {
    File::create(path).and_then(|file| file.set_len(bytes)).map_err(at(path))
}

/// Creates the files of a VM's disks unless a guest does: raw files on an export are created by the
/// storage guest, and LUNs exist already.
fn disk_files(
    directory: &Path,
    lab: &Lab,
    index: usize,
    addresses: &[String],
) -> Result<(), LabError> {
    let vm = &lab.vms[index];
    for disk in &vm.disks {
        let local = local_file(directory, vm, disk);
        match (disk.datastore, disk.format) {
            (Datastore::Local, DiskFormat::Raw) => sparse(&local, disk.size_bytes),
            (Datastore::Local, DiskFormat::Qcow2) => {
                qcow2(&local.to_string_lossy(), disk.size_bytes)
            }
            (Datastore::Export { storage, export }, DiskFormat::Qcow2) => {
                let folder = export_path(&lab.storage[storage].exports[export].name);
                let file = file_name(vm, disk);
                // libnfs acts as this user unless the URL says otherwise.
                let url = format!("nfs://{}{folder}/{file}?uid=0&gid=0", addresses[storage]);
                qcow2(&url, disk.size_bytes)
            }
            _ => Ok(()),
        }?;
    }
    Ok(())
}

fn qcow2(place: &str, bytes: u64) -> Result<(), LabError> {
    const PROGRAM: &str = "qemu-img";
    let output = Command::new(PROGRAM)
        .args(["create", "-q", "-f", "qcow2", place, &bytes.to_string()])
        .output()
        .map_err(|source| tool(PROGRAM, source))?;
    if output.status.success() {
        return Ok(());
    }
    Err(LabError::ToolFailed { program: PROGRAM.into(), said: last_words(&output.stderr) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_done_and_after_a_failure_nothing_more_is_begun() {
        let done = AtomicUsize::new(0);
        side_by_side(50, &|_| {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert_eq!(done.into_inner(), 50);
        let started = AtomicUsize::new(0);
        let failed = side_by_side(1000, &|_| {
            started.fetch_add(1, Ordering::Relaxed);
            Err(LabError::Interrupted)
        });
        assert!(matches!(failed, Err(LabError::Interrupted)));
        assert!(started.into_inner() <= 4);
    }
}
