//! A study's report from what its results file holds and what the statistics concluded.
//!
//! This only arranges: every figure is the one that was concluded. Series over time are thinned to plain means,
//! and the caption says so.

use std::collections::HashSet;

use stormeter_results::{
    AssumedEffect, Elasticity, Event, FinishReason, Header, HostShare, Incident, OtherValue, Phase,
    TrialOutcome, TrialRecord,
};
use stormeter_statistics::bottleneck::Seen;
use stormeter_statistics::guests::GuestSummary;
use stormeter_statistics::{Analysis, Answer, Fact, LawFinding, MeasuredCeiling, metrics, monitor};
use stormeter_study::Cell;
use stormeter_trial::{ComponentUse, CpuUsage, MonitorRow, Sample, TrialNote};

use crate::full::{
    assumed_answers, cell_name, desktop_traces, desktops, disturbed, guest_traces, guests, hosts,
};
use crate::incidents::incidents_of;
use crate::label::datastore_labels;
use crate::model::{
    Disturbed, Finding, MonitorAverage, Report, SeriesPoint, Severity, Status, TrialTrace,
    WorkloadCeiling,
};
use crate::noted::{Noted, each_once};
use crate::phrases::{self, Remedies, SettingNames};
use crate::reasons::reasons;
use crate::seen::seen;
use crate::settling::settling;
use crate::simulated::without_intervals;
use crate::title::Titles;
use crate::wording::plural;

/// Length of the means in charts over the whole study, as the `mpls-servers` study (2012) shows CPU and
/// network.
pub(crate) const AVERAGE_NS: u64 = 20_000_000_000;
/// Points kept of a cell's representative trial, and of each other trial.
const MOST_POINTS: usize = 120;
const OTHER_POINTS: usize = 30;
/// Points kept of all representative trials together in a study with many cells: more are not looked at, and
/// the page has to stay small.
const POINTS_OF_ALL: usize = 8000;

/// A trial of a study as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct TrialParts<'a> {
    /// Which cell.
    pub cell: usize,
    /// Which block, counted from 0.
    pub block: u32,
    /// When it started, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// How long it took in all.
    pub elapsed_ns: u64,
    /// Its counts and costs; `None` for a failed trial.
    pub measured: Option<(&'a Sample, &'a CpuUsage)>,
    /// Notes for the reader.
    pub notes: &'a [TrialNote],
    /// Incidents that were recovered from, such as a lost connection.
    pub incidents: &'a [Incident],
    /// The host's activity meanwhile.
    pub monitor: &'a [MonitorRow],
    /// The use of the site's components, in a prediction.
    pub components: &'a [ComponentUse],
}

impl<'a> TrialParts<'a> {
    /// A trial as it is in the results file, with its cell and the host's activity meanwhile.
    pub fn of(record: &'a TrialRecord, cell: usize, monitor: &'a [MonitorRow]) -> Self {
        let (measured, notes) = match &record.outcome {
            TrialOutcome::Measured { sample, cpu, notes } => {
                (Some((sample, cpu)), notes.as_slice())
            }
            TrialOutcome::Failed { .. } => (None, [].as_slice()),
        };
        Self {
            cell,
            block: record.block,
            started_unix_ms: record.started_unix_ms,
            elapsed_ns: record.elapsed_ns,
            measured,
            notes,
            incidents: &record.incidents,
            monitor,
            components: &record.components,
        }
    }
}

/// The parts from which a report is made.
#[derive(Debug)]
pub struct Parts<'a> {
    /// What was known before the first trial.
    pub header: Header,
    /// The trials of cells, in the order in which they ended; ceilings are apart.
    pub trials: &'a [TrialParts<'a>],
    /// Incidents of the trials.
    pub events: &'a [Event],
    /// Why the run ended; `None` when it was killed or is still running.
    pub finished: Option<FinishReason>,
    /// The conclusions.
    pub analysis: Analysis,
    /// The measured ceilings of the generator and of the paths to datastores.
    pub ceilings: &'a [MeasuredCeiling],
    /// The trials themselves and the activity of each of several hosts, by the number of the trial.
    pub host_shares: (&'a [&'a TrialRecord], &'a [(u64, HostShare)]),
    /// The guests of the rack over the windows of trials.
    pub guests: &'a [GuestSummary],
    /// The gain from more of each component, in a prediction.
    pub elasticities: &'a [Elasticity],
    /// What other plausible values of what is assumed would change in cells, in a prediction.
    pub assumed: &'a [AssumedEffect],
    /// The answers with each of these values.
    pub supposed: &'a [(OtherValue, Vec<Answer>)],
    /// The command that repeats the study, ready for a shell.
    pub repeat_command: String,
    /// The names of settings in remedies.
    pub names: SettingNames,
}

