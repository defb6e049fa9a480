//! The rows `ALL` of Iometer's results, by the names of their columns.

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::Line;
use crate::run::{Bucket, Direction, Load, Run, Way};
use crate::series::Series;
use crate::units::{MIB, MS};

/// The headings of the histogram, each with the upper bound in nanoseconds. Where heading and source differ (`4.7 s`,
/// which is 4 s, and two that are parts of a second: a 67th and a 33rd) the source is right.
const BUCKETS: [(&str, f64); 21] = [
    ("0 to 50 uS", 5e4),
    ("50 to 100 uS", 1e5),
    ("100 to 200 uS", 2e5),
    ("200 to 500 uS", 5e5),
    ("0.5 to 1 mS", 1e6),
    ("1 to 2 mS", 2e6),
    ("2 to 5 mS", 5e6),
    ("5 to 10 mS", 1e7),
    ("10 to 15 mS", 1e9 / 67.0),
    ("15 to 20 mS", 2e7),
    ("20 to 30 mS", 1e9 / 33.0),
    ("30 to 50 mS", 5e7),
    ("50 to 100 mS", 1e8),
    ("100 to 200 mS", 2e8),
    ("200 to 500 mS", 5e8),
    ("0.5 to 1 S", 1e9),
    ("1 to 2 s", 2e9),
    ("2 to 4.7 s", 4e9),
    ("4.7 to 5 s", 5e9),
    ("5 to 10 s", 1e10),
    (">= 10 s", f64::INFINITY),
];

/// No version has half as many.
const MOST_COLUMNS: usize = 256;

/// The columns of a kind of I/O.
#[derive(Debug)]
struct Kind {
    way: Way,
    iops: Option<usize>,
    mib: Option<usize>,
    mean: Option<usize>,
    max: Option<usize>,
    bytes: Option<usize>,
    operations: Option<usize>,
}

/// Which column holds what.
#[derive(Debug)]
pub(super) struct Columns {
    count: usize,
    name: usize,
    kinds: [Kind; 3],
    workers: Option<usize>,
    disks: Option<usize>,
    depth: Option<usize>,
    sectors: Option<usize>,
    cpu: Option<usize>,
    errors: Option<usize>,
    /// The first one of the histogram, if all are there.
    histogram: Option<usize>,
}

impl Columns {
    /// Reads the line of headings.
    pub(super) fn of(line: &Line<'_>) -> Result<Self, ImportError> {
        if line.text.split(',').count() > MOST_COLUMNS {
            return Err(line.error(line.text, "more columns than Iometer has"));
        }
        let names: Vec<_> = line.text.split(',').map(str::trim).collect();
        let find = |name: &str| names.iter().position(|known| *known == name);
        let megabytes = |way: &str| {
            find(&format!("{way}MiBps (Binary)")).or_else(|| find(&format!("{way}MBps")))
        };
        let kind = |way, word: &str, bytes, operations| {
            let prefix = if word.is_empty() { String::new() } else { format!("{word} ") };
            Kind {
                way,
                iops: find(&format!("{prefix}IOps")),
                mib: megabytes(&prefix),
                mean: find(&format!("Average {prefix}Response Time")),
                max: find(&format!("Maximum {prefix}Response Time")),
                bytes: find(bytes),
                operations: find(operations),
            }
        };
        let Some(name) = find("Access Specification Name") else {
            return Err(line.error(line.text, "no column Access Specification Name"));
        };
        let histogram = find(BUCKETS[0].0).filter(|first| {
            let all = names.get(*first..*first + BUCKETS.len());
            all.is_some_and(|all| all.iter().zip(&BUCKETS).all(|(name, known)| *name == known.0))
        });
        Ok(Self {
            count: names.len(),
            name,
            kinds: [
                kind(Way::Both, "", "", ""),
                kind(Way::Read, "Read", "Bytes Read", "Read I/Os"),
                kind(Way::Write, "Write", "Bytes Written", "Write I/Os"),
            ],
            workers: find("# Workers"),
            disks: find("# Disks"),
            depth: find("Queue Depth"),
            sectors: find("Maximum Size"),
            cpu: find("% CPU Utilization"),
            errors: find("Errors"),
            histogram,
        })
    }

