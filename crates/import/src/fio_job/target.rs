//! Where a job does its I/O: the datastore, and which of its disks each copy of the job uses.
//!
//! Jobs that name the same file share a disk; files of their own are disks of their own; parts of a file that do not
//! overlap are disks, too.

use super::engines::Engine;
use super::options::{Findings, Given, Options};
use super::surroundings::Surroundings;
use super::value::{names, percent};

/// The datastore of a job and its disks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// As a study file has it.
    pub(super) url: String,
    /// The part of each copy of the job, in their order.
    pub(super) parts: Vec<Part>,
    /// Bytes of each part.
    pub(super) bytes: u64,
}

/// A part of a file, which stands for a disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The file or files.
    pub(super) of: String,
    /// The first byte.
    pub(super) start: u64,
}

/// Keys about places, which a job of a refused engine may have.
const ABOUT_PLACES: [&str; 9] = [
    "filename",
    "directory",
    "filename_format",
    "nrfiles",
    "size",
    "filesize",
    "offset",
    "offset_increment",
    "direct",
];

/// What a device needs besides its disks: Stormeter's own header, and room up to the last sectors.
const RESERVED_BYTES: u64 = 64 << 20;
/// The smallest disk of a study.
const LEAST_BYTES: u64 = 1 << 20;

/// The target of a job of `copies`; `None` if it was refused.
pub(super) fn target(
    options: &Options,
    engine: Option<Engine>,
    copies: u32,
    is_sequential: bool,
    around: &Surroundings<'_>,
    findings: &mut Findings,
) -> Option<Target> {
    let Some(engine) = engine else {
        for key in ABOUT_PLACES.into_iter().chain(["buffered"]) {
            options.get(key);
        }
        return None;
    };
    let files = Files::of(options, findings);
    let direct = direct(options, findings);
    let url = match engine {
        Engine::Files { .. } => of_files(options, &files, direct.clone(), findings),
        Engine::Null => Some("null:".to_owned()),
        Engine::Nfs => of_nfs(options, findings),
        Engine::Iscsi => of_iscsi(options, &files, findings),
        Engine::Rbd => of_rbd(options, findings),
    };
    if !matches!(engine, Engine::Files { .. })
        && let Some((at, _)) = &direct
    {
        findings.remark(at, "no effect: the client has no page cache");
    }
    if let Some(at) = options.get("filename_format") {
        findings.remark(at, "it says which jobs share a file; the names of disks are Stormeter's");
    }
    if let Some(at) = options.get("filename").filter(|_| !files.is_device(url.as_deref())) {
        findings.remark(at, "it says which jobs share a file; this one is not touched, since Stormeter makes its own disks");
    }
    if files.count > 1 {
        let (reason, advice) = (
            "several files that are each read or written in order are several streams, and a disk has one",
            "write a job for each file, or random I/O",
        );
        match is_sequential {
            true => findings.refuse(&files.at, reason, advice),
            false => findings.remark(
                &files.at,
                "the files of the job are one disk here, as large as all of them",
            ),
        }
    }
    let image = match engine {
        Engine::Rbd => options.get("rbdname").map(|given| given.text().to_owned()),
        _ => None,
    };
    let parts: Vec<String> = match image {
        Some(image) => vec![image; copies as usize],
        None => (0..copies).map(|copy| files.of_copy(options, copy)).collect(),
    };
    let whole = whole_bytes(&files, parts.first(), around);
    let bytes = bytes(options, &files, whole, findings)?;
    let (start, step) = offsets(options, whole, findings);
    let parts = parts
        .into_iter()
        .zip(0u64..)
        .map(|(of, copy)| Part { of, start: start.saturating_add(step.saturating_mul(copy)) });
    Some(Target { url: url?, parts: parts.collect(), bytes })
}

/// Whether the page cache is bypassed, and the key that says so.
fn direct(options: &Options, findings: &mut Findings) -> Option<(Given, bool)> {
    let direct = options.flag("direct", findings);
    let buffered = options.flag("buffered", findings);
    match (direct, buffered) {
        (Some(direct), Some(buffered)) if direct == buffered => {
            findings.refuse(&options.at("buffered"), "it contradicts direct", "leave it out");
            None
        }
        (Some(direct), _) => Some((options.at("direct"), direct)),
        (None, Some(buffered)) => Some((options.at("buffered"), !buffered)),
        (None, None) => None,
    }
}

/// The files of a job.
struct Files {
    at: Given,
    /// Those with names; empty: fio makes names up.
    named: Vec<String>,
    directory: Option<String>,
    format: String,
    count: u64,
}