/// Arranges a run into a report.
pub fn assemble(parts: Parts<'_>) -> Report {
    let Parts {
        header,
        trials,
        events,
        finished,
        analysis,
        ceilings: measured_ceilings,
        host_shares: (records, shares),
        guests: summaries,
        elasticities,
        assumed,
        supposed,
        repeat_command,
        names,
    } = parts;
    let analysis = match header.prediction {
        Some(_) => without_intervals(analysis),
        None => analysis,
    };
    let guests = guests(summaries);
    let samples: Vec<_> =
        trials.iter().filter_map(|trial| Some((trial.cell, trial.measured?.0))).collect();
    let mut report = Report {
        status: status(trials, finished, &analysis),
        traces: traces(&header, trials),
        ceilings: ceilings(&header, trials, measured_ceilings),
        hosts: hosts(&header, records, shares),
        guest_traces: guest_traces(&guests, records, (begin_ms(trials), AVERAGE_NS)),
        guests,
        desktops: desktops(&header.plan, &samples),
        desktop_traces: desktop_traces(&samples),
        reasons: reasons(&header, |cell| seen_of(trials, cell), elasticities, assumed),
        assumed: vec![],
        findings: vec![],
        unlike_promises: None,
        repeat_command,
        analysis,
        header,
    };
    report.assumed = assumed_answers(&report, supposed);
    let remedies = remedies(&report.header, names);
    report.findings = findings(&report, (trials, records, events), remedies);
    report.unlike_promises = unlike_promises(&report, remedies);
    report
}

fn status(trials: &[TrialParts<'_>], reason: Option<FinishReason>, analysis: &Analysis) -> Status {
    let measured = trials.iter().filter(|trial| trial.measured.is_some()).count() as u32;
    let elapsed_ns = trials.iter().fold(0u64, |sum, trial| sum.saturating_add(trial.elapsed_ns));
    Status {
        reason,
        blocks: analysis.complete_blocks,
        trials: measured,
        failed_trials: trials.len() as u32 - measured,
        elapsed_ns,
    }
}

/// The trials of a cell whose components are known.
fn seen_of<'a>(trials: &[TrialParts<'a>], cell: usize) -> Vec<Seen<'a>> {
    let own = trials.iter().filter(|trial| trial.cell == cell);
    own.filter_map(|it| Some(seen(it.measured?.0, it.components, it.notes))).collect()
}

