//! Phrases that the text and the page of a study share: replies, estimates, power, the plan.

use stormeter_statistics::{Answer, AnswerEstimate, CeilingKind, Interval, PowerStatement, Reply};
use stormeter_study::{Blocks, Metric, Order, Prepare, Reset, StudyPlan, Unit, WorkloadKind};
use stormeter_trial::{DesktopLoad, FtpDirection, TransferDirection, TransferSink};
use stormeter_units::{format_bytes, format_count, format_duration_ns};

use crate::change;
use crate::model::{Report, WorkloadCeiling};
use crate::phrases;
use crate::quantity::{level_percent, percent};
use crate::text::plain;
use crate::title::Titles;
use crate::wording::{self, is_in_the_network, plural};

/// A reply in a word or two.
pub(crate) fn reply(reply: Reply) -> &'static str {
    match reply {
        Reply::Yes => "yes",
        Reply::No => "no",
        Reply::Inconclusive => "inconclusive",
        Reply::NotAnswered => "not answered",
    }
}

/// The class that carries a reply's colour.
pub(crate) fn class_of(reply: Reply) -> &'static str {
    match reply {
        Reply::Yes => "yes",
        Reply::No => "no",
        Reply::Inconclusive => "inconclusive",
        Reply::NotAnswered => "unanswered",
    }
}

/// The word for an answer: its reply, or that the model does not tell.
pub(crate) fn shown_reply(report: &Report, answer: &Answer) -> &'static str {
    match phrases::is_told(&report.header, answer) {
        true => reply(answer.reply),
        false => NOT_TOLD,
    }
}

/// An answer that changes within the error of a model.
const NOT_TOLD: &str = "not told apart";

/// The reply by which an answer is marked: that of one which a model does not tell is open.
pub(crate) fn marked_reply(report: &Report, answer: &Answer) -> Reply {
    match phrases::is_told(&report.header, answer) {
        true => answer.reply,
        false => Reply::Inconclusive,
    }
}

/// How the figures of a study were obtained.
pub(crate) fn measured(report: &Report) -> &'static str {
    if is_predicted(report) { "predicted" } else { "measured" }
}

/// Whether the figures come from a model.
pub(crate) fn is_predicted(report: &Report) -> bool {
    report.header.prediction.is_some()
}

/// Whether a question was tested; one that was not answered was not.
pub(crate) fn has_test(answer: &Answer) -> bool {
    answer.test.is_some()
}

/// The number of questions with each reply: `4 questions: 2 yes, 1 no, 1 inconclusive.`
pub(crate) fn tally(report: &Report) -> String {
    let answers = &report.analysis.answers;
    if answers.is_empty() {
        let done = measured(report);
        return format!("No question was asked; the matrix shows what was {done}.");
    }
    let words = [Reply::Yes, Reply::No, Reply::Inconclusive, Reply::NotAnswered].map(reply);
    let each: Vec<String> = words
        .into_iter()
        .chain([NOT_TOLD])
        .map(|word| (answers.iter().filter(|a| shown_reply(report, a) == word).count(), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let musts = answers.iter().filter(|a| a.must && a.reply == Reply::No).count();
    let musts = match musts {
        0 => String::new(),
        1 => "; one that must hold does not".into(),
        count => format!("; {count} that must hold do not"),
    };
    format!("{}: {}{musts}.", plural(answers.len() as u64, "question"), each.join(", "))
}

/// The notation of an answer's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// As a change from the baseline.
    Ratio,
    /// In a metric's unit.
    Of(Metric, Titles),
}

impl Scale {
    /// The notation of an answer's estimate and parts.
    pub(crate) fn of(answer: &Answer, titles: Titles) -> Self {
        answer.unit().map_or(Scale::Ratio, |metric| Scale::Of(metric, titles))
    }

    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Scale::Ratio => plain(&change::show(value)),
            Scale::Of(metric, titles) => titles.alone(metric, value).to_string(),
        }
    }

    /// A round value at an axis: `−40 %`, `0.5 times` on a logarithmic one, `0`.
    pub(crate) fn tick(self, value: f64, is_log: bool) -> String {
        match self {
            Scale::Ratio => change::tick(value, is_log),
            _ if value == 0.0 => "0".into(),
            Scale::Of(metric, titles) => titles.tick(metric, value),
        }
    }

    /// The interval of a value: `−24.8 to −22.0 %`.
    pub(crate) fn range(self, value: f64, interval: &Interval) -> String {
        match self {
            Scale::Ratio => plain(&change::range(value, interval)),
            Scale::Of(..) => format!("{} to {}", self.show(interval.low), self.show(interval.high)),
        }
    }
}

