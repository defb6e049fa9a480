//! Results of other tools, kept in a results file.
//!
//! They are no trials: most tools state neither histograms nor single repetitions, and what a file does not say must not
//! be made up. So such a file has tables of its own, which hold what the tools' files say and nothing else.

mod read;
mod row;
mod source;
mod write;

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
pub use source::ImportedSource;

use crate::error::ResultsError;
use crate::file::{check, connect, regular_file_bytes};
use crate::format::IMPORTED_ID;

/// The form of the tables.
pub const FORMAT_VERSION: i32 = 1;

/// Keeps results of other tools in a new file at `path`, all of them or none. `version` is that of this program.
///
/// # Errors
/// `Exists` if there is a file; `Io`, `NoSpace` or `Sqlite` if it cannot be written.
pub fn write_imported(
    path: &Path,
    sources: &[ImportedSource],
    version: &str,
) -> Result<(), ResultsError> {
    OpenOptions::new().write(true).create_new(true).open(path).map_err(|source| {
        match source.kind() {
            ErrorKind::AlreadyExists => ResultsError::Exists { path: path.into() },
            _ => ResultsError::Io { path: path.into(), source },
        }
    })?;
    let fill = || -> rusqlite::Result<()> {
        let mut connection = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        let transaction = connection.transaction()?;
        transaction.pragma_update(None, "application_id", IMPORTED_ID)?;
        transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
        transaction.execute_batch(include_str!("imported.sql"))?;
        crate::write::meta(&transaction, "stormeter_version", &version)?;
        write::sources(&transaction, sources)?;
        transaction.commit()
    };
    fill().map_err(|error| {
        // The file was made above, and holds nothing.
        let _ = std::fs::remove_file(path);
        ResultsError::from_sqlite(path, error)
    })
}

/// The results of other tools that the file at `path` keeps.
///
/// # Errors
/// `NotResults` if it keeps none; `Missing`, `NotAFile`, `Newer`, `Corrupt` or `Io`.
pub fn read_imported(path: &Path) -> Result<Vec<ImportedSource>, ResultsError> {
    regular_file_bytes(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    check(&connection, path, (IMPORTED_ID, FORMAT_VERSION))?;
    read::sources(&connection).map_err(|error| ResultsError::from_sqlite(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stormeter_import::{
        Bucket, Direction, Figure, Imported, Interval, Load, Pattern, Percentile, Run, Way,
    };

    fn figure(value: f64) -> Option<Figure> {
        Some(Figure { value, half: value / 64.0 })
    }

    /// Every field has a value that no other has.
    fn sources() -> Vec<ImportedSource> {
        let mut read = Direction::new(Way::Read);
        read.operations = Some(Figure::exact(60_000.0));
        read.bytes = figure(1e9);
        read.iops = figure(1000.25);
        read.bytes_per_s = figure(4.1e6);
        read.runtime_s = figure(59.0);
        read.latency.mean = figure(0.1 + 0.2);
        read.latency.sd = figure(7.0);
        read.latency.min = figure(3.0);
        read.latency.max = figure(9e9);
        read.latency.percentiles = vec![
            Percentile { share: 0.5, ns: Figure { value: 8e5, half: 0.5 } },
            Percentile { share: 0.999, ns: Figure { value: 9e5, half: 0.25 } },
        ]
        .into_iter()
        .collect();
        read.latency.histogram = vec![
            Bucket { low_ns: 0.0, high_ns: 1000.0, count: 4 },
            Bucket { low_ns: 1000.0, high_ns: f64::INFINITY, count: u64::MAX >> 1 },
        ]
        .into_iter()
        .collect();
        let full = Run {
            name: "night".into(),
            place: "jobs[0]".into(),
            target: Some("/srv/vm".into()),
            began_s: Some(1.79e9),
            load: Load {
                request_bytes: Some(4096),
                read_share: Some(0.7),
                pattern: Some(Pattern::Mixed(0.25)),
                outstanding: Some(32),
                workers: Some(4),
                rate_per_s: Some(5000.5),
                working_set_bytes: Some(1 << 40),
                direct: Some(true),
                durability: Some("fsync=1".into()),
                engine: Some("libaio".into()),
                ramp_s: Some(5.0),
                duration_s: Some(60.0),
            },
            window_s: figure(60.5),
            directions: vec![read, Direction::new(Way::Trim)],
            outstanding_mean: figure(31.0),
            cpu_busy: figure(0.5),
            intervals: vec![
                Interval {
                    start_s: 0.0,
                    length_s: 1.0,
                    way: Some(Way::Both),
                    iops: figure(1.0),
                    bytes_per_s: figure(2.0),
                    latency_mean: figure(3.0),
                    latency_p99: figure(4.0),
                    latency_max: figure(5.0),
                },
                Interval::default(),
            ]
            .into_iter()
            .collect(),
            errors: Some(0),
        };
        let of = |pattern| Run { load: Load { pattern, ..Load::default() }, ..Run::default() };
        let empty = [Some(Pattern::Sequential), Some(Pattern::Random), None].map(of);
        let source = |file: &str, version: Option<&str>, runs: Vec<Run>| ImportedSource {
            file: file.into(),
            imported: Imported {
                tool: "fio".into(),
                version: version.map(Into::into),
                runs: runs.into_iter().collect(),
                left_out: vec!["One \"thing\".".into()],
            },
        };
        vec![
            source("a.json", Some("3.33"), vec![full]),
            source("b.json", None, empty.into()),
            source("c.json", None, vec![]),
        ]
    }

    #[test]
    fn what_was_kept_is_read_back() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("kept.db");
        write_imported(&path, &sources(), "0.1.0").unwrap();
        assert_eq!(read_imported(&path).unwrap(), sources());
        let again = write_imported(&path, &sources(), "0.1.0");
        assert!(matches!(again, Err(ResultsError::Exists { .. })), "{again:?}");
        assert!(matches!(crate::ResultsFile::open(&path), Err(ResultsError::Imported { .. })));
    }

    #[test]
    fn what_cannot_be_stored_leaves_no_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("kept.db");
        let mut sources = sources();
        let runs = sources[0].imported.runs.iter();
        let runs = runs.map(|run| Run { errors: Some(u64::MAX), ..run });
        sources[0].imported.runs = runs.collect();
        assert!(write_imported(&path, &sources, "0.1.0").is_err());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_from_elsewhere_may_hold_anything() {
        let place = tempfile::tempdir().unwrap();
        for (name, change) in [
            ("way", "UPDATE direction SET way = 'sideways'"),
            ("pattern", "UPDATE run SET pattern = 'zigzag'"),
            ("count", "UPDATE bucket SET count = -1"),
            ("left_out", "UPDATE source SET left_out = '{'"),
            ("run", "PRAGMA foreign_keys = OFF; DELETE FROM run WHERE id = 0"),
        ] {
            let path = place.path().join(name);
            write_imported(&path, &sources(), "0.1.0").unwrap();
            Connection::open(&path).unwrap().execute_batch(change).unwrap();
            let found = read_imported(&path);
            assert!(matches!(found, Err(ResultsError::Corrupt { .. })), "{name}: {found:?}");
        }
        let none = place.path().join("none");
        std::fs::write(&none, "").unwrap();
        assert!(matches!(read_imported(&none), Err(ResultsError::NotResults { .. })));
    }
}
