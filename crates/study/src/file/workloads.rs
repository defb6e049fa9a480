//! Reads `workloads`: a list of profiles, profiles with changes, and workloads written out.

use super::datastores::check_name;
use super::keys;
use super::{desktops, fixed_work, io, service};
use crate::profile::{StudyProfile, study_profile, study_profile_names, study_profiles};
use crate::study_plan::{StudyWorkload, WorkloadKind};
use stormeter_units::{format_bytes, nearest};
use stormeter_yaml::Keys;
use stormeter_yaml::Section;
use stormeter_yaml::{Diagnostics, Place};
use stormeter_yaml::{Node, Value};

/// A workload and its position in the file.
pub(super) struct Found {
    pub(super) workload: StudyWorkload,
    pub(super) place: Place,
}

/// The default workload, as with `compare`; also supplies the defaults of a workload that is
/// written out.
const DEFAULT: &str = "vm-4k";

/// The workloads in the order of the file.
pub(super) fn read(study: &Section<'_>, diagnostics: &mut Diagnostics) -> Vec<Found> {
    let at = |place| move |workload| Found { workload, place };
    let Some(node) = study.get("workloads") else {
        return default_profile().into_iter().map(|p| p.workload).map(at(study.place)).collect();
    };
    let items = match &node.value {
        Value::List(items) if items.is_empty() => {
            diagnostics.error_at(
                node.place,
                "the list of workloads is empty; write workloads: [vm-4k], or leave it out",
            );
            return Vec::new();
        }
        Value::List(items) => items.as_slice(),
        // One workload needs no list.
        _ => std::slice::from_ref(node),
    };
    let mut found: Vec<Found> = Vec::new();
    for item in items {
        for workload in workloads_of(item, diagnostics) {
            if found.iter().any(|other| other.workload.name == workload.name) {
                diagnostics.error_at(
                    item.place,
                    format!(
                        "there are two workloads {}; give this one a name of its own: {{…, name: \
                         {}-2}}",
                        workload.name, workload.name
                    ),
                );
            }
            found.push(Found { workload, place: item.place });
        }
    }
    found
}

fn default_profile() -> Option<StudyProfile> {
    study_profile(DEFAULT).ok().and_then(|profiles| profiles.into_iter().next())
}

/// The workloads of one item: several for a set of profiles or a list of file tests.
fn workloads_of(item: &Node, diagnostics: &mut Diagnostics) -> Vec<StudyWorkload> {
    match &item.value {
        Value::Text(_) => named(item, diagnostics),
        Value::Map(pairs) => {
            let has = |key: &str| pairs.iter().any(|(name, _)| name.text() == Some(key));
            if has("profile") {
                return changed(item, pairs, diagnostics);
            }
            let kinds = ["file-test", "transfer", "deploy", "ftp", "vnc", "desktops"];
            let given: Vec<&str> = kinds.into_iter().filter(|kind| has(kind)).collect();
            match given.as_slice() {
                [] => written_out(item, diagnostics),
                ["file-test"] => files(item, &[], diagnostics),
                ["transfer"] => transfers(item, &[], diagnostics),
                ["deploy"] => deployments(item, &[], diagnostics),
                ["ftp"] => {
                    let read = |node: &Node, diagnostics: &mut Diagnostics| {
                        service::ftp(node, diagnostics).map(WorkloadKind::Ftp)
                    };
                    sessions(item, "ftp", &keys::FTP_WORKLOAD, read, diagnostics)
                }
                ["vnc"] => {
                    let read = |node: &Node, diagnostics: &mut Diagnostics| {
                        service::vnc(node, diagnostics).map(WorkloadKind::Vnc)
                    };
                    sessions(item, "vnc", &keys::VNC_WORKLOAD, read, diagnostics)
                }
                ["desktops"] => on_demand(item, diagnostics),
                several => {
                    diagnostics.error_at(
                        item.place,
                        format!(
                            "one workload cannot be both {}; make two of it",
                            several.join(" and ")
                        ),
                    );
                    Vec::new()
                }
            }
        }
        _ => {
            diagnostics.error_at(
                item.place,
                format!(
                    "a workload is a profile's name or a mapping, not {}; write - vm-4k or - \
                     {{profile: vm-4k, read: 60%}}",
                    item.found()
                ),
            );
            Vec::new()
        }
    }
}