/// `nas / local, IOPS: −23.4 % (95 % CI −24.8 to −22.0 %)`.
pub(crate) fn estimate(answer: &Answer, estimate: &AnswerEstimate, titles: Titles) -> String {
    let scale = Scale::of(answer, titles);
    let interval = estimate.interval.map(|interval| {
        format!(
            " ({} % CI {})",
            level_percent(estimate.level),
            scale.range(estimate.value, &interval)
        )
    });
    let value = scale.show(estimate.value);
    format!("{}: {value}{}", phrases::estimated(answer, titles), interval.unwrap_or_default())
}

/// `p = 0.0031`, `p < 0.0001`.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if !p.is_finite() => "p unknown".into(),
        p if p < 0.0001 => "p < 0.0001".into(),
        p if p < 0.1 => format!("p = {p:.4}"),
        p => format!("p = {p:.2}"),
    }
}

/// A p-value below the head of its column: `0.0031`, `< 0.0001`.
pub(crate) fn bare_p(p: f64) -> String {
    match p {
        p if !p.is_finite() => "–".into(),
        p if p < 0.0001 => "< 0.0001".into(),
        p if p < 0.1 => format!("{p:.4}"),
        p => format!("{p:.2}"),
    }
}

/// How far the study got; the seconds of a prediction are virtual.
pub(crate) fn status(report: &Report) -> String {
    wording::status_in(&report.status, if is_predicted(report) { " of virtual time" } else { "" })
}

/// The p-value when all questions of the study are one family: `p = 0.034 among all questions (Holm)`.
pub(crate) fn p_of_all(p: f64) -> String {
    format!("{} among all questions (Holm)", p_value(p))
}

/// A number of four digits: `1234`, `12.34`, `0.001234`, `1.234e-7`; `–` when it is not finite.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".into();
    }
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e12).contains(&size) {
        return format!("{value:.3e}");
    }
    if size >= 1000.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", format_count(size));
    }
    let before = size.log10().floor() as i32;
    let digits = (3 - before).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// Which differences the study can detect, in a sentence or two.
pub(crate) fn power(plan: &StudyPlan, power: &PowerStatement) -> String {
    let percent_of = |value: f64| crate::quantity::decimals(value * 100.0);
    let margin = percent(plan.design.margin);
    let blocks = plural(u64::from(power.blocks), "block");
    let enough = match power.blocks_for_margin {
        Some(needed) if needed <= power.blocks => {
            format!(" Detecting the margin ({margin} %) takes {}.", plural(needed.into(), "block"))
        }
        Some(needed) => format!(
            " Detecting the margin ({margin} %) takes about {}. \"Inconclusive\" therefore does not \
             mean \"equal\".",
            plural(needed.into(), "block")
        ),
        None => format!(" No practical number of blocks would detect the margin of {margin} %."),
    };
    format!(
        "Sensitivity: with {blocks} (SD of ratios {} %), differences above {} % are detected with \
         80 % power.{enough}",
        percent_of(power.log_ratio_sd),
        percent_of(power.detectable),
    )
}