impl Files {
    fn of(options: &Options, findings: &mut Findings) -> Self {
        let number = options.count("nrfiles", findings).map_or(1, u64::from);
        let directory = options.get("directory").map(Given::text).filter(|text| !text.is_empty());
        if let (Some(at), Some(text)) = (options.get("directory"), directory)
            && names(text).len() > 1
        {
            let reason = "a job over several directories is several datastores at once";
            findings.refuse(at, reason, "write a job for each, with stonewall");
        }
        let format =
            options.get("filename_format").map(Given::text).unwrap_or("$jobname.$jobnum.$filenum");
        let named = options.get("filename").map(|given| names(given.text())).unwrap_or_default();
        let at = options.at(if named.is_empty() { "nrfiles" } else { "filename" });
        let count = if named.is_empty() { number.max(1) } else { named.len() as u64 };
        let directory = directory.map(|text| text.trim_end_matches('/').to_owned());
        Self { at, named, directory, format: format.to_owned(), count }
    }

    /// fio puts the directory before any name.
    fn path(&self, name: &str) -> String {
        match &self.directory {
            Some(directory) => format!("{directory}/{}", name.trim_start_matches('/')),
            None => name.to_owned(),
        }
    }

    /// Whether the datastore is what the file names: a device, or a LUN.
    fn is_device(&self, url: Option<&str>) -> bool {
        let body = url.and_then(|url| url.split('?').next());
        self.named.first().is_some_and(|name| Some(self.path(name).as_str()) == body)
    }

    /// What a copy uses, as one text.
    fn of_copy(&self, options: &Options, copy: u32) -> String {
        let mut paths: Vec<String> = self.named.iter().map(|name| self.path(name)).collect();
        if paths.is_empty() {
            let name = self.format.replace("$jobname", &options.name);
            paths.push(self.path(&name.replace("$jobnum", &copy.to_string())));
        }
        paths.join(":")
    }
}

