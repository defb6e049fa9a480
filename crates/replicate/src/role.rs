//! What a column of a published table is: this lets laws find the figures that they bind.
//!
//! The usual names of columns are recognised; a column with another name says `is:`. A role says nothing of the
//! unit, which the column has itself.

/// What the numbers of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Bytes of a request.
    RequestSize,
    /// Requests in flight, all workers together.
    Outstanding,
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Mean latency of a request.
    Latency,
    /// The longest latency.
    LatencyMax,
    /// A high percentile of latency.
    LatencyTail,
    /// How long something took.
    Time,
    /// Time since the start of a row's measurement.
    Elapsed,
    /// Bytes moved, in all or in the time of the row.
    Moved,
    /// Mean of a sample.
    Mean,
    /// Standard deviation of a sample.
    Sd,
    /// Standard error of a mean.
    Se,
    /// Variance of a sample.
    Variance,
    /// Number of values in a sample.
    N,
    /// Sum of a sample.
    Sum,
    /// Median of a sample.
    Median,
    /// Least value of a sample.
    Min,
    /// Greatest value of a sample.
    Max,
    /// Greatest less least value.
    Range,
    /// What a network carries in both directions.
    Usage,
    /// What is sent.
    Transmit,
    /// What is received.
    Receive,
    /// Busy share of a CPU or device.
    Busy,
    /// A t statistic.
    T,
    /// An F statistic.
    F,
    /// Degrees of freedom (of an F statistic: of its numerator).
    Df,
    /// Degrees of freedom of the denominator of an F statistic.
    DfError,
    /// A p-value.
    P,
    /// How often a cell was measured independently.
    Runs,
}

/// Each role: how `is:` spells it, and the names of columns that have it without saying so.
const ROLES: [(Role, &str, &[&str]); 30] = [
    (Role::RequestSize, "request-size", &["request", "request_size", "block_size", "bs", "kb"]),
    (Role::Outstanding, "outstanding", &["outstanding", "queue_depth", "iodepth"]),
    (Role::Iops, "iops", &["iops"]),
    (Role::Throughput, "throughput", &["throughput", "bandwidth", "mbps", "mb_s", "mib_s"]),
    (Role::Latency, "latency", &["latency", "latency_mean", "response_time"]),
    (Role::LatencyMax, "latency-max", &["latency_max", "response_max"]),
    (Role::LatencyTail, "latency-tail", &["p90", "p95", "p99", "p999"]),
    (Role::Time, "time", &[]),
    (Role::Elapsed, "elapsed", &["elapsed"]),
    (Role::Moved, "moved", &[]),
    (Role::Mean, "mean", &["mean", "average", "avg"]),
    (Role::Sd, "sd", &["sd", "stdev", "std"]),
    (Role::Se, "se", &["se", "sem"]),
    (Role::Variance, "variance", &["variance", "var"]),
    (Role::N, "n", &["n"]),
    (Role::Sum, "sum", &["sum"]),
    (Role::Median, "median", &["median"]),
    (Role::Min, "min", &["min"]),
    (Role::Max, "max", &["max"]),
    (Role::Range, "range", &["range"]),
    (Role::Usage, "usage", &["usage"]),
    (Role::Transmit, "transmit", &["transmit", "sent"]),
    (Role::Receive, "receive", &["receive", "received"]),
    (Role::Busy, "busy", &["cpu", "busy", "utilisation", "utilization"]),
    (Role::T, "t", &["t"]),
    (Role::F, "f", &["f"]),
    (Role::Df, "df", &["df", "df1"]),
    (Role::DfError, "df-error", &["df2", "df_error"]),
    (Role::P, "p", &["p", "p_value"]),
    (Role::Runs, "runs", &["runs", "repetitions"]),
];

impl Role {
    /// The role of this spelling in `is:`.
    pub fn of_word(word: &str) -> Option<Self> {
        ROLES.iter().find(|(_, spelled, _)| *spelled == word).map(|(role, ..)| *role)
    }

    /// The role that a column of this name has unless it says another.
    pub fn of_column(name: &str) -> Option<Self> {
        ROLES.iter().find(|(.., names)| names.contains(&name)).map(|(role, ..)| *role)
    }

    /// How it is spelled.
    pub fn word(self) -> &'static str {
        ROLES.iter().find(|(role, ..)| *role == self).map_or("", |(_, word, _)| word)
    }

    /// All spellings, for messages.
    pub fn words() -> impl Iterator<Item = &'static str> {
        ROLES.iter().map(|(_, word, _)| *word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_one_spelling_and_no_name_means_two() {
        let mut names = std::collections::HashSet::new();
        for (role, word, columns) in ROLES.iter() {
            assert_eq!(Role::of_word(word), Some(*role));
            assert_eq!(role.word(), *word);
            columns.iter().for_each(|name| assert!(names.insert(*name), "{name}"));
        }
    }
}