/// A workload in a line.
pub(crate) fn workload(kind: &WorkloadKind) -> String {
    match kind {
        WorkloadKind::Io(workload) => wording::workload(workload),
        WorkloadKind::File(file) => {
            let cache = if file.client_cache { ", through the client's cache" } else { "" };
            let flushed = if file.flush_at_end { ", flushed at the end" } else { "" };
            format!(
                "one pass over a file ({}), records of {}, {} outstanding{cache}{flushed}",
                file.operation.name(),
                format_bytes(file.record_bytes.into()),
                file.outstanding
            )
        }
        WorkloadKind::Transfer(transfer) => {
            let way = match transfer.direction {
                TransferDirection::Write => "to a server",
                TransferDirection::Read => "from a server",
            };
            let sink = match transfer.sink {
                TransferSink::Memory => "its memory",
                TransferSink::Disk => "its virtual disk",
            };
            format!(
                "{} of {} {way}, {sink}",
                plural(transfer.messages.into(), "message"),
                format_bytes(transfer.message_bytes)
            )
        }
        WorkloadKind::Deploy(deploy) => format!(
            "a VM deployed from a template: {}, {} to customise it, {} to boot",
            match deploy.clone {
                true => format!("cloned by the storage, then, {} outstanding", deploy.outstanding),
                false => format!(
                    "copied in pieces of {} ({} outstanding)",
                    format_bytes(deploy.copy_bytes.into()),
                    deploy.outstanding
                ),
            },
            plural(deploy.customise_writes.into(), "random write"),
            plural(deploy.boot_reads.into(), "random read")
        ),
        WorkloadKind::Ftp(ftp) => {
            let way = match ftp.direction {
                FtpDirection::Upload => "uploads",
                FtpDirection::Download => "downloads",
            };
            format!(
                "FTP {way} of {} ({} in turn by each session){}",
                format_bytes(ftp.file_bytes),
                plural(ftp.files.into(), "file"),
                pauses(ftp.pause_ns)
            )
        }
        WorkloadKind::Vnc(vnc) => {
            let area = vnc.keys_at.map(|area| format!(" in {area}")).unwrap_or_default();
            format!(
                "VNC viewers: keys until their picture{area}{}, {} a second",
                pauses(vnc.pause_ns),
                plural(vnc.pointer_per_s.into(), "movement of the pointer")
            )
        }
        WorkloadKind::Desktops(load) => desktops(load),
    }
}

/// Who comes, what is kept ready, and what a user does.
fn desktops(load: &DesktopLoad) -> String {
    let DesktopLoad { arrivals_per_s, users, class, broker, deployment, session } = load;
    let duration = |ns: u64| format_duration_ns(ns as f64);
    let mut who = Vec::new();
    if *arrivals_per_s > 0.0 {
        let most = users.map(|users| format!(", {users} in all")).unwrap_or_default();
        let an_hour = format!("{:.1}", arrivals_per_s * 3600.0);
        let an_hour = an_hour.strip_suffix(".0").unwrap_or(&an_hour);
        who.push(format!("users come one by one, {an_hour} an hour{most}"));
    }
    if let Some(class) = class {
        let when = match class.at_ns {
            0 => "from the start".into(),
            at_ns => format!("after {}", duration(at_ns)),
        };
        who.push(format!("{} at once {when}", plural(class.users.into(), "user")));
    }
    let pool = match broker.pool {
        0 => "no desktop is kept ready".into(),
        pool => format!("{} kept ready", plural(pool.into(), "desktop")),
    };
    format!(
        "desktops on demand: {}; {pool}; made by a {} copy, {} to boot, {} to configure; sessions of {} on average",
        who.join(" and "),
        deployment.copy.name(),
        plural(deployment.boot_reads.into(), "random read"),
        plural(deployment.configure_writes.into(), "random write"),
        duration(session.length_ns)
    )
}

/// The pauses of sessions, after a comma; empty without any.
fn pauses(pause_ns: u64) -> String {
    match pause_ns {
        0 => String::new(),
        ns => format!(", pauses of {} on average", format_duration_ns(ns as f64)),
    }
}

/// Blocks, order, reset and time limit in sentences.
pub(crate) fn design(plan: &StudyPlan) -> String {
    let design = &plan.design;
    let blocks = match design.blocks {
        Blocks::Fixed(blocks) => {
            format!("{}, each with every cell once", plural(blocks.into(), "block"))
        }
        Blocks::Auto { min, max } => format!(
            "{min} to {max} blocks, each with every cell once, until the {} % interval of each ratio \
             is ±{} %",
            level_percent(plan.level_of_ratios()),
            percent(design.precision)
        ),
    };
    let order = match design.order {
        Order::Randomized => "in random order",
        Order::Abba => "in the order written and then backwards, in turn",
        Order::AsWritten => "in the order written, every block the same",
    };
    let limit = match design.time_limit_ns {
        Some(ns) => format!(", at most {}", format_duration_ns(ns as f64)),
        None => String::new(),
    };
    format!("{blocks}, {order}{limit}")
}