fn begin_ms(trials: &[TrialParts<'_>]) -> u64 {
    trials.iter().map(|trial| trial.started_unix_ms).min().unwrap_or(0)
}

fn start_ns(trial: &TrialParts<'_>, begin_ms: u64) -> u64 {
    trial.started_unix_ms.saturating_sub(begin_ms).saturating_mul(1_000_000)
}

fn traces(header: &Header, trials: &[TrialParts<'_>]) -> Vec<TrialTrace> {
    let begin_ms = begin_ms(trials);
    let cells = header.plan.cells();
    let representatives: HashSet<usize> =
        (0..cells.len()).filter_map(|cell| representative(header, trials, cell)).collect();
    let most = (POINTS_OF_ALL / cells.len().max(1)).clamp(OTHER_POINTS, MOST_POINTS);
    // The page of a comparison draws all of them and thins them itself.
    let is_comparison = header.prediction.is_none() && header.plan.is_comparison();
    let points_of = |is_representative| match (is_comparison, is_representative) {
        (true, _) => usize::MAX,
        (false, true) => most,
        (false, false) => OTHER_POINTS,
    };
    let measured = trials.iter().enumerate();
    measured
        .filter_map(|(index, trial)| {
            let (sample, _) = trial.measured?;
            let is_representative = representatives.contains(&index);
            let ramp_ns = if sample.steps.is_empty() { header.plan.timing.ramp_ns } else { 0 };
            let start_ns = start_ns(trial, begin_ms);
            let points = sample
                .intervals
                .iter()
                .map(|row| SeriesPoint {
                    at_ns: ramp_ns + row.start_ns,
                    iops: row.iops(),
                    latency_mean_ns: row.latency_mean_ns(),
                })
                .collect::<Vec<_>>();
            Some(TrialTrace {
                cell: trial.cell,
                block: trial.block,
                start_ns,
                end_ns: start_ns + trial.elapsed_ns,
                iops: sample.iops(),
                latency_mean_ns: sample.total().latency_mean_ns(),
                is_representative,
                points: thin(&points, points_of(is_representative)),
                disturbed: if is_representative {
                    disturbed(sample, ramp_ns)
                } else {
                    Disturbed::default()
                },
                monitor: if is_representative {
                    monitor::thinned(trial.monitor, most)
                } else {
                    vec![]
                },
                averages: averages(trial.monitor),
            })
        })
        .collect()
}

/// The middle trial of a cell by the primary metric, the lower one of two; a trial without a value of it
/// counts as 0.
fn representative(header: &Header, trials: &[TrialParts<'_>], cell: usize) -> Option<usize> {
    let mut values: Vec<(f64, usize)> = trials
        .iter()
        .enumerate()
        .filter(|(_, trial)| trial.cell == cell)
        .filter_map(|(index, trial)| {
            let (sample, cpu) = trial.measured?;
            let value = metrics::value_of(header.plan.design.metric, sample, cpu);
            Some((value.unwrap_or(0.0), index))
        })
        .collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    values.get(values.len().saturating_sub(1) / 2).map(|(_, index)| *index)
}

/// Merges neighbouring intervals into one point until at most `most` are left.
fn thin(points: &[SeriesPoint], most: usize) -> Vec<SeriesPoint> {
    let group = points.len().div_ceil(most.max(1)).max(1);
    points
        .chunks(group)
        .map(|chunk| SeriesPoint {
            at_ns: chunk[0].at_ns,
            iops: mean(chunk.iter().map(|point| point.iops)).unwrap_or(0.0),
            latency_mean_ns: mean(chunk.iter().filter_map(|point| point.latency_mean_ns)),
        })
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(n, sum), value| (n + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// Means over [`AVERAGE_NS`] from the start of the trial; none extends into another trial.
fn averages(rows: &[MonitorRow]) -> Vec<MonitorAverage> {
    let means = monitor::averages(rows, AVERAGE_NS);
    let average = |row: MonitorRow| MonitorAverage {
        at_ns: row.at_ns,
        length_ns: row.length_ns,
        cpu_busy: row.cpu_busy,
        memory_used_bytes: row.memory_used_bytes as f64,
        network_bytes_per_s: row.network_receive_bytes_per_s + row.network_transmit_bytes_per_s,
        loopback_bytes_per_s: row.loopback_bytes_per_s,
        disk_read_bytes_per_s: row.disk_read_bytes_per_s,
        disk_write_bytes_per_s: row.disk_write_bytes_per_s,
    };
    means.into_iter().map(average).collect()
}

fn ceilings(
    header: &Header,
    trials: &[TrialParts<'_>],
    ceilings: &[MeasuredCeiling],
) -> Vec<WorkloadCeiling> {
    let cells = header.plan.cells();
    ceilings
        .iter()
        .map(|&MeasuredCeiling { kind, datastore, workload, iops }| {
            let is_below = |cell: &Cell| {
                cell.workload == workload && datastore.is_none_or(|it| cell.datastore == it)
            };
            let measured = trials
                .iter()
                .filter(|trial| cells.get(trial.cell).is_some_and(is_below))
                .filter_map(|trial| Some(trial.measured?.0.iops()))
                .fold(0.0, f64::max);
            let times_measured = (measured > 0.0).then(|| iops / measured);
            WorkloadCeiling { kind, datastore, workload, iops, times_measured }
        })
        .collect()
}

/// Merges findings that say the same of several cells, or of several of what `about` names, into one.
fn gather(findings: &mut Vec<Finding>, about: &str) {
    const NAMED: usize = 3;
    let mut gathered: Vec<(Finding, Vec<String>)> = Vec::new();
    for finding in findings.drain(..) {
        let alike = gathered.iter_mut().find(|(known, _)| {
            (known.severity, &known.what, &known.advice)
                == (finding.severity, &finding.what, &finding.advice)
        });
        match alike {
            Some((_, subjects)) => subjects.push(finding.subject),
            None => {
                let subject = finding.subject.clone();
                gathered.push((finding, vec![subject]));
            }
        }
    }
    findings.extend(gathered.into_iter().map(|(finding, subjects)| {
        let named = subjects[..subjects.len().min(NAMED)].join("; ");
        let subject = match subjects.len().saturating_sub(NAMED) {
            0 => named,
            more => format!("{named}; and {}", plural(more as u64, about)),
        };
        Finding { subject, ..finding }
    }));
}

/// The notes of each cell's first trial that has any; equal ones are merged.
fn notes_of_cells(
    trials: &[TrialParts<'_>],
    cells: usize,
    subject: &dyn Fn(usize) -> String,
) -> Vec<Finding> {
    let mut notes = Vec::new();
    for cell in 0..cells {
        let own = trials.iter().find(|trial| trial.cell == cell && !trial.notes.is_empty());
        notes.extend(own.into_iter().flat_map(|trial| trial.notes).map(|note| Finding {
            severity: Severity::Note,
            subject: subject(cell),
            what: phrases::note(note),
            advice: String::new(),
        }));
    }
    gather(&mut notes, "more cell");
    notes
}

fn remedies(header: &Header, names: SettingNames) -> Remedies {
    match &header.prediction {
        Some(prediction) => {
            Remedies::Predicted { names, shortened: prediction.shortened_from.is_some() }
        }
        None => Remedies::Measured(names),
    }
}

/// A conclusion's finding about a subject.
fn in_words(
    report: &Report,
    (subject, titles): (String, Titles),
    finding: &LawFinding,
    remedies: Remedies,
) -> Finding {
    let mut finding = finding.clone();
    // A URL is the name of a datastore in the plan of a comparison, and a sentence has its label.
    if let Fact::UnlikePromises { promised, .. } = &mut finding.fact {
        let labels = datastore_names(report);
        for one in promised {
            one.name = labels.get(one.datastore).cloned().unwrap_or_default();
        }
    }
    Finding {
        severity: finding.severity,
        subject,
        what: phrases::finding(&finding, titles),
        advice: phrases::remedy(&finding, remedies),
    }
}

/// The finding that belongs next to the verdicts.
fn unlike_promises(report: &Report, remedies: Remedies) -> Option<Finding> {
    let is_it = |fact: &Fact| matches!(fact, Fact::UnlikePromises { .. });
    let (_, found) = report.analysis.findings.iter().find(|(_, it)| is_it(&it.fact))?;
    Some(in_words(report, (String::new(), Titles::Usual), found, remedies))
}

fn findings(
    report: &Report,
    (trials, records, events): (&[TrialParts<'_>], &[&TrialRecord], &[Event]),
    remedies: Remedies,
) -> Vec<Finding> {
    let cells = report.plan().cells();
    let subject =
        |cell: Option<usize>| cell.map(|cell| cell_name(report, &cells, cell)).unwrap_or_default();
    let mut findings: Vec<Finding> = report
        .analysis
        .findings
        .iter()
        .map(|(cell, finding)| {
            let titles = Titles::of_cell(report.plan(), cell.and_then(|cell| cells.get(cell)));
            in_words(report, (subject(*cell), titles), finding, remedies)
        })
        .collect();
    // Each datastore of a comparison is one cell.
    let about = if report.is_comparison() { "more datastore" } else { "more cell" };
    gather(&mut findings, about);
    let mut notes: Vec<(String, Noted<'_>)> =
        events.iter().map(|it| (String::new(), Noted::Event(&it.kind))).collect();
    for (name, description) in datastore_names(report).iter().zip(&report.header.datastores) {
        let of_datastore = description.notes.iter().map(Noted::Datastore);
        notes.extend(of_datastore.map(|note| (name.clone(), note)));
    }
    // A note on every trial of a datastore is shown once for the datastore. Notes of a prediction are about a cell,
    // with figures that differ from trial to trial: the first of each cell speaks for it.
    let is_predicted = report.header.prediction.is_some();
    let named = datastore_names(report);
    if is_predicted {
        findings.extend(notes_of_cells(trials, cells.len(), &|cell| subject(Some(cell))));
    }
    for trial in trials.iter().filter(|_| !is_predicted) {
        let datastore = cells.get(trial.cell).map(|cell| cell.datastore);
        let name = datastore.and_then(|it| named.get(it)).cloned().unwrap_or_default();
        notes.extend(trial.notes.iter().map(|note| (name.clone(), Noted::Trial(note))));
    }
    for (subject, note) in each_once(notes) {
        let (what, advice) = (note.sentence(), String::new());
        findings.push(Finding { severity: Severity::Note, subject, what, advice });
    }
    let happened = trials.iter().filter_map(|trial| {
        let datastore = cells.get(trial.cell)?.datastore;
        Some((datastore, Some(trial.block.saturating_add(1)), trial.incidents))
    });
    // What a datastore can bear was measured on it before the first block.
    let before = || records.iter().filter(|trial| trial.phase == Phase::Capacity);
    let happened_before =
        before().filter_map(|trial| Some((trial.datastore?, None, trial.incidents.as_slice())));
    let names = datastore_names(report);
    findings.extend(incidents_of(happened_before.chain(happened), &names));
    let settled = trials
        .iter()
        .filter_map(|trial| Some((cells.get(trial.cell)?.datastore, trial.measured?.0.settled_ns)));
    let settled_before =
        before().filter_map(|trial| Some((trial.datastore?, trial.sample()?.settled_ns)));
    findings.extend(settling(settled_before.chain(settled), &names));
    findings.extend(of_datastores(report));
    let failed = report.status.failed_trials;
    // A comparison shows it for each datastore.
    if failed > 0 && !report.is_comparison() {
        findings.push(Finding {
            severity: Severity::Warning,
            subject: String::new(),
            what: format!(
                "{} failed; the cells concerned are named",
                plural(failed.into(), "trial")
            ),
            advice: "read why; results of a cell whose trials fail stand on those that survived"
                .into(),
        });
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// The name of each datastore in findings.
fn datastore_names(report: &Report) -> Vec<String> {
    match report.is_comparison() {
        true => datastore_labels(report.plan()),
        false => report.plan().datastores.iter().map(|it| it.name.clone()).collect(),
    }
}

/// Notes for the reader on the compared datastores.
fn of_datastores(report: &Report) -> Vec<Finding> {
    let note = |subject: &str, what: &str, advice: &str| Finding {
        severity: Severity::Note,
        subject: subject.into(),
        what: what.into(),
        advice: advice.into(),
    };
    let mut notes = Vec::new();
    if report.is_comparison() && report.plan().is_a_a_test() {
        notes.push(note(
            "",
            "a datastore was named twice (an A/A test), so no difference is to be expected",
            "a difference that is found all the same says how far this machine can be trusted",
        ));
    }
    for (description, name) in report.header.datastores.iter().zip(datastore_names(report)) {
        if description.kind == "null" {
            notes.push(note(
                &name,
                "completes at once: it measures the load generator, and the laws about the generator's \
                 share do not apply",
                "",
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {

    use super::*;
    use stormeter_trial::{ModelNote, NoteFact};

    fn row(second: u64, cpu_busy: f64) -> MonitorRow {
        let (at_ns, length_ns) = (second * 1_000_000_000, 1_000_000_000);
        MonitorRow {
            at_ns,
            length_ns,
            cpu_busy,
            cores_busy: vec![cpu_busy; 2],
            ..MonitorRow::default()
        }
    }

    #[test]
    fn averages_are_of_twenty_seconds_and_keep_the_mean() {
        let rows: Vec<MonitorRow> =
            (0..45).map(|s| row(s, if s < 20 { 0.5 } else { 0.2 })).collect();
        let averages = averages(&rows);
        let lengths: Vec<u64> = averages.iter().map(|a| a.length_ns / 1_000_000_000).collect();
        assert_eq!(lengths, [20, 20, 5]);
        assert!((averages[0].cpu_busy - 0.5).abs() < 1e-12);
        assert!((averages[2].cpu_busy - 0.2).abs() < 1e-12);
    }

    #[test]
    fn those_that_are_not_named_are_counted_as_what_they_are() {
        let mut findings: Vec<Finding> = (1..=5)
            .map(|number| Finding {
                severity: Severity::Note,
                subject: format!("nas{number}"),
                what: "slow".into(),
                advice: String::new(),
            })
            .collect();
        gather(&mut findings, "more datastore");
        let subjects: Vec<&str> = findings.iter().map(|it| it.subject.as_str()).collect();
        assert_eq!(subjects, ["nas1; nas2; nas3; and 2 more datastores"]);
    }

    #[test]
    fn notes_of_a_prediction_are_said_once_a_cell() {
        let note = |bytes| {
            let model = ModelNote::Resyncing { storage: "vsan".into(), bytes };
            TrialNote::from(NoteFact::Model { model })
        };
        let (early, later) = ([note(3 << 30)], [note(4 << 30)]);
        let trial = |cell, notes| TrialParts {
            cell,
            block: 0,
            started_unix_ms: 0,
            elapsed_ns: 0,
            measured: None,
            notes,
            incidents: &[],
            monitor: &[],
            components: &[],
        };
        let trials = [trial(0, &[]), trial(1, &early), trial(1, &later), trial(2, &early)];
        let notes = notes_of_cells(&trials, 3, &|cell| format!("cell {cell}"));
        let reported: Vec<_> = notes.iter().map(|note| (&*note.subject, &*note.what)).collect();
        let expected =
            "vsan: a resync was still in progress, 3GiB of lost data had not been copied again yet";
        assert_eq!(reported, [("cell 1; cell 2", expected)]);
    }
}
