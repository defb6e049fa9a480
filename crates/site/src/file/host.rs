//! Reads `hosts` with their adapters, `stacks` and costs.

use stormeter_yaml::{Diagnostics, Node, Place};

use super::keys;
use super::like::get;
use super::limits;
use super::part::{Part, entries};
use super::value::{self, At};
use crate::model::{
    Adapter, Aggregation, Coalescing, Cost, HostGroup, PageCache, PortKind, Protocol,
    ProtocolOptions, Stack,
};

/// A group of hosts.
pub(super) fn host(
    name: &str,
    place: Place,
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> HostGroup {
    let mut host = HostGroup {
        name: name.into(),
        count: 1,
        cores: 1,
        clock_hz: 1e9,
        vms_per_host: None,
        vm_path_cycles: 0.0,
        page_cache: None,
        adapters: Vec::new(),
    };
    let title = format!("host group {name}");
    let Some(part) = Part::open(node, place, title, &keys::HOST, diagnostics) else { return host };
    host.count = part.get("count", value::count, diagnostics).unwrap_or(host.count);
    host.cores = part.need("cores", value::count, diagnostics).unwrap_or(host.cores);
    host.clock_hz = part.need("clock", value::clock, diagnostics).unwrap_or(host.clock_hz);
    host.vms_per_host = part.get("vms-per-host", value::count, diagnostics);
    if let Some(at) = part.at("vm-path") {
        host.vm_path_cycles = value::cost(at, Some(host.clock_hz), diagnostics).unwrap_or(0.0);
    }
    if let Some(node) = part.node("page-cache") {
        host.page_cache = page_cache(&part.name, node, diagnostics);
    }
    host.adapters = adapters(&part, "adapters", "adapter", diagnostics);
    limits::hosts(&part, &host, diagnostics);
    host
}

/// Linux's vm.dirty_ratio.
const DIRTY_SHARE: f64 = 0.2;
/// The largest request that Linux makes of a disk which names no limit: BLK_DEF_MAX_SECTORS_CAP, 1280 KiB, in whole MiB.
const REQUEST_BYTES: u32 = 1 << 20;
/// The queue depth of a SCSI disk.
const OUTSTANDING: u32 = 32;
/// Of a core for each read and write of 4 KiB, less the copy: docs/simulator.md, measured.
const PER_READ_NS: f64 = 1.5e3;
const PER_WRITE_NS: f64 = 10e3;
/// One thread that copies.
const COPY_BYTES_PER_S: f64 = 5e9;

fn page_cache(owner: &str, node: &Node, diagnostics: &mut Diagnostics) -> Option<PageCache> {
    let title = format!("page-cache of {owner}");
    let part = Part::open(node, node.place, title, &keys::PAGE_CACHE, diagnostics)?;
    Some(PageCache {
        memory_bytes: part.need("memory", value::some_size, diagnostics)?,
        dirty_share: part.get("dirty", value::share, diagnostics).unwrap_or(DIRTY_SHARE),
        request_bytes: part.get("request", value::unit_size, diagnostics).unwrap_or(REQUEST_BYTES),
        outstanding: part.get("outstanding", value::count, diagnostics).unwrap_or(OUTSTANDING),
        per_read_ns: part.get("per-read", value::duration, diagnostics).unwrap_or(PER_READ_NS),
        per_write_ns: part.get("per-write", value::duration, diagnostics).unwrap_or(PER_WRITE_NS),
        copy_bytes_per_s: part.get("copy", value::rate, diagnostics).unwrap_or(COPY_BYTES_PER_S),
    })
}

/// Reads the adapters or ports of a host or controller.
pub(super) fn adapters(
    part: &Part<'_>,
    key: &'static str,
    kind: &str,
    diagnostics: &mut Diagnostics,
) -> Vec<Adapter> {
    let entries = entries(part.node(key), kind, "nic: {rate: 1GbE, count: 2}", diagnostics);
    entries
        .into_iter()
        .map(|(name, place, node)| {
            let title = format!("{kind} {name} of {}", part.name);
            adapter(name, place, node, (&title, key == "ports"), diagnostics)
        })
        .collect()
}

fn adapter(
    name: &str,
    place: Place,
    node: &Node,
    (title, of_controller): (&str, bool),
    diagnostics: &mut Diagnostics,
) -> Adapter {
    let mut adapter = Adapter {
        name: name.into(),
        kind: PortKind::Ethernet { mtu_bytes: 1500 },
        rate_bytes_per_s: 1.0,
        count: 1,
        aggregation: Aggregation::ActiveBackup,
        latency_ns: 0.0,
        coalescing: Coalescing::default(),
    };
    let Some(part) = Part::open(node, place, title, &keys::ADAPTER, diagnostics) else {
        return adapter;
    };
    let rate = part.need("rate", value::rate, diagnostics);
    adapter.rate_bytes_per_s = rate.unwrap_or(adapter.rate_bytes_per_s);
    let is_fibre_channel = is_fibre_channel(node);
    let mtu = part.get("mtu", value::mtu, diagnostics);
    let credits = part.get("credits", value::short_count, diagnostics);
    if is_fibre_channel {
        adapter.kind = PortKind::FibreChannel { credits: credits.unwrap_or(CREDITS) };
    } else {
        adapter.kind = PortKind::Ethernet { mtu_bytes: mtu.unwrap_or(1500) };
    }
    if rate.is_some() && is_fibre_channel && part.node("mtu").is_some() {
        diagnostics.error_at(
            part.place_of("mtu"),
            format!("{title} is Fibre Channel, whose frames have one size; take mtu out"),
        );
    }
    if rate.is_some() && !is_fibre_channel && part.node("credits").is_some() {
        diagnostics.error_at(
            part.place_of("credits"),
            format!(
                "{title} is Ethernet, which has no buffer credits; take credits out, or write a \
                 rate such as 4GFC for Fibre Channel"
            ),
        );
    }
    adapter.count = part.get("count", value::short_count, diagnostics).unwrap_or(1);
    adapter.latency_ns = part.get("latency", value::latency, diagnostics).unwrap_or(0.0);
    adapter.coalescing = Coalescing {
        bytes: part.get("coalesce", value::unit_size, diagnostics).unwrap_or(0),
        moderation_ns: part.get("moderation", value::latency, diagnostics).unwrap_or(0.0),
    };
    for key in ["coalesce", "moderation"] {
        if rate.is_some() && is_fibre_channel && part.node(key).is_some() {
            diagnostics.error_at(
                part.place_of(key),
                format!(
                    "{title} is Fibre Channel, whose adapters take whole sequences from the CPU; take \
                     {key} out"
                ),
            );
        }
    }
    let ways = [
        ("active-backup", Aggregation::ActiveBackup),
        ("hash", Aggregation::Hash),
        ("round-robin", Aggregation::RoundRobin),
        ("by-host", Aggregation::ByHost),
    ];
    adapter.aggregation =
        part.choice("aggregation", &ways, diagnostics).unwrap_or(Aggregation::ActiveBackup);
    if adapter.aggregation == Aggregation::ByHost && !of_controller {
        diagnostics.error_at(
            part.place_of("aggregation"),
            format!(
                "{title} is a host's, and by-host deals hosts to the ports of a controller; write it \
                 there, and active-backup, hash or round-robin here"
            ),
        );
    }
    adapter
}

/// Default buffer credits: frames of 2 KiB at 4 Gb/s take 5 us, so these span some kilometres.
pub(super) const CREDITS: u32 = 16;

/// Whether an adapter is Fibre Channel: judged by its rate, or, if that is given in bytes, by its
/// credits.
pub(super) fn is_fibre_channel(adapter: &Node) -> bool {
    let rate = get(adapter, "rate").and_then(Node::text).unwrap_or_default().trim();
    rate.ends_with("GFC") || rate.ends_with("B/s") && get(adapter, "credits").is_some()
}

/// The protocols by name.
pub(super) fn protocols() -> [(&'static str, Protocol); 4] {
    Protocol::ALL.map(|protocol| (protocol.name(), protocol))
}

/// Reads the stack of an initiator.
pub(super) fn stack(name: &str, place: Place, node: &Node, diagnostics: &mut Diagnostics) -> Stack {
    let mut stack = Stack {
        name: name.into(),
        protocol: Protocol::Local,
        cost: Cost::default(),
        path_switch_cycles: 0.0,
        options: ProtocolOptions::default(),
    };
    let title = format!("stack {name}");
    let Some(part) = Part::open(node, place, title, &keys::STACK, diagnostics) else {
        return stack;
    };
    let before = diagnostics.count();
    part.needed("protocol", diagnostics);
    stack.protocol = part.choice("protocol", &protocols(), diagnostics).unwrap_or(Protocol::Local);
    if diagnostics.count() == before {
        check_options(&part, stack.protocol, diagnostics);
    }
    stack.cost = cost(&part, diagnostics);
    let clock_hz = part.get("clock", value::clock, diagnostics);
    if let Some(at) = part.at("path-switch") {
        stack.path_switch_cycles = value::cost(at, clock_hz, diagnostics).unwrap_or(0.0);
    }
    let options = &mut stack.options;
    let mut flag = |key, into: &mut bool| {
        *into = part.get(key, value::flag, diagnostics).unwrap_or(*into);
    };
    flag("initial-r2t", &mut options.initial_r2t);
    flag("immediate-data", &mut options.immediate_data);
    flag("header-digest", &mut options.header_digest);
    flag("data-digest", &mut options.data_digest);
    let mut size = |key, into: &mut u32| {
        *into = part.get(key, value::unit_size, diagnostics).unwrap_or(*into);
    };
    size("first-burst", &mut options.first_burst_bytes);
    size("max-burst", &mut options.max_burst_bytes);
    size("segment", &mut options.segment_bytes);
    size("transfer", &mut options.transfer_bytes);
    options.unstable_writes = part
        .choice("sync", &[("file", false), ("unstable", true)], diagnostics)
        .unwrap_or(options.unstable_writes);
    if options.first_burst_bytes > options.max_burst_bytes && diagnostics.count() == before {
        let key = if part.node("first-burst").is_some() { "first-burst" } else { "max-burst" };
        diagnostics.error_at(
            part.place_of(key),
            "first-burst is more than max-burst, which RFC 7143 (13.14) forbids; make max-burst \
             as large",
        );
    }
    stack
}

/// Rejects options that the protocol does not have.
fn check_options(part: &Part<'_>, protocol: Protocol, diagnostics: &mut Diagnostics) {
    const ISCSI: [&str; 7] = [
        "initial-r2t",
        "immediate-data",
        "first-burst",
        "max-burst",
        "segment",
        "header-digest",
        "data-digest",
    ];
    const NFS: [&str; 2] = ["transfer", "sync"];
    let of = |key: &str| if NFS.contains(&key) { Protocol::Nfs } else { Protocol::Iscsi };
    for key in ISCSI.into_iter().chain(NFS) {
        if part.node(key).is_some() && of(key) != protocol {
            diagnostics.error_at(
                part.place_of(key),
                format!(
                    "{} speaks {}, and {key} applies to {} only; remove it",
                    part.name,
                    protocol.name(),
                    of(key).name()
                ),
            );
        }
    }
}

/// Reads the costs among the keys of a mapping; a missing one is 0, but a request with a cost must
/// cost something.
pub(super) fn cost(part: &Part<'_>, diagnostics: &mut Diagnostics) -> Cost {
    let clock_hz = part.get("clock", value::clock, &mut Diagnostics::default());
    let mut read = |key: &'static str| {
        let at: Option<At<'_, '_>> = part.at(key);
        at.and_then(|at| value::cost(at, clock_hz, diagnostics)).unwrap_or(0.0)
    };
    Cost {
        per_read_cycles: read("per-read"),
        per_write_cycles: read("per-write"),
        per_byte_cycles: read("per-byte"),
        per_packet_cycles: read("per-packet"),
        per_batch_cycles: read("per-batch"),
    }
}
