//! The names that people use for metrics.

use super::token::Token;
use crate::plan::Metric;

/// Every accepted name in addition to [`Metric::name`] with its hyphens as spaces. The first of a
/// metric is the one that a question prints.
const NAMES: [(&str, Metric); 107] = [
    ("iops", Metric::Iops),
    ("throughput", Metric::Throughput),
    ("bandwidth", Metric::Throughput),
    ("mean latency", Metric::LatencyMean),
    ("latency", Metric::LatencyMean),
    ("average latency", Metric::LatencyMean),
    ("latency mean", Metric::LatencyMean),
    ("p50 latency", Metric::LatencyP50),
    ("median latency", Metric::LatencyP50),
    ("latency p50", Metric::LatencyP50),
    ("p95 latency", Metric::LatencyP95),
    ("latency p95", Metric::LatencyP95),
    ("p99 latency", Metric::LatencyP99),
    ("latency p99", Metric::LatencyP99),
    ("p99.9 latency", Metric::LatencyP999),
    ("p999 latency", Metric::LatencyP999),
    ("latency p99.9", Metric::LatencyP999),
    ("latency p999", Metric::LatencyP999),
    ("maximum latency", Metric::LatencyMax),
    ("max latency", Metric::LatencyMax),
    ("latency max", Metric::LatencyMax),
    ("latency maximum", Metric::LatencyMax),
    ("mean service time", Metric::ServiceMean),
    ("service time", Metric::ServiceMean),
    ("service mean", Metric::ServiceMean),
    ("p50 service time", Metric::ServiceP50),
    ("median service time", Metric::ServiceP50),
    ("service p50", Metric::ServiceP50),
    ("p95 service time", Metric::ServiceP95),
    ("service p95", Metric::ServiceP95),
    ("p99 service time", Metric::ServiceP99),
    ("service p99", Metric::ServiceP99),
    ("p99.9 service time", Metric::ServiceP999),
    ("service p99.9", Metric::ServiceP999),
    ("service p999", Metric::ServiceP999),
    ("p99 lateness", Metric::LatenessP99),
    ("lateness p99", Metric::LatenessP99),
    ("mean flush latency", Metric::FlushMean),
    ("average flush latency", Metric::FlushMean),
    ("flush latency", Metric::FlushMean),
    ("mean flush", Metric::FlushMean),
    ("average flush", Metric::FlushMean),
    ("flush mean", Metric::FlushMean),
    ("p50 flush latency", Metric::FlushP50),
    ("median flush latency", Metric::FlushP50),
    ("p50 flush", Metric::FlushP50),
    ("median flush", Metric::FlushP50),
    ("flush p50", Metric::FlushP50),
    ("p95 flush latency", Metric::FlushP95),
    ("p95 flush", Metric::FlushP95),
    ("flush p95", Metric::FlushP95),
    ("p99 flush latency", Metric::FlushP99),
    ("p99 flush", Metric::FlushP99),
    ("flush p99", Metric::FlushP99),
    ("p99.9 flush latency", Metric::FlushP999),
    ("p999 flush latency", Metric::FlushP999),
    ("p99.9 flush", Metric::FlushP999),
    ("p999 flush", Metric::FlushP999),
    ("flush p99.9", Metric::FlushP999),
    ("flush p999", Metric::FlushP999),
    ("p50 durable write latency", Metric::DurableWriteP50),
    ("median durable write latency", Metric::DurableWriteP50),
    ("p50 durable write", Metric::DurableWriteP50),
    ("median durable write", Metric::DurableWriteP50),
    ("durable write p50", Metric::DurableWriteP50),
    ("p95 durable write latency", Metric::DurableWriteP95),
    ("p95 durable write", Metric::DurableWriteP95),
    ("durable write p95", Metric::DurableWriteP95),
    ("p99 durable write latency", Metric::DurableWriteP99),
    ("p99 durable write", Metric::DurableWriteP99),
    ("durable write p99", Metric::DurableWriteP99),
    ("p99.9 durable write latency", Metric::DurableWriteP999),
    ("p999 durable write latency", Metric::DurableWriteP999),
    ("p99.9 durable write", Metric::DurableWriteP999),
    ("p999 durable write", Metric::DurableWriteP999),
    ("durable write p99.9", Metric::DurableWriteP999),
    ("durable write p999", Metric::DurableWriteP999),
    ("cpu per io", Metric::CpuPerIo),
    ("cpu per i/o", Metric::CpuPerIo),
    ("initiator cpu per io", Metric::CpuPerIo),
    ("initiator cpu per i/o", Metric::CpuPerIo),
    ("cpu time per io", Metric::CpuPerIo),
    ("cpu time per i/o", Metric::CpuPerIo),
    ("target cpu per io", Metric::TargetCpuPerIo),
    ("target cpu per i/o", Metric::TargetCpuPerIo),
    ("host cpu per io", Metric::HostCpuPerIo),
    ("host cpu per i/o", Metric::HostCpuPerIo),
    ("host cpu", Metric::HostCpu),
    ("host cpu share", Metric::HostCpu),
    ("elapsed", Metric::Elapsed),
    ("elapsed time", Metric::Elapsed),
    ("time elapsed", Metric::Elapsed),
    ("time", Metric::Elapsed),
    ("recovery", Metric::Recovery),
    ("recovery time", Metric::Recovery),
    ("outage", Metric::Outage),
    ("outage time", Metric::Outage),
    ("updates", Metric::Updates),
    ("screen updates", Metric::Updates),
    ("copy time", Metric::CopyTime),
    ("setting time", Metric::SettingTime),
    ("deployment time", Metric::DeploymentTime),
    ("configure time", Metric::ConfigureTime),
    ("p99 work latency", Metric::WorkP99),
    ("p99 latency of work", Metric::WorkP99),
    ("work p99", Metric::WorkP99),
    ("work latency p99", Metric::WorkP99),
];

/// The metric named by the words from `start` on, and the number of these words. The longest name
/// counts: `host cpu per io` is not `host cpu`.
pub(super) fn metric_at(tokens: &[Token], start: usize) -> Option<(Metric, usize)> {
    let mut phrase = String::new();
    let mut found = None;
    for (taken, token) in tokens.iter().skip(start).take(4).enumerate() {
        if token.quoted {
            break;
        }
        if taken > 0 {
            phrase.push(' ');
        }
        phrase.push_str(&token.text.to_lowercase().replace(['-', '_'], " "));
        if let Some((_, metric)) = NAMES.iter().find(|(name, _)| *name == phrase) {
            found = Some((*metric, taken + 1));
        }
    }
    found
}

/// Its name in a question.
pub(super) fn name_of(metric: Metric) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == metric).map_or(metric.name(), |(name, _)| name)
}

/// Words with which metrics' names start, and all names: for suggestions.
pub(super) fn all_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn every_metric_is_found_by_each_of_its_names() {
        for metric in Metric::ALL {
            for name in [name_of(metric), metric.name()] {
                let words = tokens(name).unwrap();
                assert_eq!(metric_at(&words, 0), Some((metric, words.len())), "{name}");
            }
        }
        for (name, metric) in NAMES {
            let words = tokens(&name.to_uppercase()).unwrap();
            assert_eq!(metric_at(&words, 0), Some((metric, words.len())), "{name}");
        }
        let words = tokens("host cpu of nas").unwrap();
        assert_eq!(metric_at(&words, 0), Some((Metric::HostCpu, 2)));
        assert_eq!(metric_at(&tokens("'iops'").unwrap(), 0), None);
    }
}
