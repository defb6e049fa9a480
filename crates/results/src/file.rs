//! Creates, opens and finishes a results file.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};
use stormeter_study::StudyPlan;

use crate::assumed::AssumedEffect;
use crate::component::Elasticity;
use crate::error::ResultsError;
use crate::finished::{Event, Finished};
use crate::format::{APPLICATION_ID, FORMAT_VERSION, IMPORTED_ID};
use crate::header::Header;
use crate::host::HostShare;
use crate::lock::RunLock;
use crate::trial::{Phase, TrialRecord};
use crate::{assumed, comparison, component, early, host, read, write};

/// SQLite's header and the place of the application id in it (<https://www.sqlite.org/fileformat.html>).
const HEAD_BYTES: u64 = 100;
const APPLICATION_ID_AT: usize = 68;
/// What brings a file to a form from the one before: the tables that the form adds, which new files get from
/// the same text, then what it changes in those that were there. Both stay as they are, or files that were
/// brought up earlier would differ from those that are brought up now.
const UPGRADES: [(i32, &str, &str); 9] = [
    (2, include_str!("incident.sql"), include_str!("upgrade-2.sql")),
    (3, include_str!("study.sql"), include_str!("upgrade-3.sql")),
    (4, include_str!("component.sql"), ""),
    (5, include_str!("disturbance.sql"), ""),
    (6, include_str!("settled.sql"), ""),
    (6, include_str!("fact.sql"), include_str!("upgrade-6.sql")),
    (7, "", include_str!("upgrade-7.sql")),
    (8, "", include_str!("upgrade-8.sql")),
    (9, include_str!("assumed.sql"), ""),
];
/// How long to wait for a reader in another program.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// An open results file.
#[derive(Debug)]
pub struct ResultsFile {
    // Declared before the lock: fields are dropped in order, and the lock must outlive the
    // connection.
    connection: Connection,
    path: PathBuf,
    _lock: Option<RunLock>,
}

