//! A site as text: for each datastore its stack, what is between, and one device; each value with where it is from.
//!
//! From outside only sums can be measured: the device's times contain whatever is behind the stack, so the costs of a
//! server and the latency of a network are written as 0.

use std::fmt::Write;

use super::form::Form;
use super::parameter::{Known, Parameter, Source, StackCost};
use super::store::{Reached, Store};

/// The machine that measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Host {
    /// Cores that it may use.
    pub cores: u32,
    /// Clock of a core in hertz; `None`: not known.
    pub clock_hz: Option<f64>,
}

/// The clock that is written where it is not known: a cycle is then a nanosecond.
const UNKNOWN_CLOCK_HZ: f64 = 1e9;
/// More requests than were ever outstanding at once.
pub(crate) const SERVERS: u32 = 128;
/// The rates that network adapters have, in bits per second.
const RATES: [(f64, &str); 6] = [
    (1e9, "1GbE"),
    (10e9, "10GbE"),
    (25e9, "25GbE"),
    (40e9, "40GbE"),
    (100e9, "100GbE"),
    (400e9, "400GbE"),
];
/// The column of comments.
const COMMENTS: usize = 40;

impl Host {
    fn clock_hz(&self) -> f64 {
        self.clock_hz.unwrap_or(UNKNOWN_CLOCK_HZ)
    }
}

/// A datastore as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft<'a> {
    pub(crate) store: &'a Store,
    pub(crate) form: Form,
    /// In the order of [`Parameter::ALL`].
    pub(crate) device: [Known; 8],
    /// In the order of [`StackCost::ALL`].
    pub(crate) costs: [Known; 3],
    /// The highest rate that was measured, in bytes per second.
    pub(crate) most_bytes_per_s: f64,
}

impl Draft<'_> {
    /// The paths of the device's parameters, in the order of [`Parameter::ALL`].
    pub(crate) fn device_paths(&self) -> Vec<String> {
        let name = &self.store.name;
        Parameter::ALL.map(|one| format!("disk-groups.{name}.device.{}", one.key())).to_vec()
    }

    /// The paths of the stack's costs, in the order of [`StackCost::ALL`].
    pub(crate) fn cost_paths(&self) -> Vec<String> {
        let name = &self.store.name;
        StackCost::ALL.map(|one| format!("stacks.{name}.{}", one.key())).to_vec()
    }

    /// The slowest rate that adapters have and that is above what was measured.
    fn link(&self) -> (&'static str, &'static str) {
        if self.store.is_served_here() {
            return ("100Gb", "assumed: its server is on the machine that measured");
        }
        let enough = |(bits, _): &&(f64, &str)| bits / 8.0 > self.most_bytes_per_s;
        let (_, rate) = RATES.iter().find(enough).unwrap_or(&RATES[RATES.len() - 1]);
        (rate, "assumed: the slowest that carries what was measured")
    }
}

