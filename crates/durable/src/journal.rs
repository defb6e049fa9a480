//! The journal: which records the storage has acknowledged, kept on other storage.
//!
//! A text file of JSON lines that is only appended to (or lines that another program keeps, and confirms one by one): a header, then a line for each completed flush, then why
//! writing ended, if it ended by itself. Each line is on stable storage (fdatasync) before the next records are
//! written. A cut may catch the journal too: an incomplete last line, or zeros after it, are tolerated; anything else
//! that is not a line of a journal is an error.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stormeter_disk::Promise;

use crate::Ring;

/// The form of journals that is written and read.
const FORMAT: u32 = 1;
/// The largest journal that is read.
const MOST_BYTES: u64 = 4 << 30;

/// The first line: what is written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The storage, without a password.
    pub url: String,
    /// The records and their places.
    #[serde(flatten)]
    pub ring: Ring,
    /// Each write was durable by itself; nothing was flushed.
    pub durable: bool,
    /// What the storage promises about a write that was not flushed.
    #[serde(default)]
    pub promise: Option<Promise>,
    /// When writing started.
    pub started_unix_ms: u64,
    /// The boot of the machine that writes (proc(5): `/proc/sys/kernel/random/boot_id`); empty if unknown.
    #[serde(default)]
    pub boot_id: String,
}

/// A moment on both clocks of the machine that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Milliseconds since 1970, UTC.
    pub unix_ms: u64,
    /// Nanoseconds of a clock that never goes back, for differences.
    pub monotonic_ns: u64,
}

/// The storage has acknowledged all records up to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The number.
    pub up_to: u64,
    /// When.
    #[serde(flatten)]
    pub at: Moment,
}

/// Why writing ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The reason, in words.
    pub reason: String,
    /// When.
    #[serde(flatten)]
    pub at: Moment,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
enum Line {
    Journal {
        format: u32,
        #[serde(flatten)]
        header: Header,
    },
    Acknowledged(Acknowledged),
    Ended(Ended),
}

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It exists.
    #[error("{} exists: a journal is evidence and is not overwritten; give the name of a new file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("the journal {} cannot be {action}: {source}", path.display())]
    Io {
        /// `written` or `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No journal.
    #[error("{} is not a journal: give the file that the writing command was given", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A journal of a newer version.
    #[error("{} is a journal of form {format}, and this version reads form {FORMAT}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its form.
        format: u32,
    },
    /// A line that is damaged or out of order.
    #[error("line {line} of the journal {} is damaged ({reason}): nothing can be judged by it", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    keeper: Keeper,
}

/// Who keeps the lines.
enum Keeper {
    /// A file on this machine.
    File(File),
    /// The reader of the lines: each is kept when a line comes back.
    Other { to: Box<dyn Write>, from: Box<dyn BufRead> },
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Other { .. } => "Other",
        })
    }
}

impl Journal {
    /// Creates a journal with its header; both are on stable storage, and so is the file's name.
    ///
    /// # Errors
    /// A file that exists, and whatever the system refuses.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let file = File::options().append(true).create_new(true).open(path).map_err(|source| {
            let path = path.to_path_buf();
            match source.kind() {
                io::ErrorKind::AlreadyExists => JournalError::Exists { path },
                _ => JournalError::Io { action: "written", path, source },
            }
        })?;
        let mut journal = Self { path: path.into(), keeper: Keeper::File(file) };
        journal.append(&Line::Journal { format: FORMAT, header: header.clone() })?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let named = File::open(parent.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
        named.map_err(|source| journal.failed(source))?;
        Ok(journal)
    }

    /// A journal that another program keeps, on a machine that does not lose its power: each line goes to `to`, and is
    /// kept when a line has come back from `from`.
    ///
    /// # Errors
    /// Nobody confirms the header.
    pub fn kept_elsewhere(
        to: Box<dyn Write>,
        from: Box<dyn BufRead>,
        header: &Header,
    ) -> Result<Self, JournalError> {
        let mut journal = Self { path: "-".into(), keeper: Keeper::Other { to, from } };
        journal.append(&Line::Journal { format: FORMAT, header: header.clone() })?;
        Ok(journal)
    }

    /// Keeps an acknowledgement; it is on stable storage when this returns.
    ///
    /// # Errors
    /// Whatever the system refuses.
    pub fn acknowledged(&mut self, acknowledged: Acknowledged) -> Result<(), JournalError> {
        self.append(&Line::Acknowledged(acknowledged))
    }

    /// Keeps why writing ended.
    ///
    /// # Errors
    /// Whatever the system refuses.
    pub fn ended(&mut self, ended: Ended) -> Result<(), JournalError> {
        self.append(&Line::Ended(ended))
    }

    fn append(&mut self, line: &Line) -> Result<(), JournalError> {
        let mut text = serde_json::to_string(line).map_err(|error| self.failed(error.into()))?;
        text.push('\n');
        let written = match &mut self.keeper {
            Keeper::File(file) => file.write_all(text.as_bytes()).and_then(|()| file.sync_data()),
            Keeper::Other { to, from } => confirmed(&text, to, from),
        };
        written.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> JournalError {
        JournalError::Io { action: "written", path: self.path.clone(), source }
    }
}

