//! Writes workloads in the notation of study files, to be read, pasted and changed.

use std::fmt::Write;

use stormeter_trial::{
    Arrivals, Deployment, Distribution, FileTest, FtpDirection, FtpLoad, Transfer,
    TransferDirection, TransferSink, VncLoad, Workload,
};

use crate::study_plan::{StudyWorkload, WorkloadKind};

/// The key `workloads` with these workloads written out; [`super::parse_study`] reads it back
/// unchanged.
pub fn workloads_text(workloads: &[StudyWorkload]) -> String {
    let mut text = String::from("workloads:\n");
    for workload in workloads {
        for (index, (key, value)) in lines(workload).into_iter().enumerate() {
            let lead = if index == 0 { "  - " } else { "    " };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{lead}{key}: {value}");
        }
    }
    text
}

type Line = (&'static str, String);

fn lines(workload: &StudyWorkload) -> Vec<Line> {
    let mut lines = vec![("name", quoted(&workload.name))];
    match &workload.kind {
        WorkloadKind::Io(io) => io_lines(io, &mut lines),
        WorkloadKind::File(test) => file_lines(test, &mut lines),
        WorkloadKind::Transfer(transfer) => lines.push(("transfer", transfer_text(transfer))),
        WorkloadKind::Deploy(deployment) => lines.push(("deploy", deployment_text(deployment))),
        WorkloadKind::Ftp(ftp) => lines.push(("ftp", ftp_text(ftp))),
        WorkloadKind::Vnc(vnc) => lines.push(("vnc", vnc_text(vnc))),
    }
    if let Some(bytes) = workload.disk_bytes {
        lines.push(("size", size(bytes)));
    }
    lines
}

fn io_lines(io: &Workload, lines: &mut Vec<Line>) {
    let sizes = match io.sizes.as_slice() {
        [only] => size(u64::from(only.bytes)),
        several => {
            let total: f64 = several.iter().map(|size| size.share).sum();
            let sign = if total == 100.0 { "%" } else { "" };
            let shares =
                several.iter().map(|s| format!("{}: {}{sign}", size(u64::from(s.bytes)), s.share));
            format!("{{{}}}", shares.collect::<Vec<_>>().join(", "))
        }
    };
    lines.push(("request-size", sizes));
    lines.push(("read", format!("{}%", io.read_percent)));
    lines.push(("random", format!("{}%", io.random_percent)));
    if let Distribution::Zipf { exponent } = io.distribution {
        lines.push(("zipf", exponent.to_string()));
    }
    if let Some(align) = io.alignment_bytes {
        lines.push(("align", size(align)));
    }
    match io.arrivals {
        Arrivals::Closed { outstanding } => lines.push(("outstanding", outstanding.to_string())),
        Arrivals::Poisson { rate_per_s } => {
            lines.push(("rate", rate_per_s.to_string()));
            lines.push(("arrivals", "poisson".into()));
        }
        Arrivals::Constant { rate_per_s } => {
            lines.push(("rate", rate_per_s.to_string()));
            lines.push(("arrivals", "constant".into()));
        }
    }
    if let Some(burst) = io.burst {
        let delay = duration(burst.delay_ns);
        lines.push(("burst", format!("{{length: {}, delay: {delay}}}", burst.length)));
    }
    if io.durable {
        lines.push(("durable", "true".into()));
    }
    if let Some(flush) = io.flush {
        lines.push(("flush", flush.to_string()));
    }
    if io.content.compressible_percent > 0.0 {
        lines.push(("compressible", format!("{}%", io.content.compressible_percent)));
    }
    if io.content.duplicate_percent > 0.0 {
        lines.push(("dedupable", format!("{}%", io.content.duplicate_percent)));
    }
}

fn file_lines(test: &FileTest, lines: &mut Vec<Line>) {
    lines.push(("file-test", test.operation.name().into()));
    lines.push(("record", size(u64::from(test.record_bytes))));
    lines.push(("outstanding", test.outstanding.to_string()));
    lines.push(("client-cache", test.client_cache.to_string()));
}

fn transfer_text(transfer: &Transfer) -> String {
    let direction = match transfer.direction {
        TransferDirection::Write => "write",
        TransferDirection::Read => "read",
    };
    let sink = match transfer.sink {
        TransferSink::Memory => "memory",
        TransferSink::Disk => "disk",
    };
    let (size, messages) = (size(transfer.message_bytes), transfer.messages);
    format!("{{size: {size}, direction: {direction}, sink: {sink}, messages: {messages}}}")
}

fn deployment_text(deployment: &Deployment) -> String {
    let Deployment { copy_bytes, clone, outstanding, customise_writes, boot_reads } = deployment;
    let first = match clone {
        true => "clone: true".into(),
        false => format!("copy: {}", size(u64::from(*copy_bytes))),
    };
    format!(
        "{{{first}, customise: {customise_writes}, boot: {boot_reads}, outstanding: \
         {outstanding}}}"
    )
}

fn ftp_text(ftp: &FtpLoad) -> String {
    let FtpLoad { user, password_file, direction, file_bytes, files, pause_ns, port } = ftp;
    let direction = match direction {
        FtpDirection::Upload => "upload",
        FtpDirection::Download => "download",
    };
    let (file_size, pause) = (size(*file_bytes), duration(*pause_ns));
    format!(
        "{{direction: {direction}, size: {file_size}, files: {files}, pause: {pause}, user: {}, password-file: {}, \
         port: {port}}}",
        quoted(user),
        quoted(password_file)
    )
}

fn vnc_text(vnc: &VncLoad) -> String {
    let VncLoad { password_file, pause_ns, pointer_per_s, keys_at, fields, port } = vnc;
    let keys_at = keys_at.map(|area| format!("keys-at: {area}, ")).unwrap_or_default();
    let fields = fields.map(|fields| format!("fields: {fields}, ")).unwrap_or_default();
    format!(
        "{{pause: {}, pointer: {pointer_per_s}, {keys_at}{fields}password-file: {}, port: {port}}}",
        duration(*pause_ns),
        quoted(password_file)
    )
}

/// A size that reads back unchanged: in the largest unit that divides it, by 1024 or by 1000.
fn size(bytes: u64) -> String {
    let units = [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let decimal =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000)];
    let fits =
        units.iter().chain(&decimal).find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    match fits {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

/// A duration that reads back unchanged.
fn duration(ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    match units.iter().find(|(_, unit)| ns.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{}{name}", ns / unit),
        None => format!("{ns}ns"),
    }
}

/// A name, quoted if YAML would read it as something else.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !matches!(name.to_lowercase().as_str(), "null" | "true" | "false");
    if is_plain { name.into() } else { format!("'{}'", name.replace('\'', "''")) }
}
