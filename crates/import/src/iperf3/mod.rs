//! iperf3's JSON (`-J`): a network, of which the client's side is read, because its intervals are that side's too.
//!
//! After files of iperf 3.12 and iperf3's own documentation. Rates are bits per second; `target_bitrate` is per
//! stream. The shares of CPUs are of iperf3's own processes, and so are no measure of how busy the hosts were.

use serde::Deserialize;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::json::{self, Number};
use crate::run::{Direction, Imported, Interval, Load, Run, Way};

#[cfg(test)]
mod tests;

/// What this format is called.
pub(crate) const NAME: &str = "iperf3 JSON";

/// Whether the text is iperf3's JSON.
pub(crate) fn is(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"iperf 3")
}

#[derive(Debug, Deserialize)]
struct File {
    start: Start,
    #[serde(default)]
    intervals: Vec<Entry>,
    #[serde(default)]
    end: End,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Start {
    version: Option<String>,
    timestamp: Option<Timestamp>,
    connecting_to: Option<Peer>,
    accepted_connection: Option<Peer>,
    test_start: Option<Test>,
}

#[derive(Debug, Deserialize)]
struct Timestamp {
    timesecs: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Peer {
    host: String,
    port: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Test {
    protocol: Option<String>,
    num_streams: Option<u64>,
    blksize: Option<u64>,
    omit: Option<f64>,
    duration: Option<f64>,
    #[serde(default)]
    reverse: u64,
    #[serde(default)]
    bidir: u64,
    target_bitrate: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    sum: Option<Sum>,
    sum_bidir_reverse: Option<Sum>,
}

#[derive(Debug, Default, Deserialize)]
struct End {
    sum: Option<Sum>,
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
    sum_sent_bidir_reverse: Option<Sum>,
    sum_received_bidir_reverse: Option<Sum>,
    cpu_utilization_percent: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Sum {
    start: f64,
    seconds: Number,
    bytes: Number,
    bits_per_second: Number,
    retransmits: Option<u64>,
    packets: Option<Number>,
    lost_packets: Option<i64>,
    #[serde(default)]
    omitted: bool,
}

/// Reads the file of a client, or of a server that served one client.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let file: File = json::parse(NAME, text)?;
    if let Some(what) = file.error {
        return Err(wrong("error", &format!("the test failed: {what}")));
    }
    let Some(test) = &file.start.test_start else {
        return Err(wrong("start.test_start", "is missing"));
    };
    let served = file.start.connecting_to.is_none() && file.start.accepted_connection.is_some();
    // A server receives unless the test is reversed.
    let sends = (test.reverse == 0) != served;
    let both_ways = test.bidir != 0 || file.end.sum_sent_bidir_reverse.is_some();
    let end = &file.end;
    let (forth, back) = if sends {
        (end.sum_sent.as_ref(), end.sum_received_bidir_reverse.as_ref())
    } else {
        (end.sum_received.as_ref(), end.sum_sent_bidir_reverse.as_ref())
    };
    let Some(forth) = forth.or(end.sum.as_ref()) else {
        return Err(wrong("end", "has no sums"));
    };
    let way = |sends| if sends { Way::Write } else { Way::Read };
    let mut directions = vec![direction(way(sends), forth, "end")?];
    if let Some(back) = back {
        directions.push(direction(way(!sends), back, "end")?);
    }
    let mut intervals = Vec::new();
    for (at, entry) in file.intervals.iter().enumerate() {
        let sums = [(sends, &entry.sum), (!sends, &entry.sum_bidir_reverse)];
        for (sends, sum) in sums {
            let Some(sum) = sum.as_ref().filter(|sum| !sum.omitted) else { continue };
            intervals.push(interval(way(sends), sum, &format!("intervals[{at}]"))?);
        }
    }
    let mut left_out = Vec::new();
    if both_ways || (end.sum_sent.is_some() && end.sum_received.is_some()) {
        left_out.push("What the other host counted.".to_string());
    }
    let resent = [&end.sum_sent, &end.sum_sent_bidir_reverse];
    let resent: u64 =
        resent.into_iter().flatten().filter_map(|sum| sum.retransmits).fold(0, u64::saturating_add);
    if resent > 0 {
        left_out.push(format!("TCP segments that were sent again: {resent}."));
    }
    if end.cpu_utilization_percent.is_some() {
        left_out.push("The CPU utilization, which is of iperf3's own processes.".to_string());
    }
    let peer = file.start.connecting_to.or(file.start.accepted_connection);
    let run = Run {
        name: test.protocol.clone().unwrap_or_default(),
        place: "end".to_string(),
        target: peer.map(|peer| match peer.port {
            Some(port) => format!("{}:{port}", peer.host),
            None => peer.host,
        }),
        began_s: file.start.timestamp.and_then(|stamp| stamp.timesecs),
        load: load(test, sends, both_ways),
        window_s: forth.seconds.printed(),
        directions,
        intervals,
        // Datagrams that were lost; TCP loses none.
        errors: end
            .sum
            .as_ref()
            .or(end.sum_received.as_ref())
            .and_then(|sum| sum.lost_packets)
            .map(|lost| u64::try_from(lost).unwrap_or(0)),
        ..Run::default()
    };
    Ok(Imported {
        tool: "iperf3".into(),
        version: version(file.start.version),
        runs: vec![run],
        left_out,
    })
}

/// `iperf 3.12` without the name.
fn version(stated: Option<String>) -> Option<String> {
    stated.map(|text| text.trim_start_matches("iperf ").to_string())
}

fn load(test: &Test, sends: bool, both_ways: bool) -> Load {
    let rate = test.target_bitrate.filter(|&rate| rate > 0.0);
    let bytes = test.blksize.filter(|&bytes| bytes > 0);
    Load {
        request_bytes: bytes,
        read_share: (!both_ways).then_some(if sends { 0.0 } else { 1.0 }),
        workers: test.num_streams,
        rate_per_s: rate.zip(bytes).zip(test.num_streams).map(|((rate, bytes), streams)| {
            rate / 8.0 / bytes as f64 * streams as f64 * if both_ways { 2.0 } else { 1.0 }
        }),
        engine: test.protocol.clone(),
        ramp_s: test.omit,
        duration_s: test.duration.filter(|&duration| duration > 0.0),
        ..Load::default()
    }
}

fn direction(way: Way, sum: &Sum, path: &str) -> Result<Direction, ImportError> {
    Ok(Direction {
        operations: sum.packets.as_ref().and_then(Number::count),
        bytes: Some(not_negative(sum.bytes.count(), path, "bytes")?),
        bytes_per_s: Some(rate(sum, path)?),
        runtime_s: Some(not_negative(sum.seconds.printed(), path, "seconds")?),
        ..Direction::new(way)
    })
}

fn interval(way: Way, sum: &Sum, path: &str) -> Result<Interval, ImportError> {
    Ok(Interval {
        start_s: sum.start,
        length_s: not_negative(sum.seconds.printed(), path, "seconds")?.value,
        way: Some(way),
        bytes_per_s: Some(rate(sum, path)?),
        ..Interval::default()
    })
}

fn rate(sum: &Sum, path: &str) -> Result<Figure, ImportError> {
    Ok(not_negative(sum.bits_per_second.printed(), path, "bits_per_second")?.times(0.125))
}

fn not_negative(figure: Option<Figure>, path: &str, field: &str) -> Result<Figure, ImportError> {
    figure
        .filter(|figure| figure.value >= 0.0)
        .ok_or_else(|| wrong(&format!("{path}: {field}"), "is not a number of at least 0"))
}

fn wrong(path: &str, what: &str) -> ImportError {
    ImportError::Wrong { format: NAME, path: path.to_string(), what: what.to_string() }
}