fn confirmed(text: &str, to: &mut dyn Write, from: &mut dyn BufRead) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()?;
    match from.read_line(&mut String::new())? {
        0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nobody confirms its lines")),
        _ => Ok(()),
    }
}

/// A journal as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRead {
    /// Its first line.
    pub header: Header,
    /// The acknowledgements, the earliest first.
    pub acknowledged: Vec<Acknowledged>,
    /// Why writing ended; `None` if it was cut off.
    pub ended: Option<Ended>,
}

impl JournalRead {
    /// Reads a journal.
    ///
    /// # Errors
    /// A file that cannot be read or is no journal, and lines that are damaged.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let failed = |source| JournalError::Io { action: "read", path: path.into(), source };
        let bytes = std::fs::metadata(path).map_err(failed)?.len();
        if bytes > MOST_BYTES {
            return Err(JournalError::NotAJournal { path: path.into() });
        }
        Self::parse(&std::fs::read(path).map_err(failed)?, path)
    }

    /// Reads the bytes of a journal; `path` names it in errors.
    ///
    /// # Errors
    /// Bytes of no journal, and lines that are damaged.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, JournalError> {
        // A file system may have grown the file before the power went, and not have written it.
        let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        // What comes after the last end of a line was not written to its end.
        let whole = &bytes[..end];
        let whole = &whole[..whole.iter().rposition(|&b| b == b'\n').map_or(0, |last| last + 1)];
        let mut lines = whole.split_inclusive(|&byte| byte == b'\n').enumerate();
        let not_a_journal = || JournalError::NotAJournal { path: path.into() };
        let (_, first) = lines.next().ok_or_else(not_a_journal)?;
        let first: serde_json::Value =
            serde_json::from_slice(first).map_err(|_| not_a_journal())?;
        let format = first.get("format").and_then(serde_json::Value::as_u64);
        let format = format.filter(|_| first["line"] == "journal").ok_or_else(not_a_journal)?;
        if format > u64::from(FORMAT) {
            return Err(JournalError::Newer { path: path.into(), format: format as u32 });
        }
        let damaged =
            |line, reason: String| JournalError::Damaged { path: path.into(), line, reason };
        let Line::Journal { header, .. } =
            serde_json::from_value(first).map_err(|error| damaged(1, error.to_string()))?
        else {
            return Err(not_a_journal());
        };
        header.ring.check().map_err(|error| damaged(1, error.to_string()))?;
        let mut journal = Self { header, acknowledged: Vec::new(), ended: None };
        for (index, line) in lines {
            let wrong = |reason: &str| damaged(index + 1, reason.into());
            let line = serde_json::from_slice(line).map_err(|error| wrong(&error.to_string()))?;
            if journal.ended.is_some() {
                return Err(wrong("a line after the last one"));
            }
            match line {
                Line::Journal { .. } => return Err(wrong("a second header")),
                Line::Acknowledged(next) => {
                    let last = journal.acknowledged.last().map_or(0, |last| last.up_to);
                    if next.up_to != last + u64::from(journal.header.ring.group) {
                        return Err(wrong("its number does not follow the one before"));
                    }
                    journal.acknowledged.push(next);
                }
                Line::Ended(ended) => journal.ended = Some(ended),
            }
        }
        Ok(journal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;
    use stormeter_disk::{Acknowledged as Where, PromiseEvidence};

    fn header() -> Header {
        Header {
            url: "/srv/vm".into(),
            ring: Ring { run: RunId(7), disk_bytes: 1 << 20, block_bytes: 4096, group: 8 },
            durable: false,
            promise: Some(Promise::new(Where::VolatileCache, PromiseEvidence::Direct)),
            started_unix_ms: 1,
            boot_id: "b".into(),
        }
    }

    fn at(unix_ms: u64) -> Moment {
        Moment { unix_ms, monotonic_ns: unix_ms * 1_000_000 }
    }

    fn written() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("journal");
        let mut journal = Journal::create(&path, &header()).unwrap();
        for up_to in [8, 16, 24] {
            journal.acknowledged(Acknowledged { up_to, at: at(up_to) }).unwrap();
        }
        (place, path)
    }

    #[test]
    fn one_that_is_kept_elsewhere_waits_for_each_line_to_be_confirmed() {
        let (kept, lines) = std::io::pipe().unwrap();
        let confirmed = io::Cursor::new(b"\n\n".to_vec());
        let mut journal =
            Journal::kept_elsewhere(Box::new(lines), Box::new(confirmed), &header()).unwrap();
        journal.acknowledged(Acknowledged { up_to: 8, at: at(8) }).unwrap();
        let error = journal.acknowledged(Acknowledged { up_to: 16, at: at(16) }).unwrap_err();
        assert!(error.to_string().contains("nobody confirms"), "{error}");
        drop(journal);
        let text = io::read_to_string(kept).unwrap();
        let read = JournalRead::parse(text.as_bytes(), Path::new("-")).unwrap();
        assert_eq!((read.header, read.acknowledged.len()), (header(), 2));
    }

    #[test]
    fn it_reads_back() {
        let (_place, path) = written();
        let read = JournalRead::open(&path).unwrap();
        assert_eq!(read.header, header());
        assert_eq!(read.acknowledged.iter().map(|a| a.up_to).collect::<Vec<_>>(), [8, 16, 24]);
        assert_eq!(read.acknowledged[2].at, at(24));
        assert_eq!(read.ended, None);
    }

    #[test]
    fn one_that_exists_is_not_overwritten() {
        let (_place, path) = written();
        let before = std::fs::read(&path).unwrap();
        let error = Journal::create(&path, &header()).unwrap_err();
        assert!(matches!(error, JournalError::Exists { .. }), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_cut_at_any_byte_leaves_the_lines_before() {
        let (_place, path) = written();
        let whole = std::fs::read(&path).unwrap();
        let head = whole.iter().position(|&byte| byte == b'\n').unwrap();
        for end in 0..whole.len() {
            for zeros in [0, 100] {
                let mut cut = whole[..end].to_vec();
                cut.resize(end + zeros, 0);
                let read = JournalRead::parse(&cut, &path);
                if end <= head {
                    assert!(matches!(read, Err(JournalError::NotAJournal { .. })), "{end}");
                    continue;
                }
                let lines = whole[..end].iter().filter(|&&byte| byte == b'\n').count() - 1;
                assert_eq!(read.unwrap().acknowledged.len(), lines, "{end} {zeros}");
            }
        }
    }

    #[test]
    fn damage_in_the_middle_is_an_error_with_its_line() {
        let (_place, path) = written();
        let text = std::fs::read_to_string(&path).unwrap();
        let refused = |text: String| JournalRead::parse(text.as_bytes(), &path).unwrap_err();
        let damaged = |text, place: usize| match refused(text) {
            JournalError::Damaged { line, .. } => assert_eq!(line, place),
            other => panic!("{other}"),
        };
        damaged(text.replace("\"up_to\":16", "\"up_to\":15"), 3);
        damaged(text.replace("\"up_to\":16", "\"up_to\":\"x\""), 3);
        damaged(text.replace("\"group\":8", "\"group\":0"), 1);
        let first = text.lines().next().unwrap();
        damaged(format!("{text}{first}\n"), 5);
        let newer = refused(text.replace("\"format\":1", "\"format\":2"));
        assert!(matches!(newer, JournalError::Newer { format: 2, .. }), "{newer}");
        for other in ["", "hello\n", "{}\n", "{\"line\":\"ended\"}\n"] {
            assert!(matches!(refused(other.into()), JournalError::NotAJournal { .. }), "{other}");
        }
    }

    #[test]
    fn nothing_follows_the_end() {
        let (_place, path) = written();
        let file = File::options().append(true).open(&path).unwrap();
        let mut journal = Journal { path: path.clone(), keeper: Keeper::File(file) };
        journal.ended(Ended { reason: "told to".into(), at: at(30) }).unwrap();
        assert_eq!(JournalRead::open(&path).unwrap().ended.unwrap().reason, "told to");
        journal.acknowledged(Acknowledged { up_to: 32, at: at(32) }).unwrap();
        assert!(matches!(JournalRead::open(&path), Err(JournalError::Damaged { line: 6, .. })));
    }
}