    /// The run, if the row is of the whole.
    pub(super) fn run(&self, line: &Line<'_>) -> Result<Option<Run>, ImportError> {
        let all = || line.text.split(',').map(str::trim);
        if all().next() != Some("ALL") {
            return Ok(None);
        }
        let fields: Vec<_> = all().take(self.count).collect();
        if fields.len() < self.count {
            let last = fields.last().unwrap_or(&line.text);
            return Err(line.error(last, "fewer fields than the line of headings"));
        }
        // A name with a comma would move all that follows it.
        if let Some(more) = all().skip(self.count).find(|field| !field.is_empty()) {
            return Err(line.error(more, "more fields than the line of headings"));
        }
        let row = Row { line, fields };
        let workers = row.whole(self.workers)?;
        let disks = row.whole(self.disks)?;
        // -1 stands for several values; the depth is per target, of which each worker counts its own.
        let depth = row.whole(self.depth)?;
        let sectors = row.whole(self.sectors)?.filter(|&sectors| sectors > 0);
        let load = Load {
            workers,
            outstanding: disks.zip(depth).and_then(|(disks, depth)| disks.checked_mul(depth)),
            working_set_bytes: sectors
                .filter(|_| disks == Some(1))
                .and_then(|sectors| sectors.checked_mul(512)),
            ..Load::default()
        };
        let mut directions = Vec::new();
        for kind in &self.kinds {
            let mut direction = row.direction(kind)?;
            if kind.way == Way::Both {
                direction.latency.histogram = row.histogram(self.histogram)?;
            } else if direction.iops.is_none_or(|iops| iops.value == 0.0) {
                continue;
            }
            directions.push(direction);
        }
        Ok(Some(Run {
            name: row.fields.get(self.name).unwrap_or(&"").to_string(),
            place: format!("line {}", line.number),
            load,
            directions,
            cpu_busy: row.figure(self.cpu)?.map(|percent| percent.times(0.01)),
            errors: row.whole(self.errors)?,
            ..Run::default()
        }))
    }
}

/// A row of the whole.
struct Row<'a> {
    line: &'a Line<'a>,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    fn field(&self, column: Option<usize>) -> Option<&str> {
        self.fields.get(column?).copied().filter(|field| !field.is_empty())
    }

    fn figure(&self, column: Option<usize>) -> Result<Option<Figure>, ImportError> {
        self.field(column).map(|field| self.line.figure(field)).transpose()
    }

    /// A count; `None` for -1, which says that there are several values.
    fn whole(&self, column: Option<usize>) -> Result<Option<u64>, ImportError> {
        match self.field(column) {
            None | Some("-1") => Ok(None),
            Some(field) => self.line.whole(field).map(Some),
        }
    }

    fn direction(&self, kind: &Kind) -> Result<Direction, ImportError> {
        let mut direction = Direction::new(kind.way);
        let count = |column| {
            Ok::<_, ImportError>(self.whole(column)?.map(|count| Figure::exact(count as f64)))
        };
        direction.operations = count(kind.operations)?;
        direction.bytes = count(kind.bytes)?;
        direction.iops = self.figure(kind.iops)?;
        direction.bytes_per_s = self.figure(kind.mib)?.map(|figure| figure.times(MIB));
        direction.latency.mean = self.figure(kind.mean)?.map(|figure| figure.times(MS));
        direction.latency.max = self.figure(kind.max)?.map(|figure| figure.times(MS));
        Ok(direction)
    }

    fn histogram(&self, first: Option<usize>) -> Result<Series<Bucket>, ImportError> {
        let mut buckets = Series::default();
        let Some(first) = first else { return Ok(buckets) };
        let mut low_ns = 0.0;
        for (at, &(_, high_ns)) in BUCKETS.iter().enumerate() {
            let count = self.whole(Some(first + at))?.unwrap_or(0);
            buckets.push(Bucket { low_ns, high_ns, count });
            low_ns = high_ns;
        }
        Ok(buckets)
    }
}