/// The reset of the disks before a trial.
pub(crate) fn reset(reset: &Reset) -> String {
    match reset {
        Reset::None => "nothing: each trial finds what the one before left".into(),
        Reset::Recreate => "the disks are removed, made and written again".into(),
        Reset::Discard => "the content is discarded and written again".into(),
        Reset::Snapshot => {
            "the storage is rolled back to a snapshot, taken when the disks had been written".into()
        }
        Reset::Command(command) => format!("a command: {command}"),
    }
}

/// The plan as names and sentences.
pub(crate) fn plan(report: &Report) -> Vec<(&'static str, String)> {
    let plan = report.plan();
    let ns = |ns: u64| format_duration_ns(ns as f64);
    let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let names: Vec<&str> = plan.datastores.iter().map(|d| d.name.as_str()).collect();
    let mut rows =
        vec![("Datastores", format!("{} (baseline {})", names.join(", "), baseline(plan)))];
    for workload in &plan.workloads {
        let own = workload.disk_bytes.map(|b| format!("; disks of {}", format_bytes(b)));
        let what = self::workload(&workload.kind);
        rows.push(("Workload", format!("{}: {what}{}", workload.name, own.unwrap_or_default())));
    }
    let outstanding = match plan.outstanding.as_slice() {
        [] => "outstanding I/Os as each workload says".to_string(),
        levels => {
            format!("{} outstanding I/Os per VM where the load is a closed loop", list(levels))
        }
    };
    let threads = match plan.threads {
        0 => "one driving thread a CPU, but no more than VMs".to_string(),
        threads => plural(threads.into(), "driving thread"),
    };
    rows.push((
        "Load",
        match plan.is_of_desktops() {
            true => format!("{} places for desktops", list(&plan.vms)),
            false => format!("{} VMs; {outstanding}; {threads}", list(&plan.vms)),
        },
    ));
    let prepare = match plan.prepare {
        Prepare::Random => "written once with what the workloads write",
        Prepare::Zero => "written once with zeros",
    };
    rows.push(("Disks", format!("{} each, {prepare}", format_bytes(plan.disk_bytes))));
    rows.push((
        "Trial",
        format!(
            "{} {} after a ramp of {}, a row every {}; trials of fixed work end when it is done",
            ns(plan.timing.duration_ns),
            measured(report),
            ns(plan.timing.ramp_ns),
            ns(plan.timing.interval_ns)
        ),
    ));
    rows.push(("Blocks", design(plan)));
    rows.push(("Before each trial", reset(&plan.design.reset)));
    rows.push((
        "Observation",
        match plan.design.unit {
            Unit::Trial => "a trial; trials are independent".into(),
            Unit::Interval => {
                "an interval of a trial; intervals of one run depend on one another, and \
                               the tables say by how much"
                    .into()
            }
        },
    ));
    let level = level_percent(plan.design.level);
    let of_ratios = level_percent(plan.level_of_ratios());
    let shared = match of_ratios == level {
        true => String::new(),
        false => format!(" (of ratios {of_ratios} %: the candidates of a load share the error)"),
    };
    rows.push((
        "Conclusions",
        format!(
            "intervals at {level} %{shared}; differences within {} % are called equivalent; carried by {} where a \
             question names no metric",
            percent(plan.design.margin),
            Titles::of_study(plan).of(plan.design.metric)
        ),
    ));
    if plan.verify {
        rows.push(("Verified", "every read was checked against what was written".into()));
    }
    rows.push(("Seed", format!("{}: orders, offsets and contents follow from it", plan.seed)));
    if is_open_loop(report) {
        rows.push(("Times", crate::wording::OPEN_LOOP_TIMES.into()));
    }
    rows.extend(durability(report).map(|sentences| ("Flushes", sentences)));
    rows.extend(ceilings(report).map(|sentence| ("Ceiling", sentence)));
    rows
}

