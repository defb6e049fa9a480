//! What the values of a log are: only the name of its file says it.

/// The kind of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// `_lat`: total latencies.
    Latency,
    /// `_clat`: latencies from submission to completion.
    CompletionLatency,
    /// `_slat`: how long submission took.
    SubmissionLatency,
    /// `_bw`: KiB per second.
    Bandwidth,
    /// `_iops`: I/Os per second.
    Iops,
}

/// In an order in which no ending is part of a later one.
const ENDINGS: [(&str, LogKind); 5] = [
    ("_clat", LogKind::CompletionLatency),
    ("_slat", LogKind::SubmissionLatency),
    ("_lat", LogKind::Latency),
    ("_bw", LogKind::Bandwidth),
    ("_iops", LogKind::Iops),
];

impl LogKind {
    /// The kind by a file's name: `web_lat.log`, or `web_lat.3.log` of the third job. `None` for other names.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let name = name.rsplit(['/', '\\']).next()?;
        let stem = name.strip_suffix(".log")?;
        let stem = match stem.rsplit_once('.') {
            Some((stem, job)) if job.bytes().all(|byte| byte.is_ascii_digit()) => stem,
            _ => stem,
        };
        ENDINGS.into_iter().find(|(ending, _)| stem.ends_with(ending)).map(|(_, kind)| kind)
    }

    /// The ending without `_`, for the name of a run.
    pub(crate) fn name(self) -> &'static str {
        ENDINGS.into_iter().find(|(_, kind)| *kind == self).map_or("", |(ending, _)| &ending[1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_the_kind() {
        for (name, kind) in [
            ("web_lat.log", Some(LogKind::Latency)),
            ("logs/web_clat.12.log", Some(LogKind::CompletionLatency)),
            ("a.b_slat.1.log", Some(LogKind::SubmissionLatency)),
            ("web_bw.log", Some(LogKind::Bandwidth)),
            ("c:\\web_iops.2.log", Some(LogKind::Iops)),
            ("web_clat_hist.1.log", None),
            ("web.log", None),
        ] {
            assert_eq!(LogKind::of_file_name(name), kind, "{name}");
        }
        assert_eq!(LogKind::Bandwidth.name(), "bw");
    }
}