/// The folder of the files, or their device.
fn of_files(
    options: &Options,
    files: &Files,
    direct: Option<(Given, bool)>,
    findings: &mut Findings,
) -> Option<String> {
    let at = options.at(if files.named.is_empty() { "directory" } else { "filename" });
    let paths = match files.named.as_slice() {
        [] => vec![files.path("file")],
        named => named.iter().map(|name| files.path(name)).collect(),
    };
    let mut folders: Vec<String> = paths.iter().map(|path| folder(path)).collect();
    folders.dedup();
    let [url] = folders.as_slice() else {
        let reason = "a job over several devices or directories is several datastores at once";
        findings.refuse(&at, reason, "write a job for each, with stonewall");
        return None;
    };
    if ["/dev/null", "/dev/zero"].contains(&url.as_str()) {
        findings.remark(
            &at,
            format!(
                "{url} stores nothing, as the datastore null:, whose I/O is not even a system call"
            ),
        );
        return Some("null:".into());
    }
    if is_device(url) {
        let text = "Stormeter writes this device before the first trial, even for a job that only reads, and refuses one \
                    that holds anything";
        findings.remark(&at, text);
    }
    if url.contains('?') {
        findings.refuse(
            &at,
            "a question mark starts the options of a datastore",
            "use a path without one",
        );
        return None;
    }
    if !url.starts_with('/') {
        findings.remark(&at, "a relative path starts where stormeter runs");
    }
    match direct {
        Some((_, true)) => Some(url.clone()),
        Some((at, false)) => {
            findings.remark(
                &at,
                "?direct=0 in the datastore's URL: the page cache takes part in what is measured",
            );
            Some(format!("{url}?direct=0"))
        }
        None => {
            findings.remark(
                &options.missing("direct"),
                "fio's default is the page cache, hence ?direct=0 in the datastore's URL; write direct=1 to measure the \
                 storage",
            );
            Some(format!("{url}?direct=0"))
        }
    }
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

/// The datastore of a path: a device is one, of a file its folder is.
fn folder(path: &str) -> String {
    if is_device(path) {
        return path.to_owned();
    }
    match path.rsplit_once('/') {
        Some(("", _)) => "/".into(),
        Some((folder, _)) if folder.starts_with(['/', '.']) => folder.to_owned(),
        Some((folder, _)) => format!("./{folder}"),
        None => ".".into(),
    }
}

fn of_nfs(options: &Options, findings: &mut Findings) -> Option<String> {
    let Some(at) = options.get("nfs_url") else {
        let at = options.missing("nfs_url");
        findings.refuse(&at, "it is missing", "write nfs_url=nfs://SERVER/EXPORT");
        return None;
    };
    let url = at.text();
    if !url.starts_with("nfs://") || url.contains('?') {
        let advice = "write nfs_url=nfs://SERVER/EXPORT; the study's URL has options of its own";
        findings.refuse(
            at,
            format!("\"{url}\" is no export, or has options of another client"),
            advice,
        );
        return None;
    }
    Some(url.to_owned())
}

fn of_iscsi(options: &Options, files: &Files, findings: &mut Findings) -> Option<String> {
    let at = options.at("filename");
    let [url] = files.named.as_slice() else {
        findings.refuse(&at, "a job has one LUN", "write filename=iscsi\\://HOST/TARGET/LUN");
        return None;
    };
    let rest = url.strip_prefix("iscsi://").filter(|rest| !rest.contains('?'));
    let Some(rest) = rest else {
        findings.refuse(
            &at,
            format!("\"{url}\" is no LUN"),
            "write filename=iscsi\\://HOST/TARGET/LUN",
        );
        return None;
    };
    if rest.split('/').next().is_some_and(|host| host.contains('@') && host.contains('%')) {
        let advice = "remove it, and set STORMETER_ISCSI_PASSWORD in the environment";
        findings.refuse(&at, "a password has no place in a study file", advice);
        return None;
    }
    Some(url.clone())
}

fn of_rbd(options: &Options, findings: &mut Findings) -> Option<String> {
    let client = options.get("clientname").map(|given| given.text().trim_start_matches("client."));
    let Some(pool) = options.get("pool").map(Given::text).filter(|pool| !pool.is_empty()) else {
        findings.refuse(&options.missing("pool"), "it is missing", "write pool=rbd");
        return None;
    };
    if let Some(at) = options.get("rbdname") {
        findings
            .remark(at, "this image is not touched: Stormeter makes images of its own in the pool");
    }
    Some(match client.filter(|client| *client != "admin") {
        Some(client) => format!("rbd:{pool}?id={client}"),
        None => format!("rbd:{pool}"),
    })
}

/// The bytes of what exists, all files together; `None`: not known.
fn whole_bytes(files: &Files, first: Option<&String>, around: &Surroundings<'_>) -> Option<u64> {
    let paths = match files.named.is_empty() {
        true => first.into_iter().cloned().collect(),
        false => files.named.iter().map(|name| files.path(name)).collect::<Vec<_>>(),
    };
    paths.iter().map(|path| (around.size)(path)).sum()
}

/// Bytes of a disk: of all files of a job together.
fn bytes(
    options: &Options,
    files: &Files,
    whole: Option<u64>,
    findings: &mut Findings,
) -> Option<u64> {
    let each = options.size("filesize", findings);
    let size_share = options.get("size").and_then(|given| percent(given.text()));
    let size = match size_share {
        Some(_) => None,
        None => options.size("size", findings),
    };
    if options.get("filesize").is_some() && each.is_none()
        || options.get("size").is_some() && size.is_none() && size_share.is_none()
    {
        return None;
    }
    if let (Some(_), Some(at)) = (each, options.get("size")) {
        findings.remark(
            at,
            "no effect: filesize says how large a disk is, and size only how much fio does",
        );
    }
    let at = options.at(if each.is_some() { "filesize" } else { "size" });
    let bytes = match (each, size, whole) {
        (Some(each), ..) => each.saturating_mul(files.count),
        (None, Some(size), _) => size,
        (None, None, Some(whole)) => {
            let room = whole.saturating_sub(RESERVED_BYTES);
            let share = size_share.unwrap_or(100.0) / 100.0;
            let bytes = ((whole as f64 * share) as u64).min(room) >> 20 << 20;
            findings.remark(
                &at,
                format!("the disk has {} MiB, as much as there is and 64 MiB less", bytes >> 20),
            );
            bytes
        }
        (None, None, None) => {
            let reason = "fio takes all of the file or device, whose size is not known here";
            findings.refuse(&at, reason, "write size=10g");
            return None;
        }
    };
    if bytes < LEAST_BYTES {
        findings.refuse(
            &at,
            format!("a disk of {bytes} bytes is too small"),
            "write size=1m or more",
        );
        return None;
    }
    Some(bytes)
}

/// Where the first copy starts, and how far the next one is.
fn offsets(options: &Options, whole: Option<u64>, findings: &mut Findings) -> (u64, u64) {
    let mut read = |key: &'static str| {
        let offset = options.parsed(key, &format!("{key}=1g"), findings, |given| {
            match percent(given.text()) {
                Some(percent) => whole.map(|whole| (whole as f64 * percent / 100.0) as u64),
                None => options.bytes(given.text()),
            }
        });
        offset.unwrap_or(0)
    };
    let (start, step) = (read("offset"), read("offset_increment"));
    for key in ["offset", "offset_increment"] {
        if let Some(at) = options.get(key) {
            findings.remark(
                at,
                "parts that do not overlap are disks; where a disk lies is up to Stormeter",
            );
        }
    }
    (start, step)
}