/// Whether at least one load was an open loop, whose latencies and service times differ.
pub(crate) fn is_open_loop(report: &Report) -> bool {
    report.analysis.cells.iter().any(|cell| cell.issue.is_some())
}

/// What flushes and durable writes are part of, if there are any.
pub(crate) fn durability(report: &Report) -> Option<String> {
    let values = || report.analysis.cells.iter().flat_map(|cell| &cell.values);
    crate::durability::durability(|metric| values().any(|value| value.metric == metric))
}

/// The name of the baseline.
pub(crate) fn baseline(plan: &StudyPlan) -> &str {
    plan.datastores.get(plan.baseline).map_or("?", |datastore| datastore.name.as_str())
}

/// The ceilings, a sentence each. Where every datastore has the ceiling of its own path, that of the generator
/// limits none of them and is left out.
pub(crate) fn ceilings(report: &Report) -> impl Iterator<Item = String> {
    let datastores = report.plan().datastores.len();
    let has_own = move |workload: usize, datastore: usize| {
        let mut others = report.ceilings.iter();
        others.any(|it| it.workload == workload && it.datastore == Some(datastore))
    };
    let says_something = move |of: &&WorkloadCeiling| {
        let mut all = 0..datastores;
        of.kind != CeilingKind::Generator || all.any(|it| !has_own(of.workload, it))
    };
    let is_far = move |of: &WorkloadCeiling| {
        let mut all = report.header.datastores.iter().enumerate();
        all.any(|(datastore, it)| is_in_the_network(it) && !has_own(of.workload, datastore))
    };
    report.ceilings.iter().filter(says_something).map(move |of| {
        let lacks = of.kind == CeilingKind::Generator && is_far(of);
        let lacks = if lacks { "; the client and the network stack are not in that" } else { "" };
        format!("{}{lacks}", ceiling(report.plan(), of))
    })
}

/// The ceiling with a workload, in a sentence.
fn ceiling(plan: &StudyPlan, ceiling: &WorkloadCeiling) -> String {
    let name = plan.workloads.get(ceiling.workload).map_or("?", |w| w.name.as_str());
    let times =
        ceiling.times_measured.map(|times| format!(", {times:.1} times the highest measured"));
    let whose = match ceiling.datastore.and_then(|datastore| plan.datastores.get(datastore)) {
        Some(datastore) => format!("the path to {} alone", datastore.name),
        None => "the load generator alone".into(),
    };
    let through = match ceiling.kind {
        CeilingKind::NullServer => {
            "; through the same client with a server that answers from nothing, which shared this machine's \
             CPUs, so it may reach more"
        }
        CeilingKind::Generator | CeilingKind::NamedWay => "",
    };
    format!(
        "{name}: {whose} reaches {} IOPS{}{through}",
        format_count(ceiling.iops),
        times.unwrap_or_default()
    )
}

/// Which direction of a metric is better.
pub(crate) fn better(metric: Metric) -> &'static str {
    if metric.higher_is_better() { "more is better" } else { "less is better" }
}

/// What to know of all figures of a metric: which direction is better and, of a model, how far off they may be.
pub(crate) fn about(report: &Report, metric: Metric) -> String {
    let errors = report.header.prediction.iter().flat_map(|it| &it.model_errors);
    let factor = errors.map(|error| phrases::of_metric(error, metric)).reduce(f64::max);
    match factor {
        Some(factor) => format!("{}; model error {}", better(metric), phrases::band(factor)),
        None => better(metric).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_at_every_size() {
        let shown = [0.0, 0.00123456, 1.5, 12.3456, 999.96, 128_431.4, -5_000.0, 3.2e-9, f64::NAN]
            .map(number);
        let expected =
            ["0", "0.001235", "1.5", "12.35", "1000", "128 431", "-5 000", "3.200e-9", "–"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn p_values_do_not_pretend_to_be_zero() {
        assert_eq!([1e-12, 0.00312, 0.4].map(p_value), ["p < 0.0001", "p = 0.0031", "p = 0.40"]);
    }
}