impl ResultsFile {
    /// Makes a new file and writes the header into it. An empty file at `path` is taken over.
    ///
    /// # Errors
    /// `Exists` if there is a file, `NotAFile` if there is a device or similar, `InUse` if another
    /// run is writing it, `LockTaken` if the lock's name is taken by another file, `Io` if the
    /// place cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, ResultsError> {
        // Asked before the lock too, so that none is put next to a device.
        match regular_file_bytes(path) {
            Ok(_) | Err(ResultsError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
        let lock = RunLock::take(path)?;
        // Created here rather than by SQLite, to get the system's error message and so that no
        // existing file is touched.
        let is_made = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if regular_file_bytes(path)? > 0 {
                    return Err(ResultsError::Exists { path: path.into() });
                }
                false
            }
            Err(source) => return Err(ResultsError::Io { path: path.into(), source }),
        };
        let set_up = || -> Result<Connection, ResultsError> {
            let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            let sqlite = |error| ResultsError::from_sqlite(path, error);
            let transaction = connection.transaction().map_err(sqlite)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(sqlite)?;
            transaction.pragma_update(None, "user_version", FORMAT_VERSION).map_err(sqlite)?;
            transaction.execute_batch(include_str!("schema.sql")).map_err(sqlite)?;
            for (_, tables, _) in UPGRADES {
                transaction.execute_batch(tables).map_err(sqlite)?;
            }
            transaction.execute_batch(include_str!("observation.sql")).map_err(sqlite)?;
            write::header(&transaction, header).map_err(sqlite)?;
            transaction.commit().map_err(sqlite)?;
            make_durable(&connection).map_err(sqlite)?;
            Ok(connection)
        };
        match set_up() {
            Ok(connection) => Ok(Self { connection, path: path.into(), _lock: Some(lock) }),
            Err(error) => {
                // It contains nothing useful; but an empty file that existed before is not ours to
                // remove.
                if is_made {
                    let _ = std::fs::remove_file(path);
                }
                Err(error)
            }
        }
    }

    /// Opens a file for reading, even while a run writes it.
    ///
    /// # Errors
    /// `Missing`, `NotAFile`, `NotResults`, `Newer` or `Corrupt`.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        regular_file_bytes(path)?;
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        check(&connection, path, (APPLICATION_ID, FORMAT_VERSION))?;
        Ok(Self { connection, path: path.into(), _lock: None })
    }

    /// Opens a file for adding trials.
    ///
    /// # Errors
    /// See [`ResultsFile::open`]; also `InUse` if another run is writing it, and `LockTaken` if the
    /// lock's name is taken by another file.
    pub fn open_for_resume(path: &Path) -> Result<Self, ResultsError> {
        regular_file_bytes(path)?;
        let lock = RunLock::take(path)?;
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        check(&connection, path, (APPLICATION_ID, FORMAT_VERSION))?;
        let sqlite = |error| ResultsError::from_sqlite(path, error);
        upgrade(&mut connection).map_err(sqlite)?;
        make_durable(&connection).map_err(sqlite)?;
        Ok(Self { connection, path: path.into(), _lock: Some(lock) })
    }

    /// Deletes a results file that no run writes, with what SQLite keeps next to it.
    ///
    /// # Errors
    /// See [`ResultsFile::open`]: only a file that can be read is deleted. Also `NotAFile` for a symbolic link,
    /// `InUse` if a run is writing it, `LockTaken` if the lock's name is taken by another file, and `Io`.
    pub fn delete(path: &Path) -> Result<(), ResultsError> {
        if path.is_symlink() {
            return Err(ResultsError::NotAFile { path: path.into() });
        }
        regular_file_bytes(path)?;
        // Read before it is locked: the lock of a file that is not ours leaves a trace.
        Self::open(path)?.header()?;
        let _lock = RunLock::take(path)?;
        // The logs first: SQLite would apply a log that is left to the next file of this name.
        for suffix in ["-journal", "-wal", "-shm", ""] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            match std::fs::remove_file(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(ResultsError::Io { path: name.into(), source: error });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a run is writing the file.
    pub fn is_in_use(path: &Path) -> bool {
        RunLock::is_held(path)
    }

    /// Whether the file starts as a results file does. Only its first bytes are read; a damaged file may pass.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_one(path: &Path) -> io::Result<bool> {
        let mut head = Vec::new();
        std::fs::File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
        let id = head.get(APPLICATION_ID_AT..APPLICATION_ID_AT + 4);
        Ok(head.starts_with(b"SQLite format 3\0") && id == Some(&APPLICATION_ID.to_be_bytes()))
    }

    /// What was written at the start. Its indices are in range and its cells not too many. A comparison of an
    /// earlier form is the study that it was.
    ///
    /// # Errors
    /// `Corrupt` when no run could have written it.
    pub fn header(&self) -> Result<Header, ResultsError> {
        let corrupt = |what| ResultsError::corrupt(&self.path, what);
        let of_header = |what| corrupt(format!("its header: {what}"));
        let found = match self.is_comparison()? {
            true => comparison::header(&self.connection).map_err(|e| self.error(e))?,
            false => read::header(&self.connection).map_err(|e| self.error(e))?.map(Ok),
        };
        let missing = || corrupt("the header is missing".into());
        let header: Header = found.ok_or_else(missing)?.map_err(of_header)?;
        header.check().map_err(of_header)?;
        Ok(header)
    }

    /// Replaces the plan by another one of the same cells: what is asked, and when it ends, may change before a study
    /// is resumed.
    pub fn replace_plan(&mut self, plan: &StudyPlan) -> Result<(), ResultsError> {
        let header = Header { plan: plan.clone(), ..self.header()? };
        write::meta(&self.connection, "header", &header).map_err(|e| self.error(e))
    }

    fn is_comparison(&self) -> Result<bool, ResultsError> {
        comparison::is_comparison(&self.connection).map_err(|e| self.error(e))
    }

    /// Adds a trial, with what each of several hosts did in it, completely or not at all. A finished
    /// file becomes unfinished: the reason for the end is written again after the last trial.
    pub fn append_trial(
        &mut self,
        trial: &TrialRecord,
        hosts: &[HostShare],
    ) -> Result<(), ResultsError> {
        let path = &self.path;
        let sqlite = |error| ResultsError::from_sqlite(path, error);
        let transaction = self.connection.transaction().map_err(sqlite)?;
        if read::has_trial(&transaction, trial.id).map_err(sqlite)? {
            return Err(ResultsError::DuplicateTrial { path: path.clone(), id: trial.id });
        }
        write::trial(&transaction, trial).map_err(sqlite)?;
        host::write(&transaction, trial.id, hosts).map_err(sqlite)?;
        write::clear_meta(&transaction, "finished").map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }

    /// What each host did in trials on several hosts, by trial number.
    ///
    /// # Errors
    /// `Corrupt` if a row could not have been written by a run.
    pub fn host_shares(&self) -> Result<Vec<(u64, HostShare)>, ResultsError> {
        host::read(&self.connection).map_err(|error| self.error(error))
    }

    /// All trials, in the order in which they were added; each of a datastore and a cell of the plan.
    ///
    /// # Errors
    /// `Corrupt` if a row could not have been written by a run, or refers to something that is not
    /// in the plan.
    pub fn trials(&self) -> Result<Vec<TrialRecord>, ResultsError> {
        let plan = self.header()?.plan;
        let (datastores, cells) = (plan.datastores.len(), plan.cells());
        let mut trials = read::trials(&self.connection).map_err(|e| self.error(e))?;
        if self.is_comparison()? {
            trials.iter_mut().for_each(comparison::of_cell);
        }
        for TrialRecord { id, datastore, cell, phase, .. } in &trials {
            let corrupt = |what: &str| {
                Err(ResultsError::corrupt(&self.path, format!("trial {id} is of a {what}")))
            };
            if datastore.is_some_and(|datastore| datastore >= datastores) {
                return corrupt("datastore that the plan does not name");
            }
            match cell.map(|cell| cells.get(cell)) {
                Some(None) => return corrupt("cell that the plan does not have"),
                // The generator's ceiling belongs to a cell's load and to no datastore.
                Some(Some(_)) if datastore.is_none() && *phase == Phase::Ceiling => {}
                Some(Some(cell)) if *datastore != Some(cell.datastore) => {
                    return corrupt("cell of another datastore");
                }
                Some(Some(_)) | None => {}
            }
        }
        Ok(trials)
    }

    /// An unused trial number: one more than the highest.
    pub fn next_trial_id(&self) -> Result<u64, ResultsError> {
        read::next_trial_id(&self.connection).map_err(|e| self.error(e))
    }

    /// Stores what speeding up each part of a predicted site would gain, cell by cell, the largest
    /// gain first.
    pub fn replace_elasticities(&mut self, all: &[Elasticity]) -> Result<(), ResultsError> {
        let sqlite = |error| ResultsError::from_sqlite(&self.path, error);
        let transaction = self.connection.transaction().map_err(sqlite)?;
        component::write_elasticities(&transaction, all).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }

    /// What speeding up each part of a predicted site would gain; empty without a prediction.
    pub fn elasticities(&self) -> Result<Vec<Elasticity>, ResultsError> {
        if read::format(&self.connection).map_err(|e| self.error(e))? < 4 {
            return Ok(Vec::new());
        }
        component::read_elasticities(&self.connection).map_err(|e| self.error(e))
    }

    /// Stores what cells would be with other plausible values of the site, cell by cell.
    pub fn replace_assumed_effects(&mut self, all: &[AssumedEffect]) -> Result<(), ResultsError> {
        let sqlite = |error| ResultsError::from_sqlite(&self.path, error);
        let transaction = self.connection.transaction().map_err(sqlite)?;
        assumed::write(&transaction, all).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }

    /// What cells would be with other plausible values of the site; empty without a prediction.
    pub fn assumed_effects(&self) -> Result<Vec<AssumedEffect>, ResultsError> {
        if read::format(&self.connection).map_err(|e| self.error(e))? < 9 {
            return Ok(Vec::new());
        }
        assumed::read(&self.connection).map_err(|e| self.error(e))
    }

    /// Records an event.
    pub fn append_event(&mut self, event: &Event) -> Result<(), ResultsError> {
        write::event(&self.connection, event).map_err(|e| self.error(e))
    }

    /// All events, in order.
    pub fn events(&self) -> Result<Vec<Event>, ResultsError> {
        read::events(&self.connection).map_err(|e| self.error(e))
    }

    /// Stores why the run ended, and leaves one file that can be copied and read anywhere: without
    /// a write-ahead log next to it, it can be read from a read-only medium.
    pub fn finish(&mut self, finished: &Finished) -> Result<(), ResultsError> {
        write::meta(&self.connection, "finished", finished).map_err(|e| self.error(e))?;
        // If a reader has the file open, the log stays, which does no harm.
        match self.connection.pragma_update(None, "journal_mode", "DELETE") {
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::DatabaseBusy
                    || failure.code == rusqlite::ErrorCode::DatabaseLocked =>
            {
                Ok(())
            }
            result => result.map_err(|e| self.error(e)),
        }
    }

    /// Why the run ended; `None` if it is still running or was killed.
    pub fn finished(&self) -> Result<Option<Finished>, ResultsError> {
        read::meta(&self.connection, "finished").map_err(|e| self.error(e))
    }

    fn error(&self, error: rusqlite::Error) -> ResultsError {
        ResultsError::from_sqlite(&self.path, error)
    }
}