/// The profiles to which a text refers.
fn named(node: &Node, diagnostics: &mut Diagnostics) -> Vec<StudyWorkload> {
    let name = node.text().unwrap_or_default().trim();
    if let Ok(profiles) = study_profile(name) {
        return profiles.into_iter().map(|profile| profile.workload).collect();
    }
    let names = study_profile_names();
    let all = study_profiles();
    let known =
        names.iter().map(String::as_str).chain(all.iter().map(|p| p.workload.name.as_str()));
    let found = node.found();
    let advice = match nearest(name, known) {
        Some(meant) => format!("did you mean {meant}? `stormeter profile` lists them all"),
        None => format!(
            "the profiles are {}; a workload of its own is written out: {{name: mine, request-size: 4KiB, \
             read: 75%}}",
            names.join(", ")
        ),
    };
    diagnostics.error_at(node.place, format!("there is no profile {found}; {advice}"));
    Vec::new()
}

/// A profile, or a set of them, with changes.
fn changed(
    item: &Node,
    pairs: &[(Node, Node)],
    diagnostics: &mut Diagnostics,
) -> Vec<StudyWorkload> {
    let profile = pairs.iter().find(|(key, _)| key.text() == Some("profile"));
    let Some((_, profile)) = profile else { return Vec::new() };
    if profile.text().is_none() {
        diagnostics.error_at(
            profile.place,
            format!("profile is the name of one, not {}; write profile: vm-4k", profile.found()),
        );
        return Vec::new();
    }
    let bases = named(profile, diagnostics);
    match bases.first().map(|base| &base.kind) {
        None => Vec::new(),
        Some(WorkloadKind::File(_)) => files(item, &bases, diagnostics),
        Some(WorkloadKind::Transfer(_)) => transfers(item, &bases, diagnostics),
        Some(WorkloadKind::Deploy(_)) => deployments(item, &bases, diagnostics),
        // No profile is of a service: whose password would it be?
        Some(WorkloadKind::Ftp(_) | WorkloadKind::Vnc(_)) => Vec::new(),
        // No profile is of desktops: whose users would they be?
        Some(WorkloadKind::Desktops(_)) => Vec::new(),
        Some(WorkloadKind::Io(_)) => {
            let Some(open) = Common::open(item, &keys::IO, diagnostics) else { return Vec::new() };
            let change = |base: &StudyWorkload| match &base.kind {
                WorkloadKind::Io(io) => {
                    Some(WorkloadKind::Io(io::read(&open.section, io, diagnostics)))
                }
                _ => None,
            };
            let kinds: Vec<_> = bases.iter().map(change).collect();
            open.workloads(&bases, kinds)
        }
    }
}

/// Load that is written out.
fn written_out(item: &Node, diagnostics: &mut Diagnostics) -> Vec<StudyWorkload> {
    let Some(open) = Common::open(item, &keys::IO, diagnostics) else { return Vec::new() };
    let Some(name) = open.name(diagnostics) else { return Vec::new() };
    let Some(WorkloadKind::Io(base)) = default_profile().map(|profile| profile.workload.kind)
    else {
        return Vec::new();
    };
    let io = io::read(&open.section, &base, diagnostics);
    vec![open.workload(name, None, WorkloadKind::Io(io))]
}

