//! iperf3's JSON (`-J`): a network, of which the client's side is read, because its intervals are that side's too.
//!
//! After files of iperf 3.12 and iperf3's own documentation. Rates are bits per second; `target_bitrate` is per
//! stream. The shares of CPUs are of iperf3's own processes, and so are no measure of how busy the hosts were.

use std::borrow::Cow;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{self, Node};
use crate::run::{Direction, Imported, Interval, Load, Run, Way};
use crate::series::Series;

#[cfg(test)]
mod tests;

/// What this format is called.
pub(crate) const NAME: &str = "iperf3 JSON";

/// Whether the text is iperf3's JSON.
pub(crate) fn is(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"iperf 3")
}

/// Reads the file of a client, or of a server that served one client.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let root = json::parse(NAME, text, 0)?;
    if let Some(what) = root.get("error").and_then(|error| error.text()) {
        return Err(wrong("error", &format!("the test failed: {what}")));
    }
    let missing = || wrong("start.test_start", "is missing");
    let start = root.get("start").ok_or_else(missing)?;
    let test = Test::read(&start.get("test_start").ok_or_else(missing)?)?;
    let peer = |key: &str| start.get(key);
    let served = peer("connecting_to").is_none() && peer("accepted_connection").is_some();
    // A server receives unless the test is reversed.
    let sends = test.reverse == served;
    let end = root.get("end").ok_or_else(|| wrong("end", "has no sums"))?;
    let sum = |key: &str| end.get(key);
    let both_ways = test.both_ways || sum("sum_sent_bidir_reverse").is_some();
    let (forth, back) = if sends {
        (sum("sum_sent"), sum("sum_received_bidir_reverse"))
    } else {
        (sum("sum_received"), sum("sum_sent_bidir_reverse"))
    };
    let Some(forth) = forth.or_else(|| sum("sum")) else {
        return Err(wrong("end", "has no sums"));
    };
    let mut directions = vec![direction(way(sends), &forth)?];
    if let Some(back) = back {
        directions.push(direction(way(!sends), &back)?);
    }
    let lost = sum("sum").or_else(|| sum("sum_received")).and_then(|sum| sum.get("lost_packets"));
    let peer = peer("connecting_to").or_else(|| peer("accepted_connection"));
    let timestamp = start.get("timestamp").and_then(|stamp| stamp.get("timesecs"));
    let run = Run {
        name: test.protocol.clone().unwrap_or_default(),
        place: "end".to_string(),
        target: peer.as_ref().and_then(target),
        began_s: timestamp.and_then(|seconds| seconds.number()),
        load: test.load(sends, both_ways),
        window_s: forth.figure("seconds")?,
        directions,
        intervals: intervals(&root, sends)?,
        // Datagrams that were lost; TCP loses none.
        errors: lost.and_then(|lost| lost.number()).map(|lost| lost.max(0.0) as u64),
        ..Run::default()
    };
    let mut runs = Series::default();
    runs.push(run);
    let version = start.get("version").and_then(|version| version.text());
    Ok(Imported {
        tool: "iperf3".into(),
        // `iperf 3.12` without the name.
        version: version.map(|text| text.trim_start_matches("iperf ").to_string()),
        runs,
        left_out: left_out(&end, both_ways),
    })
}

fn way(sends: bool) -> Way {
    if sends { Way::Write } else { Way::Read }
}

/// The other host and its port.
fn target(peer: &Node<'_>) -> Option<String> {
    let host = peer.get("host")?.text()?;
    Some(match peer.get("port").and_then(|port| port.text()) {
        Some(port) => format!("{host}:{port}"),
        None => host.into_owned(),
    })
}

fn left_out(end: &Node<'_>, both_ways: bool) -> Vec<String> {
    let mut left_out = Vec::new();
    if both_ways || (end.get("sum_sent").is_some() && end.get("sum_received").is_some()) {
        left_out.push("What the other host counted.".to_string());
    }
    let resent = ["sum_sent", "sum_sent_bidir_reverse"].into_iter().filter_map(|key| end.get(key));
    let resent: u64 = resent
        .filter_map(|sum| sum.count("retransmits").ok().flatten())
        .fold(0, u64::saturating_add);
    if resent > 0 {
        left_out.push(format!("TCP segments that were sent again: {resent}."));
    }
    if end.get("cpu_utilization_percent").is_some() {
        left_out.push("The CPU utilization, which is of iperf3's own processes.".to_string());
    }
    left_out
}