/// The length of the regular file at `path`. Nothing is opened: opening a FIFO blocks, opening a
/// device may do anything, and closing a second descriptor drops the locks of the first connection.
pub(crate) fn regular_file_bytes(path: &Path) -> Result<u64, ResultsError> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(found.len()),
        Ok(_) => Err(ResultsError::NotAFile { path: path.into() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ResultsError::Missing { path: path.into() })
        }
        Err(source) => Err(ResultsError::Io { path: path.into(), source }),
    }
}

pub(crate) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, ResultsError> {
    let sqlite = |error| ResultsError::from_sqlite(path, error);
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| {
        // SQLite says "unable to open database file" whatever the reason; the system knows better.
        // Not checked before: closing a second descriptor drops the locks of the first connection.
        match std::fs::File::open(path) {
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                ResultsError::Missing { path: path.into() }
            }
            Err(source) => ResultsError::Io { path: path.into(), source },
            Ok(_) => sqlite(error),
        }
    })?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(sqlite)?;
    // A file from elsewhere must not run functions or hide damage in its own schema.
    connection.pragma_update(None, "trusted_schema", false).map_err(sqlite)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(sqlite)?;
    Ok(connection)
}

/// With WAL, readers can look on while a run writes, and a killed process leaves whole
/// transactions. `FULL` syncs the log after every trial: even a power failure loses at most the
/// trial in flight. A trial takes seconds, so a sync per trial costs nothing.
fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")
}