fn files(
    item: &Node,
    bases: &[StudyWorkload],
    diagnostics: &mut Diagnostics,
) -> Vec<StudyWorkload> {
    let Some(open) = Common::open(item, &keys::FILE, diagnostics) else { return Vec::new() };
    if bases.is_empty() {
        let tests = fixed_work::file_tests(&open.section, None, diagnostics);
        let is_list = open.section.get("file-test").is_some_and(|node| match &node.value {
            Value::List(_) => true,
            _ => node.text() == Some("all"),
        });
        let name = open.name.clone();
        return tests
            .into_iter()
            .map(|test| {
                let own =
                    || format!("{}-{}", name.as_deref().unwrap_or("iozone"), test.operation.name());
                let name = if is_list { own() } else { name.clone().unwrap_or_else(own) };
                open.workload(name, None, WorkloadKind::File(test))
            })
            .collect();
    }
    let change = |base: &StudyWorkload| match &base.kind {
        WorkloadKind::File(test) => {
            let tests = fixed_work::file_tests(&open.section, Some(test), diagnostics);
            tests.into_iter().next().map(WorkloadKind::File)
        }
        _ => None,
    };
    let kinds: Vec<_> = bases.iter().map(change).collect();
    open.workloads(bases, kinds)
}

fn transfers(
    item: &Node,
    bases: &[StudyWorkload],
    diagnostics: &mut Diagnostics,
) -> Vec<StudyWorkload> {
    let Some(open) = Common::open(item, &keys::TRANSFER_WORKLOAD, diagnostics) else {
        return Vec::new();
    };
    if bases.is_empty() {
        let Some(name) = open.name(diagnostics) else { return Vec::new() };
        let transfer = fixed_work::transfer(&open.section, None, diagnostics);
        let kind = transfer.map(WorkloadKind::Transfer);
        return kind.map(|kind| open.workload(name, None, kind)).into_iter().collect();
    }
    let change = |base: &StudyWorkload| match &base.kind {
        WorkloadKind::Transfer(transfer) => {
            fixed_work::transfer(&open.section, Some(transfer), diagnostics)
                .map(WorkloadKind::Transfer)
        }
        _ => None,
    };
    let kinds: Vec<_> = bases.iter().map(change).collect();
    open.workloads(bases, kinds)
}

fn deployments(
    item: &Node,
    bases: &[StudyWorkload],
    diagnostics: &mut Diagnostics,
) -> Vec<StudyWorkload> {
    let Some(open) = Common::open(item, &keys::DEPLOY_WORKLOAD, diagnostics) else {
        return Vec::new();
    };
    if bases.is_empty() {
        let Some(name) = open.name(diagnostics) else { return Vec::new() };
        let deployment = fixed_work::deployment(&open.section, None, diagnostics);
        let kind = deployment.map(WorkloadKind::Deploy);
        return kind.map(|kind| open.workload(name, None, kind)).into_iter().collect();
    }
    let change = |base: &StudyWorkload| match &base.kind {
        WorkloadKind::Deploy(deployment) => {
            fixed_work::deployment(&open.section, Some(deployment), diagnostics)
                .map(WorkloadKind::Deploy)
        }
        _ => None,
    };
    let kinds: Vec<_> = bases.iter().map(change).collect();
    open.workloads(bases, kinds)
}

/// Sessions with a service, which is also the key that says what they do.
fn sessions(
    item: &Node,
    service: &str,
    keys: &'static Keys,
    read: impl Fn(&Node, &mut Diagnostics) -> Option<WorkloadKind>,
    diagnostics: &mut Diagnostics,
) -> Vec<StudyWorkload> {
    let Some(open) = Common::open(item, keys, diagnostics) else { return Vec::new() };
    let kind = open.section.get(service).and_then(|node| read(node, diagnostics));
    let Some(name) = open.name(diagnostics) else { return Vec::new() };
    kind.map(|kind| open.workload(name, None, kind)).into_iter().collect()
}

