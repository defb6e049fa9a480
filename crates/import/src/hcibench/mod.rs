//! HCIBench's summary (`…-res.txt`): the sums and means over all virtual machines of a test.
//!
//! After the scripts of HCIBench 1 and 2 that write it, for vdbench and for fio. Its megabyte is 1024 of the kilobytes
//! of fio, and vdbench's of 2^20 bytes. Depending on the version numbers are whole, with the fraction cut and two zeros
//! printed behind the point. Latencies are means over the machines of their means, whatever each machine did.

#[cfg(test)]
mod tests;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, remark, truncated};
use crate::room::kept;
use crate::run::{Direction, Imported, Percentile, Run, Way};
use crate::series::Series;
use crate::units::{MIB, MS};

/// What this format is called.
pub(crate) const NAME: &str = "HCIBench summary";

/// Whether the text is such a summary.
pub(crate) fn is(text: &str) -> bool {
    text.contains("THROUGHPUT") && text.contains("R_LATENCY") && text.contains("W_LATENCY")
}

/// Reads the summary.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported {
        tool: "HCIBench".into(),
        version: None,
        runs: Series::default(),
        left_out: Vec::new(),
    };
    let mut datastore: Option<String> = None;
    let mut open = Block::default();
    for line in lines(NAME, text) {
        let trimmed = line.text.trim();
        if trimmed.len() > 3 && trimmed.bytes().all(|byte| byte == b'=') {
            let block = std::mem::take(&mut open);
            if block.figures {
                imported.runs.push(block.run(&line, datastore.clone())?);
            } else {
                // The line above a block, behind the name of the datastore or of the job.
                open = block;
            }
            continue;
        }
        if trimmed.starts_with("Resource Usage") {
            break;
        }
        let Some((name, value)) = trimmed.split_once(['=', ':']) else { continue };
        let value = value.trim();
        match name.trim() {
            "Datastore" => datastore = Some(kept(value)),
            name => open.take(&line, name, value, &mut imported.left_out)?,
        }
    }
    if open.figures || imported.runs.is_empty() {
        return Err(truncated(NAME, text));
    }
    remark(&mut imported.left_out, "How many virtual machines there were.");
    Ok(imported)
}

const NO_PERCENTILE: &str =
    "95%tile_LAT, which is no percentile: the mean and 1.645 standard deviations.";
const MEAN: &str = "95%tile_R_LAT and 95%tile_W_LAT are means over the machines of their percentiles, and are not \
                    the percentiles of all requests.";

/// The results of a test.
#[derive(Debug, Default)]
struct Block {
    name: String,
    place: usize,
    /// The tool that did the I/O.
    engine: Option<String>,
    duration_s: Option<f64>,
    /// Whether figures were seen, with which a block is complete only at its end.
    figures: bool,
    iops: Option<Figure>,
    throughput: Option<Figure>,
    latency: Option<Figure>,
    read: Option<Figure>,
    write: Option<Figure>,
    read_95: Option<Figure>,
    write_95: Option<Figure>,
}

impl Block {
    fn take(
        &mut self,
        line: &Line<'_>,
        name: &str,
        value: &str,
        left_out: &mut Vec<String>,
    ) -> Result<(), ImportError> {
        let field = match name {
            "Version" => {
                self.engine = Some(value.to_string());
                return Ok(());
            }
            "Run Def" | "JOB_NAME" => {
                self.place = line.number;
                if name == "JOB_NAME" {
                    self.engine = Some("fio".to_string());
                }
                self.definition(value);
                return Ok(());
            }
            "95%tile_LAT" => {
                remark(left_out, NO_PERCENTILE);
                return Ok(());
            }
            "IOPS" => (&mut self.iops, "IO/s", 1.0),
            "THROUGHPUT" => (&mut self.throughput, "MB/s", MIB),
            "LATENCY" => (&mut self.latency, "ms", MS),
            "R_LATENCY" => (&mut self.read, "ms", MS),
            "W_LATENCY" => (&mut self.write, "ms", MS),
            "95%tile_R_LAT" => (&mut self.read_95, "ms", MS),
            "95%tile_W_LAT" => (&mut self.write_95, "ms", MS),
            _ => return Ok(()),
        };
        let (place, unit, factor) = field;
        let (number, stated) = value.split_once(' ').unwrap_or((value, ""));
        if !stated.trim().eq_ignore_ascii_case(unit) {
            return Err(line.error(value, format!("the unit is not {unit}")));
        }
        let figure = line.figure(number)?;
        // Two zeros are of a whole number whose fraction was cut before it was printed.
        let whole =
            number.split_once('.').is_none_or(|(_, digits)| digits.bytes().all(|b| b == b'0'));
        let figure = if whole { Figure { half: 1.0, ..figure } } else { figure };
        *place = Some(figure.times(factor));
        self.figures = true;
        if name.starts_with("95") {
            remark(left_out, MEAN);
        }
        Ok(())
    }

    /// The name of fio's job, or `RD=run1; I/O rate: …; elapsed=3600 warmup=30; …`.
    fn definition(&mut self, value: &str) {
        let Some(definition) = value.strip_prefix("RD=") else {
            self.name = value.to_string();
            return;
        };
        self.name = definition.split(';').next().unwrap_or_default().trim().to_string();
        let elapsed = definition.split([';', ' ']).find_map(|part| part.strip_prefix("elapsed="));
        self.duration_s = elapsed
            .and_then(|seconds| seconds.parse::<f64>().ok())
            .filter(|seconds| seconds.is_finite());
    }

    fn run(self, line: &Line<'_>, datastore: Option<String>) -> Result<Run, ImportError> {
        let (Some(iops), Some(throughput)) = (self.iops, self.throughput) else {
            return Err(line.error(line.text.trim(), "no IOPS or no THROUGHPUT before this line"));
        };
        let mut both = Direction::new(Way::Both);
        both.iops = Some(iops);
        both.bytes_per_s = Some(throughput);
        both.latency.mean = self.latency;
        let mut run = Run {
            name: self.name,
            place: format!("line {}", self.place.max(1)),
            target: datastore,
            directions: vec![both],
            ..Run::default()
        };
        run.load.duration_s = self.duration_s;
        run.load.engine = self.engine;
        let kinds = [(Way::Read, self.read, self.read_95), (Way::Write, self.write, self.write_95)];
        for (way, mean, ns) in kinds {
            // 0: nothing of this kind was done.
            if mean.is_none_or(|mean| mean.value == 0.0) {
                continue;
            }
            let mut direction = Direction::new(way);
            direction.latency.mean = mean;
            direction.latency.percentiles.extend(ns.map(|ns| Percentile { share: 0.95, ns }));
            run.directions.push(direction);
        }
        Ok(run)
    }
}
