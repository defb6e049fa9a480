//! Writes workloads in the notation of study files, to be read, pasted and changed.

use std::fmt::Write;

use stormeter_trial::{
    Arrivals, Deployment, DesktopLoad, Distribution, FileTest, FtpDirection, FtpLoad, Resources,
    Transfer, TransferDirection, TransferSink, VncLoad, Workload,
};

use super::keys::DESKTOP_IO;
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
        WorkloadKind::Desktops(load) => lines.push(("desktops", desktops_text(load))),
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
    lines.push(("flush-at-end", test.flush_at_end.to_string()));
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

fn desktops_text(load: &DesktopLoad) -> String {
    let DesktopLoad { arrivals_per_s, users, class, broker, deployment, session } = load;
    let mut parts = Vec::new();
    if *arrivals_per_s > 0.0 {
        let users = users.map(|users| format!(", users: {users}")).unwrap_or_default();
        parts.push(format!("arrivals: {{per-hour: {}{users}}}", arrivals_per_s * 3600.0));
    }
    if let Some(class) = class {
        parts.push(format!("class: {{users: {}, at: {}}}", class.users, duration(class.at_ns)));
    }
    parts.push(format!("pool: {}", broker.pool));
    if broker.deploying_most < u32::MAX {
        parts.push(format!("at-once: {}", broker.deploying_most));
    }
    for (key, of) in [("capacity", &broker.capacity), ("desktop", &broker.desktop)] {
        let text = resources_text(of);
        if !text.is_empty() {
            parts.push(format!("{key}: {{{text}}}"));
        }
    }
    if let Some(waiting) = broker.waiting_most {
        parts.push(format!("waiting: {waiting}"));
    }
    if let Some(patience_ns) = broker.patience_ns {
        parts.push(format!("patience: {}", duration(patience_ns)));
    }
    parts.push(format!("give-up: {}", duration(broker.deploy_most_ns)));
    parts.push(format!("idle: {}", duration(broker.idle_ns)));
    let mut steps = vec![format!("by: {}", deployment.copy.name())];
    if deployment.copy_bytes > 0 {
        steps.push(format!("copy: {}", size(u64::from(deployment.copy_bytes))));
    }
    steps.push(format!("setting: {}", duration(deployment.setting_ns)));
    steps.push(format!("boot: {}", deployment.boot_reads));
    steps.push(format!("configure: {}", deployment.configure_writes));
    steps.push(format!("outstanding: {}", deployment.outstanding));
    parts.push(format!("deploy: {{{}}}", steps.join(", ")));
    let io = |io: &Workload| {
        let mut lines = Vec::new();
        io_lines(io, &mut lines);
        let own = lines.into_iter().filter(|(key, _)| DESKTOP_IO.names().any(|name| name == *key));
        own.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ")
    };
    parts.push(format!(
        "session: {{length: {}, idle: {}%, requests: {}, log-on: {{{}}}, work: {{{}}}}}",
        duration(session.length_ns),
        session.idle_percent,
        session.log_on_requests,
        io(&session.log_on),
        io(&session.work)
    ));
    format!("{{{}}}", parts.join(", "))
}

/// What is limited of them.
fn resources_text(resources: &Resources) -> String {
    let Resources { cpus, memory_bytes, storage_bytes } = resources;
    let limited = |bytes: u64| (1..u64::MAX).contains(&bytes);
    let mut parts = Vec::new();
    if limited(*cpus) {
        parts.push(format!("cpus: {cpus}"));
    }
    if limited(*memory_bytes) {
        parts.push(format!("memory: {}", size(*memory_bytes)));
    }
    if limited(*storage_bytes) {
        parts.push(format!("storage: {}", size(*storage_bytes)));
    }
    parts.join(", ")
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
