//! elbencho's CSV, in which no field has a comma.

use std::collections::HashMap;

use crate::error::ImportError;
use crate::figure::Figure;
use crate::place::{Line, lines, remark};
use crate::run::{Direction, Imported, Way};
use crate::time::iso;
use crate::units::{MIB, cut};

use super::phase::{NAME, OTHERS, Settings, latency, way};

/// No version has half as many.
const MOST_COLUMNS: usize = 256;

/// Whether the text is such a file, with its headings.
pub(super) fn is(text: &str) -> bool {
    text.starts_with("ISO date,label,path type,")
}

/// Reads the file.
pub(super) fn read(text: &str, imported: &mut Imported) -> Result<(), ImportError> {
    let mut columns: HashMap<&str, usize> = HashMap::new();
    let mut count = 0;
    for line in lines(NAME, text) {
        if line.text.trim().is_empty() {
            continue;
        }
        let fields = line.text.split(',');
        let found = fields.clone().count();
        if is(line.text) {
            if found > MOST_COLUMNS {
                return Err(line.error(line.text, "more columns than elbencho has"));
            }
            count = found;
            columns = fields.enumerate().map(|(at, name)| (name, at)).collect();
            continue;
        }
        if found != count {
            let what = format!("{found} fields below {count} headings");
            return Err(line.error(line.text, what));
        }
        let row = Row { line: &line, fields: fields.collect(), columns: &columns };
        let phase = row.field("operation").unwrap_or_default();
        imported.version =
            imported.version.take().or_else(|| row.field("version").map(str::to_string));
        let Some(way) = way(phase) else {
            remark(&mut imported.left_out, OTHERS);
            continue;
        };
        let mut run = row.settings()?.run(phase, format!("line {}", line.number));
        run.window_s = row.figure("time ms [last]")?.map(|ms| ms.times(1e-3));
        run.cpu_busy = row.figure("CPU% [last]")?.map(|percent| percent.times(0.01));
        run.directions.push(row.direction(way, "")?);
        if row.field("rwmix read IOPS [last]").is_some() {
            run.directions.push(row.direction(Way::Read, "rwmix read ")?);
        }
        imported.runs.push(run);
    }
    // The last field is the command; a line that is cut within it has no end.
    if !text.ends_with('\n') {
        return Err(crate::place::truncated(NAME, text));
    }
    Ok(())
}

/// A phase.
struct Row<'a> {
    line: &'a Line<'a>,
    fields: Vec<&'a str>,
    columns: &'a HashMap<&'a str, usize>,
}

impl Row<'_> {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(*self.columns.get(name)?).copied().filter(|field| !field.is_empty())
    }

    /// A number whose fraction is cut.
    fn figure(&self, name: &str) -> Result<Option<Figure>, ImportError> {
        let field = self.field(name).map(|field| self.line.figure(field)).transpose()?;
        Ok(field.map(cut))
    }

    fn whole(&self, name: &str) -> Result<Option<u64>, ImportError> {
        self.field(name).map(|field| self.line.whole(field)).transpose()
    }

    fn truth(&self, name: &str) -> Option<bool> {
        self.field(name).map(|field| field == "1")
    }

    fn settings(&self) -> Result<Settings, ImportError> {
        Ok(Settings {
            label: self.field("label").map(str::to_string),
            path_type: self.field("path type").map(str::to_string),
            paths: self.whole("paths")?,
            hosts: self.whole("hosts")?,
            threads: self.whole("threads")?,
            file_size: self.whole("file size")?,
            block_size: self.whole("block size")?,
            direct: self.truth("direct IO"),
            random: self.truth("random"),
            depth: self.whole("IO depth")?,
            began_s: self.field("ISO date").and_then(iso),
        })
    }

    fn direction(&self, way: Way, prefix: &str) -> Result<Direction, ImportError> {
        let named = |name: &str| format!("{prefix}{name}");
        let mut direction = Direction::new(way);
        direction.iops = self.figure(&named("IOPS [last]"))?;
        direction.bytes_per_s = self.figure(&named("MiB/s [last]"))?.map(|mib| mib.times(MIB));
        direction.bytes = self.figure(&named("MiB [last]"))?.map(|mib| mib.times(MIB));
        let us = |name: &str, mean| {
            let field = self.field(&named(name)).map(|field| self.line.figure(field));
            Ok::<_, ImportError>(field.transpose()?.map(|us| latency(us, mean)))
        };
        direction.latency.min = us("IO lat us [min]", false)?;
        direction.latency.mean = us("IO lat us [avg]", true)?;
        direction.latency.max = us("IO lat us [max]", false)?;
        Ok(direction)
    }
}