/// What was asked for.
#[derive(Debug)]
struct Test {
    protocol: Option<String>,
    streams: Option<u64>,
    block_bytes: Option<u64>,
    omit_s: Option<f64>,
    duration_s: Option<f64>,
    /// Of each stream, in bits per second.
    rate: Option<f64>,
    reverse: bool,
    both_ways: bool,
}

impl Test {
    fn read(test: &Node<'_>) -> Result<Self, ImportError> {
        let amount = |key: &str| Ok::<_, ImportError>(test.amount(key)?.map(|(value, _)| value));
        let is_set = |key: &str| Ok::<_, ImportError>(test.count(key)?.unwrap_or(0) != 0);
        Ok(Self {
            protocol: test.get("protocol").and_then(|name| name.text()).map(Cow::into_owned),
            streams: test.count("num_streams")?,
            block_bytes: test.count("blksize")?.filter(|&bytes| bytes > 0),
            omit_s: amount("omit")?,
            duration_s: amount("duration")?.filter(|&duration| duration > 0.0),
            rate: amount("target_bitrate")?.filter(|&rate| rate > 0.0),
            reverse: is_set("reverse")?,
            both_ways: is_set("bidir")?,
        })
    }

    fn load(&self, sends: bool, both_ways: bool) -> Load {
        let of_all = self.rate.zip(self.block_bytes).zip(self.streams);
        Load {
            request_bytes: self.block_bytes,
            read_share: (!both_ways).then_some(if sends { 0.0 } else { 1.0 }),
            workers: self.streams,
            rate_per_s: of_all.map(|((rate, bytes), streams)| {
                let ways = if both_ways { 2.0 } else { 1.0 };
                rate / 8.0 / bytes as f64 * streams as f64 * ways
            }),
            engine: self.protocol.clone(),
            ramp_s: self.omit_s,
            duration_s: self.duration_s,
            ..Load::default()
        }
    }
}

fn direction(way: Way, sum: &Node<'_>) -> Result<Direction, ImportError> {
    let count =
        |key: &str| Ok::<_, ImportError>(sum.amount(key)?.map(|(count, _)| Figure::exact(count)));
    Ok(Direction {
        operations: count("packets")?,
        bytes: Some(count("bytes")?.ok_or_else(|| missing(sum, "bytes"))?),
        bytes_per_s: Some(rate(sum)?),
        runtime_s: Some(seconds(sum)?),
        ..Direction::new(way)
    })
}

fn intervals(root: &Node<'_>, sends: bool) -> Result<Series<Interval>, ImportError> {
    let mut intervals = Series::default();
    let Some(entries) = root.get("intervals") else { return Ok(intervals) };
    for entry in entries.entries()? {
        for (sends, key) in [(sends, "sum"), (!sends, "sum_bidir_reverse")] {
            let omitted = |sum: &Node<'_>| sum.get("omitted").is_some_and(|is| is.is_true());
            let Some(sum) = entry.get(key).filter(|sum| !omitted(sum)) else { continue };
            let start_s = sum.get("start").and_then(|start| start.number());
            intervals.push(Interval {
                start_s: start_s.ok_or_else(|| missing(&sum, "start"))?,
                length_s: seconds(&sum)?.value,
                way: Some(way(sends)),
                bytes_per_s: Some(rate(&sum)?),
                ..Interval::default()
            });
        }
    }
    Ok(intervals)
}

fn seconds(sum: &Node<'_>) -> Result<Figure, ImportError> {
    sum.figure("seconds")?.ok_or_else(|| missing(sum, "seconds"))
}

fn rate(sum: &Node<'_>) -> Result<Figure, ImportError> {
    let bits = sum.figure("bits_per_second")?;
    Ok(bits.ok_or_else(|| missing(sum, "bits_per_second"))?.times(0.125))
}

fn missing(sum: &Node<'_>, key: &str) -> ImportError {
    sum.wrong_at(key, "is missing")
}

fn wrong(path: &str, what: &str) -> ImportError {
    ImportError::Wrong { format: NAME, path: path.to_string(), what: what.to_string() }
}