/// The text of a site with these datastores, without what is before its title.
pub(crate) fn text(host: &Host, drafts: &[Draft<'_>]) -> String {
    let mut text = Lines(String::new());
    text.line(0, "site: Measured datastores", "");
    text.line(0, "", "");
    hosts(&mut text, host, drafts);
    text.section("stacks");
    for draft in drafts {
        stack(&mut text, host, draft);
    }
    let served: Vec<&Draft<'_>> =
        drafts.iter().filter(|draft| draft.store.reached != Reached::Local).collect();
    if !served.is_empty() {
        text.section("networks");
        for draft in &served {
            let line = format!("{}: {{latency: 0us}}", draft.store.name);
            text.line(1, &line, "assumed: its latency is in the times of the device");
        }
    }
    text.section("disk-groups");
    for draft in drafts {
        device(&mut text, draft);
    }
    if !served.is_empty() {
        text.section("controllers");
        for draft in &served {
            controller(&mut text, host, draft);
        }
    }
    text.section("datastores");
    for draft in drafts {
        datastore(&mut text, draft);
    }
    text.section("fit");
    for draft in drafts {
        fit(&mut text, draft);
    }
    text.0
}

/// Lines with comments.
struct Lines(String);

impl Lines {
    fn line(&mut self, depth: usize, text: &str, comment: &str) {
        let text = format!("{:width$}{text}", "", width = 2 * depth);
        let _ = match comment {
            "" => writeln!(self.0, "{}", text.trim_end()),
            comment => writeln!(self.0, "{text:COMMENTS$} # {comment}"),
        };
    }

    fn section(&mut self, name: &str) {
        self.line(0, "", "");
        self.line(0, &format!("{name}:"), "");
    }
}

fn hosts(text: &mut Lines, host: &Host, drafts: &[Draft<'_>]) {
    text.line(0, "hosts:", "");
    text.line(1, "here:", "");
    text.line(2, &format!("cores: {}", host.cores), "of the machine that measured");
    let comment = match host.clock_hz {
        Some(_) => "of the machine that measured: the rate of its counter",
        None => "assumed: not known here, so that a cycle is a nanosecond",
    };
    text.line(2, &format!("clock: {}", clock(host)), comment);
    let served = drafts.iter().filter(|draft| draft.store.reached != Reached::Local);
    for (index, draft) in served.enumerate() {
        if index == 0 {
            text.line(2, "adapters:", "");
        }
        let (rate, comment) = draft.link();
        text.line(3, &format!("{}: {{rate: {rate}}}", draft.store.name), comment);
    }
}

fn clock(host: &Host) -> String {
    format!("{:.3}GHz", host.clock_hz() / 1e9)
}

fn stack(text: &mut Lines, host: &Host, draft: &Draft<'_>) {
    text.line(1, &format!("{}:", draft.store.name), &draft.store.url.replace(['\n', '\r'], " "));
    text.line(2, &format!("protocol: {}", draft.store.reached.protocol()), "");
    text.line(2, &format!("clock: {}", clock(host)), "at which these costs were measured");
    if draft.store.reached == Reached::Nfs {
        text.line(2, "transfer: 1MiB", "assumed: no request measured was split");
    }
    for (one, known) in StackCost::ALL.into_iter().zip(draft.costs) {
        text.line(2, &format!("{}: {}", one.key(), time(known.value_ns)), &comment(known));
    }
}

fn device(text: &mut Lines, draft: &Draft<'_>) {
    text.line(1, &format!("{}:", draft.store.name), "");
    text.line(2, "device:", "");
    text.line(3, "kind: queue", "all that is behind the stack, as one device");
    for (key, value) in draft.form.keys() {
        text.line(3, &format!("{key}: {value}"), "measured: the form that fits best");
    }
    let comment_of = "assumed: more than were ever outstanding";
    text.line(3, &format!("servers: {SERVERS}"), comment_of);
    for (one, known) in Parameter::ALL.into_iter().zip(draft.device) {
        text.line(3, &format!("{}: {}", one.key(), time(known.value_ns)), &comment(known));
    }
    match draft.store.volatile_cache {
        Some(true) => {
            text.line(
                3,
                "write-cache: yes",
                "as the storage reports; a flush takes a write's time: assumed",
            );
        }
        Some(false) => text.line(3, "write-cache: no", "as the storage reports"),
        None => {}
    }
}

fn controller(text: &mut Lines, host: &Host, draft: &Draft<'_>) {
    let name = &draft.store.name;
    let (rate, rate_comment) = draft.link();
    text.line(1, &format!("{name}:"), "");
    text.line(2, "cores: 1", "assumed, and without effect while its costs are 0");
    text.line(2, &format!("clock: {}", clock(host)), "assumed");
    text.line(2, &format!("ports: {{e0: {{rate: {rate}}}}}"), rate_comment);
    let costs = format!("costs: {{{}: {{per-read: 0 cycles}}}}", draft.store.reached.protocol());
    text.line(2, &costs, "assumed: they are in the times of the device");
    text.line(2, &format!("disks: {name}"), "");
}

fn datastore(text: &mut Lines, draft: &Draft<'_>) {
    let name = &draft.store.name;
    let line = match draft.store.reached {
        Reached::Local => format!("{name}: {{hosts: here, stack: {name}, disks: {name}}}"),
        Reached::Nfs | Reached::Iscsi => format!(
            "{name}: {{hosts: here, stack: {name}, adapter: {name}, networks: [{name}], controller: {name}, \
             port: e0}}"
        ),
    };
    text.line(1, &line, "");
}

fn fit(text: &mut Lines, draft: &Draft<'_>) {
    let bounds = Parameter::ALL.map(Parameter::bounds_ns);
    for (path, (from, to)) in draft.device_paths().iter().zip(bounds) {
        let line = format!("- {{parameter: {path}, from: {}, to: {}}}", time(from), time(to));
        text.line(1, &line, "");
    }
}

fn comment(known: Known) -> String {
    match known.by {
        Source::Measured { low_ns, high_ns } => {
            format!("measured: {} to {}", time(low_ns), time(high_ns))
        }
        Source::Undetermined => "not determined by these measurements".into(),
        Source::NotSeen => "measured: too little to be seen".into(),
        Source::Assumed => "assumed".into(),
    }
}

/// A time in the notation of site files, with the four digits that a fit can determine.
pub(crate) fn time(ns: f64) -> String {
    let (scale, unit) = match ns {
        ns if ns >= 1e6 => (1e6, "ms"),
        ns if ns >= 1e3 => (1e3, "us"),
        _ => (1.0, "ns"),
    };
    let value = ns / scale;
    if value == 0.0 || !value.is_finite() {
        return "0ns".into();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{unit}")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use stormeter_site::{Device, Target, parse_site, site_text};

    pub(crate) fn store(name: &str, reached: Reached) -> Store {
        Store {
            name: name.into(),
            url: format!("/{name}: a #{name}"),
            reached,
            volatile_cache: Some(false),
            memories: Vec::new(),
        }
    }

    pub(crate) fn draft(store: &Store) -> Draft<'_> {
        let known = |value_ns: f64| Known {
            value_ns,
            by: Source::Measured { low_ns: value_ns * 0.9, high_ns: value_ns * 1.1 },
        };
        Draft {
            store,
            form: Form::Bulk,
            device: [90e3, 110e3, 0.5, 0.7, 5e3, 8e3, 0.3, 0.4].map(known),
            costs: [4e3, 5e3, 0.02].map(known),
            most_bytes_per_s: 900e6,
        }
    }

    const HOST: Host = Host { cores: 8, clock_hz: Some(2.45e9) };

    #[test]
    fn a_local_datastore_is_a_disk_and_others_have_the_parts_on_the_way() {
        let stores = [
            store("disk", Reached::Local),
            store("nas", Reached::Nfs),
            store("san-1", Reached::Iscsi),
        ];
        let drafts: Vec<Draft<'_>> = stores.iter().map(draft).collect();
        let text = text(&HOST, &drafts);
        let file = parse_site(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let names: Vec<&str> = file.site.datastores.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["disk", "nas", "san-1"]);
        let targets: Vec<bool> = file
            .site
            .datastores
            .iter()
            .map(|one| matches!(one.target, Target::Controller { .. }))
            .collect();
        assert_eq!(targets, [false, true, true]);
        let Device::Queue(queue) = &file.site.groups[1].device else { panic!("{text}") };
        assert_eq!((queue.read_ns, queue.shared_per_write_ns), (90e3, 8e3));
        assert_eq!(queue.write_cache, Some(false));
        // 900 MB/s do not fit into a gigabit.
        assert_eq!(file.site.hosts[0].adapters[0].rate_bytes_per_s, 1.25e9);
        assert_eq!(file.fit.len(), 3 * 8);
        assert!(text.contains("# measured: 81us to 99us"), "{text}");
        assert!(site_text(&file).contains("san-1"));
    }

    #[test]
    fn a_server_on_this_machine_has_no_network_of_its_own() {
        use stormeter_trial::{Memory, MemoryPlace};
        let here = Memory { place: MemoryPlace::ServerHere, name: "127.0.0.1".into(), bytes: None };
        let store = Store { memories: vec![here], ..store("nas", Reached::Nfs) };
        let text = text(&Host { clock_hz: None, ..HOST }, &[draft(&store)]);
        let site = parse_site(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}")).site;
        assert_eq!(site.hosts[0].adapters[0].rate_bytes_per_s, 12.5e9);
        assert!(text.contains("clock: 1.000GHz"), "{text}");
    }

    #[test]
    fn times_have_four_digits() {
        for (ns, text) in [
            (0.0, "0ns"),
            (0.012345, "0.01235ns"),
            (12_345.0, "12.35us"),
            (100_000.0, "100us"),
            (2_500_000.0, "2.5ms"),
            (1e9, "1000ms"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
