//! Generated results that are sound and rounded as people print them: how often the audit raises an alarm.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_audit::{Level, audit_sheet, sentence};
use stormeter_replicate::Sheet;

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.share() * choices.len() as f64) as usize]
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }
}

/// With this many significant digits, and no exponent.
fn printed(value: f64, significant: i32) -> String {
    let decimals = significant - 1 - value.abs().max(1e-9).log10().floor() as i32;
    match decimals {
        0.. => format!("{value:.*}", decimals.min(9) as usize),
        // People do not replace digits by zeros.
        _ => format!("{value:.0}"),
    }
}

/// A sheet of several tables: loads of closed loops, samples with their moments, repetitions with their mean, counts,
/// network rates and a claim.
fn sheet(draw: &mut Draw) -> String {
    let mut text = String::from("tables:\n");
    let head = |text: &mut String, name: &str, unit: &str, columns: &str| {
        let _ = write!(
            text,
            "  - {{name: {name}, label: {name}, about: x, unit: {unit}, columns: [{columns}], rows: ["
        );
    };
    let digits = draw.of(&[3, 4, 5]);
    let rate_unit = draw.of(&["MB/s", "MiB/s", "KB/s", "Mb/s", "GB/s"]);
    let of_rate = match rate_unit {
        // To some a MB is 2^20 bytes.
        "MB/s" => draw.of(&[1e6, 1_048_576.0]),
        "MiB/s" => 1_048_576.0,
        "KB/s" => draw.of(&[1e3, 1024.0]),
        "Mb/s" => 125e3,
        _ => 1e9,
    };
    let columns = format!(
        "cell, {{name: request, unit: KiB, exact: true}}, {{name: outstanding, unit: requests, exact: true}}, \
         {{name: iops, unit: IOPS}}, {{name: throughput, unit: {rate_unit}}}, {{name: latency, unit: ms}}, \
         {{name: latency_max, unit: ms}}"
    );
    head(&mut text, "load", "ms", &columns);
    for row in 0..draw.of(&[1, 3, 8]) {
        let (kib, outstanding) =
            (draw.of(&[4.0, 8.0, 16.0, 64.0, 256.0]), draw.of(&[1.0, 4.0, 16.0, 32.0]));
        let latency_ms = draw.between(0.05, 40.0);
        // A slot is idle for a moment between two requests.
        let iops = outstanding / latency_ms * 1e3 * draw.between(0.95, 1.0);
        let _ = write!(
            text,
            "[c{row}, {kib}, {outstanding}, {}, {}, {}, {}], ",
            printed(iops, digits),
            printed(iops * kib * 1024.0 / of_rate, digits),
            printed(latency_ms, digits),
            printed(latency_ms * draw.between(1.0, 30.0), digits),
        );
    }
    text += "]}\n";
    let columns =
        "cell, {name: n, unit: runs, exact: true}, mean, sd, se, variance, median, min, max, range";
    head(&mut text, "sample", "IOPS", columns);
    for row in 0..draw.of(&[2, 4]) {
        let n = draw.of(&[3usize, 5, 10, 30, 500]);
        let (level, spread) = (draw.between(100.0, 1e5), draw.between(0.001, 0.2));
        let values: Vec<f64> = (0..n).map(|_| level * (spread * draw.normal()).exp()).collect();
        let moments = Moments::of(&values);
        let _ = write!(text, "[s{row}, {n}");
        for value in moments.0 {
            let _ = write!(text, ", {}", printed(value, digits + 1));
        }
        text += "], ";
    }
    text += "]}\n";
    head(&mut text, "runs", "ms", "run, local, nas");
    let (n, decimals) = (draw.of(&[3usize, 5, 10]), draw.of(&[1usize, 2, 4]));
    let mut sums = [0.0; 2];
    for row in 0..n {
        let values = [40.0, 90.0].map(|middle: f64| middle * (0.05 * draw.normal()).exp());
        sums = [sums[0] + values[0], sums[1] + values[1]];
        let _ = write!(text, "[r{row}, {:.*}, {:.*}], ", decimals, values[0], decimals, values[1]);
    }
    let [local, nas] = sums.map(|sum| sum / n as f64);
    let _ = writeln!(text, "[mean, {local:.decimals$}, {nas:.decimals$}]]}}");
    let columns = "level, {name: vms_per_host, exact: true}, {name: hosts, exact: true}, {name: vms_total, exact: true}";
    head(&mut text, "counts", "VMs", columns);
    let (per_host, hosts) = (draw.of(&[1, 4, 20]), draw.of(&[1, 3, 8]));
    let _ = writeln!(text, "[low, {per_host}, {hosts}, {}]]}}", per_host * hosts);
    head(
        &mut text,
        "net",
        "KB/s",
        "{name: elapsed, unit: s, exact: true}, usage, transmit, receive",
    );
    for row in 1..4 {
        let (transmit, receive) = (draw.between(1.0, 99.0), draw.between(500.0, 9e3));
        let _ = write!(
            text,
            "[{}, {:.0}, {transmit:.0}, {receive:.0}], ",
            10 * row,
            transmit + receive
        );
    }
    text += "]}\nlinks:\n  - {name: a link, rate: 1 Gb/s, round-trip: 0.1 ms, carries: [net.usage, runs.nas]}\nclaims:\n";
    let base = draw.of(&["lhs", "rhs"]);
    let percent = if base == "rhs" { nas / local - 1.0 } else { 1.0 - local / nas };
    let _ = writeln!(
        text,
        "  - {{say: x, lhs: runs.mean.nas, rhs: runs.mean.local, relation: higher, value: \"{:.1}\", base: {base}}}",
        100.0 * percent
    );
    text
}

/// Mean, SD, SE, variance, median, least and greatest value, range.
struct Moments([f64; 8]);

impl Moments {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            1 => sorted[half],
            _ => 0.5 * (sorted[half - 1] + sorted[half]),
        };
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let sd = variance.sqrt();
        Self([mean, sd, sd / n.sqrt(), variance, median, min, max, max - min])
    }
}

#[test]
fn sound_results_raise_no_alarm() {
    const RESULTS: u64 = 600;
    let mut doubted = 0;
    for seed in 0..RESULTS {
        let text = sheet(&mut Draw(Xoshiro256PlusPlus::seed_from_u64(seed)));
        let sheet = Sheet::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = audit_sheet(&sheet).unwrap();
        let of = |level: Level| found.iter().filter(move |finding| finding.level == level);
        if let Some(finding) = of(Level::Broken).next() {
            panic!("seed {seed}: {}: {}\n{text}", finding.place, sentence(finding));
        }
        if let Some(finding) = of(Level::Doubtful).next() {
            println!("seed {seed}: {}: {}", finding.place, sentence(finding));
            doubted += 1;
        }
    }
    println!("{doubted} of {RESULTS} sound results were doubted");
    assert!(doubted * 50 <= RESULTS, "{doubted} of {RESULTS}");
}
