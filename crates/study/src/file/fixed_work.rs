//! Reads fixed work: file tests, transfers, deployments.

use stormeter_trial::{
    Deployment, FileOperation, FileTest, Transfer, TransferDirection, TransferSink,
};

use super::keys;
use stormeter_yaml::Diagnostics;
use stormeter_yaml::{Node, Value};
use stormeter_yaml::{Section, choice};

/// iozone's default record size.
const RECORD_BYTES: u32 = 4096;

/// The file tests in a mapping, one per operation.
pub(super) fn file_tests(
    section: &Section<'_>,
    base: Option<&FileTest>,
    diagnostics: &mut Diagnostics,
) -> Vec<FileTest> {
    let record_bytes = section.request_size("record", diagnostics);
    if record_bytes.is_some_and(|bytes| bytes % 512 != 0) {
        diagnostics.error_at(
            section.place_of("record"),
            "a record is a multiple of 512 bytes, so that it can bypass the page cache; write \
             record: 4KiB",
        );
    }
    let outstanding = section.count("outstanding", 1, diagnostics);
    let client_cache = section.flag("client-cache", diagnostics);
    let flush_at_end = section.flag("flush-at-end", diagnostics);
    let operations = match (section.get("file-test"), base) {
        (Some(node), Some(_)) => {
            diagnostics.error_at(
                node.place,
                "the profile already says which file test; leave out file-test, or leave out \
                 profile and name the tests",
            );
            Vec::new()
        }
        (Some(node), None) => operations(node, diagnostics),
        (None, base) => base.iter().map(|base| base.operation).collect(),
    };
    let test = |operation| FileTest {
        operation,
        record_bytes: record_bytes.or(base.map(|b| b.record_bytes)).unwrap_or(RECORD_BYTES),
        outstanding: outstanding.or(base.map(|b| b.outstanding)).unwrap_or(1),
        client_cache: client_cache.or(base.map(|b| b.client_cache)).unwrap_or(false),
        flush_at_end: flush_at_end.or(base.map(|b| b.flush_at_end)).unwrap_or(false),
    };
    operations.into_iter().map(test).collect()
}

/// One operation, a list, or `all`.
fn operations(node: &Node, diagnostics: &mut Diagnostics) -> Vec<FileOperation> {
    let names = FileOperation::ALL.map(|operation| (operation.name(), operation));
    match &node.value {
        Value::Text(text) if text == "all" => FileOperation::ALL.into(),
        Value::List(items) if items.is_empty() => {
            diagnostics.error_at(
                node.place,
                "no file test is named; write file-test: [write, rewrite, read, reread] or all",
            );
            Vec::new()
        }
        Value::List(items) => {
            let mut found = Vec::new();
            for item in items {
                let Some(operation) = choice(item, "file-test", &names, diagnostics) else {
                    continue;
                };
                if found.contains(&operation) {
                    let name = operation.name();
                    diagnostics.error_at(
                        item.place,
                        format!("the file test {name} is there twice; keep one"),
                    );
                }
                found.push(operation);
            }
            found
        }
        _ => choice(node, "file-test", &names, diagnostics).into_iter().collect(),
    }
}

/// The transfer of a workload's mapping.
pub(super) fn transfer(
    workload: &Section<'_>,
    base: Option<&Transfer>,
    diagnostics: &mut Diagnostics,
) -> Option<Transfer> {
    let plain = Transfer {
        message_bytes: 100_000,
        direction: TransferDirection::Write,
        sink: TransferSink::Disk,
        messages: 100,
    };
    let mut transfer = base.copied().unwrap_or(plain);
    let Some(node) = workload.get("transfer") else { return Some(transfer) };
    let section = Section::open(node, "transfer", &keys::TRANSFER, diagnostics)?;
    transfer.message_bytes = section.size("size", diagnostics).unwrap_or(transfer.message_bytes);
    if transfer.message_bytes > MOST_MESSAGE_BYTES {
        diagnostics
            .error_at(section.place_of("size"), "a message is at most 1TiB; write size: 100MB");
    }
    let directions = [("write", TransferDirection::Write), ("read", TransferDirection::Read)];
    transfer.direction =
        section.choice("direction", &directions, diagnostics).unwrap_or(transfer.direction);
    let sinks = [("memory", TransferSink::Memory), ("disk", TransferSink::Disk)];
    transfer.sink = section.choice("sink", &sinks, diagnostics).unwrap_or(transfer.sink);
    transfer.messages = section.count("messages", 1, diagnostics).unwrap_or(transfer.messages);
    Some(transfer)
}

const MOST_MESSAGE_BYTES: u64 = 1 << 40;

/// The deployment of a workload's mapping.
pub(super) fn deployment(
    workload: &Section<'_>,
    base: Option<&Deployment>,
    diagnostics: &mut Diagnostics,
) -> Option<Deployment> {
    let mut deployment = base.copied().unwrap_or(crate::profile::DEPLOYMENT);
    let Some(node) = workload.get("deploy") else { return Some(deployment) };
    let section = Section::open(node, "deploy", &keys::DEPLOY, diagnostics)?;
    deployment.copy_bytes =
        section.request_size("copy", diagnostics).unwrap_or(deployment.copy_bytes);
    if deployment.copy_bytes % 4096 != 0 {
        diagnostics
            .error_at(section.place_of("copy"), "copy is a multiple of 4KiB; write copy: 1MiB");
    }
    deployment.clone = section.flag("clone", diagnostics).unwrap_or(deployment.clone);
    if deployment.clone && section.get("copy").is_some() {
        diagnostics.error_at(
            section.place_of("copy"),
            "a disk that the storage clones is not copied; leave copy or clone out, or make two workloads of it",
        );
    }
    if deployment.clone {
        deployment.copy_bytes = 0;
    }
    let count = |key, diagnostics: &mut Diagnostics| section.count(key, 0, diagnostics);
    deployment.customise_writes =
        count("customise", diagnostics).unwrap_or(deployment.customise_writes);
    deployment.boot_reads = count("boot", diagnostics).unwrap_or(deployment.boot_reads);
    deployment.outstanding =
        section.count("outstanding", 1, diagnostics).unwrap_or(deployment.outstanding);
    Some(deployment)
}
