//! Every verdict, of every kind of metric, as the sentence that people will quote.

mod fixture;

use fixture::{LOCAL, NAS, report};
use stormeter_report::compact::{Compact, headline, sentence};
use stormeter_report::{Finding, Severity};
use stormeter_statistics::{Interval, Verdict};
use stormeter_study::Metric;

/// The sentence about `metric` when the ratio is `ratio` with the interval `low` to `high`.
fn say(metric: Metric, verdict: Verdict, [ratio, low, high]: [f64; 3]) -> String {
    say_after(metric, verdict, [ratio, low, high], |_| {})
}

fn say_after(
    metric: Metric,
    verdict: Verdict,
    [ratio, low, high]: [f64; 3],
    change: impl FnOnce(&mut Compact),
) -> String {
    let mut report = report(&[LOCAL, NAS]);
    report.datastores[0].label = "local".into();
    report.datastores[1].label = "nas".into();
    let of = &mut report.comparisons[0];
    of.metric = metric;
    of.comparison.verdict = verdict;
    of.comparison.ratio = ratio;
    of.comparison.interval = Interval { low, high, level: 0.95 };
    of.comparison.within_margin = verdict == Verdict::Equivalent;
    of.comparison.blocks = 9;
    of.comparison.blocks_needed = None;
    change(&mut report);
    sentence(&report, &report.comparisons[0])
}

#[test]
fn a_difference_in_rate_is_said_of_the_datastore() {
    assert_eq!(
        say(Metric::Iops, Verdict::Slower, [0.766, 0.752, 0.781]),
        "nas is 23.4 % slower than local in IOPS (95 % CI 21.9 to 24.8 % slower), 9 blocks."
    );
    assert_eq!(
        say(Metric::Throughput, Verdict::Faster, [1.5, 1.4, 1.6]),
        "nas is 50.0 % faster than local in throughput (95 % CI 40.0 to 60.0 % faster), 9 blocks."
    );
    assert_eq!(
        say(Metric::Iops, Verdict::Faster, [6.4, 6.3, 6.52]),
        "nas is 6.4 times as fast as local in IOPS (95 % CI 6.3 to 6.5 times), 9 blocks."
    );
}

#[test]
fn a_difference_in_latency_or_cost_is_said_of_the_metric() {
    assert_eq!(
        say(Metric::LatencyP99, Verdict::Slower, [1.31, 1.2, 1.42]),
        "nas is slower than local: its p99 latency is 31.0 % higher \
         (95 % CI 20.0 to 42.0 % higher), 9 blocks."
    );
    assert_eq!(
        say(Metric::LatencyMean, Verdict::Faster, [0.5, 0.4, 0.6]),
        "nas is faster than local: its mean latency is 0.50 times as high \
         (95 % CI 0.40 to 0.60 times), 9 blocks."
    );
    assert_eq!(
        say(Metric::LatencyMax, Verdict::Slower, [4.0, 3.5, 4.5]),
        "nas is slower than local: its maximum latency is 4.0 times as high \
         (95 % CI 3.5 to 4.5 times), 9 blocks."
    );
    assert_eq!(
        say(Metric::CpuPerIo, Verdict::Slower, [1.1, 1.05, 1.15]),
        "nas costs 10.0 % more initiator CPU per I/O than local (95 % CI 5.0 to 15.0 % more), 9 blocks."
    );
    assert_eq!(
        say(Metric::HostCpuPerIo, Verdict::Slower, [3.2, 3.1, 3.3]),
        "nas costs 3.2 times the host CPU per I/O of local (95 % CI 3.1 to 3.3 times), 9 blocks."
    );
}

#[test]
fn a_real_but_small_difference_says_so() {
    let text = say_after(Metric::Iops, Verdict::Slower, [0.98, 0.97, 0.99], |report| {
        report.comparisons[0].comparison.within_margin = true;
    });
    assert_eq!(
        text,
        "nas is 2.0 % slower than local in IOPS (95 % CI 1.0 to 3.0 % slower), 9 blocks; \
         the difference is real, but within the 5 % margin."
    );
}

#[test]
fn no_difference_and_no_answer_are_two_things() {
    assert_eq!(
        say(Metric::Iops, Verdict::Equivalent, [1.006, 0.988, 1.024]),
        "nas and local are equivalent in IOPS: the difference is within the 5 % margin \
         (0.6 % higher, 95 % CI 1.2 % lower to 2.4 % higher), 9 blocks."
    );
    let settled_by_14 = |report: &mut Compact| {
        report.comparisons[0].comparison.blocks_needed = Some(14);
    };
    assert_eq!(
        say_after(Metric::LatencyP50, Verdict::Inconclusive, [1.03, 0.97, 1.09], settled_by_14),
        "Inconclusive: nas may have a higher or a lower p50 latency than local (measured 3.0 % higher, \
         95 % CI 3.0 % lower to 9.0 % higher, 9 blocks); about 14 blocks would probably decide it."
    );
    let endless = say(Metric::CpuPerIo, Verdict::Inconclusive, [1.0, 0.0, f64::INFINITY]);
    assert!(endless.contains("95 % CI without bounds"), "{endless}");
    assert!(endless.contains("more blocks are unlikely to decide it"), "{endless}");
}

#[test]
fn an_invalid_result_names_the_reason_and_concludes_nothing() {
    let text = say_after(Metric::Iops, Verdict::Invalid, [0.5, 0.4, 0.6], |report| {
        report.findings.push(Finding {
            severity: Severity::Invalid,
            subject: "nas".into(),
            what: "the histogram counts 4 I/Os fewer than the totals (law 4)".into(),
            advice: "report this".into(),
        });
    });
    assert_eq!(
        text,
        "The result is invalid: nas: the histogram counts 4 I/Os fewer than the totals (law 4); \
         nothing can be concluded about nas and local in IOPS."
    );
}

#[test]
fn without_a_comparison_the_headline_says_why() {
    let mut report = report(&[LOCAL, NAS]);
    report.comparisons.clear();
    report.status.blocks = 1;
    assert_eq!(
        headline(&report),
        ["No result yet: 1 complete block done, and a comparison needs at least 2."]
    );
    report.findings.insert(
        0,
        Finding {
            severity: Severity::Invalid,
            subject: String::new(),
            what: "every trial failed".into(),
            advice: String::new(),
        },
    );
    assert_eq!(headline(&report), ["The result is invalid: every trial failed."]);
}