/// Upgrades a file of an earlier form, completely or not at all.
fn upgrade(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let format = read::format(&transaction)?;
    if format < FORMAT_VERSION {
        let is_comparison = comparison::is_comparison(&transaction)?;
        transaction.execute_batch("DROP VIEW observation")?;
        for (_, tables, changes) in UPGRADES.iter().filter(|(to, ..)| *to > format) {
            transaction.execute_batch(tables)?;
            transaction.execute_batch(changes)?;
        }
        if format < early::FORM_OF_FACTS
            && let Some(header) = read::meta(&transaction, "header")?
        {
            write::meta(&transaction, "header", &early::with_facts(header))?;
        }
        if is_comparison {
            comparison::upgrade(&transaction)?;
        }
        transaction.execute_batch(include_str!("observation.sql"))?;
        transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
    }
    transaction.commit()
}

/// Checks that the file is ours (by its application id), of a form up to the given one, and sound.
pub(crate) fn check(
    connection: &Connection,
    path: &Path,
    (application_id, latest): (i32, i32),
) -> Result<(), ResultsError> {
    let sqlite = |error| ResultsError::from_sqlite(path, error);
    let id: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(sqlite)?;
    if id != application_id {
        return Err(match id == IMPORTED_ID {
            true => ResultsError::Imported { path: path.into() },
            false => ResultsError::NotResults { path: path.into() },
        });
    }
    let format = read::format(connection).map_err(sqlite)?;
    if format > latest {
        let made_by = read::meta::<String>(connection, "stormeter_version")
            .ok()
            .flatten()
            .unwrap_or_else(|| "of a later version".into());
        return Err(ResultsError::Newer {
            path: path.into(),
            format,
            made_by,
            this: env!("CARGO_PKG_VERSION"),
            latest,
        });
    }
    let found: Option<String> =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).optional().map_err(
            |error| ResultsError::corrupt(path, format!("its pages cannot be read: {error}")),
        )?;
    match found.as_deref() {
        Some("ok") => Ok(()),
        found => Err(ResultsError::corrupt(path, found.unwrap_or("no answer to quick_check"))),
    }
}