/// Desktops on demand: a workload for each size of the pool.
fn on_demand(item: &Node, diagnostics: &mut Diagnostics) -> Vec<StudyWorkload> {
    let opened = Common::open(item, &keys::DESKTOPS_WORKLOAD, diagnostics);
    let (Some(open), Some(default)) = (opened, default_profile()) else { return Vec::new() };
    let (Some(node), Some(base)) = (open.section.get("desktops"), default.workload.kind.io())
    else {
        return Vec::new();
    };
    let loads = desktops::loads(node, base, diagnostics);
    let Some(name) = open.name(diagnostics) else { return Vec::new() };
    let workload = |(load, pool): (_, Option<u32>)| {
        let name = pool.map_or_else(|| name.clone(), |pool| format!("{name}-pool-{pool}"));
        open.workload(name, None, WorkloadKind::Desktops(Box::new(load)))
    };
    loads.into_iter().map(workload).collect()
}

/// A smaller disk is a request size under the wrong key.
const LEAST_DISK_BYTES: u64 = 1 << 20;

/// Keys that every workload mapping has.
struct Common<'n> {
    section: Section<'n>,
    name: Option<String>,
    disk_bytes: Option<u64>,
}

impl<'n> Common<'n> {
    fn open(
        item: &'n Node,
        keys: &'static Keys,
        diagnostics: &mut Diagnostics,
    ) -> Option<Common<'n>> {
        let section = Section::open(item, "a workload", keys, diagnostics)?;
        let name = section.text("name", diagnostics).map(str::to_owned);
        if let (Some(name), Some(node)) = (&name, section.get("name")) {
            check_name("a workload", name, node, diagnostics);
        }
        let has_disks = keys.names().any(|key| key == "size");
        let disk_bytes = if has_disks { section.size("size", diagnostics) } else { None };
        if keys.names().any(|key| key == "request-size") {
            // A user who means the request size would write it here, and would measure one block
            // forever.
            if let Some(bytes) = disk_bytes.filter(|bytes| *bytes < LEAST_DISK_BYTES) {
                let bytes = format_bytes(bytes);
                diagnostics.error_at(
                    section.place_of("size"),
                    format!(
                        "size is that of the disk, and {bytes} is not one; write request-size: \
                         {bytes}"
                    ),
                );
            }
        }
        Some(Common { section, name, disk_bytes })
    }

    /// The name of a workload that is not named after a profile.
    fn name(&self, diagnostics: &mut Diagnostics) -> Option<String> {
        if self.name.is_none() && diagnostics.is_empty() {
            diagnostics.error_at(
                self.section.place,
                "a workload that is written out needs a name for tables and questions; write name: \
                 mine (or profile: vm-4k to change a profile)",
            );
        }
        self.name.clone()
    }

    fn workload(&self, name: String, base_bytes: Option<u64>, kind: WorkloadKind) -> StudyWorkload {
        let kind = match kind {
            WorkloadKind::Io(io) => {
                WorkloadKind::Io(stormeter_trial::Workload { name: name.clone(), ..io })
            }
            other => other,
        };
        StudyWorkload { name, disk_bytes: self.disk_bytes.or(base_bytes), kind }
    }

    /// Profiles with changes: under the given name, or under their own name with `-changed` if
    /// there are any changes.
    fn workloads(
        &self,
        bases: &[StudyWorkload],
        kinds: Vec<Option<WorkloadKind>>,
    ) -> Vec<StudyWorkload> {
        let one = |(base, kind): (&StudyWorkload, Option<WorkloadKind>)| {
            let kind = kind?;
            let as_named = self.workload(base.name.clone(), base.disk_bytes, kind.clone());
            let name = match (&self.name, &kind) {
                (Some(name), WorkloadKind::File(test)) if bases.len() > 1 => {
                    format!("{name}-{}", test.operation.name())
                }
                (Some(name), _) if bases.len() > 1 => format!("{name}-{}", base.name),
                (Some(name), _) => name.clone(),
                (None, _) if as_named == *base => base.name.clone(),
                (None, _) => format!("{}-changed", base.name),
            };
            Some(self.workload(name, base.disk_bytes, kind))
        };
        bases.iter().zip(kinds).filter_map(one).collect()
    }
}
