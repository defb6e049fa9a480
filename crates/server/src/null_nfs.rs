//! An NFSv3 server that stores nothing and answers at once (RFC 1813).
//!
//! Measured against it, an NFS client shows its own cost. Every name exists, every file is 64 GiB
//! of zeros, and written data is discarded. READ and WRITE are answered with as few instructions as
//! possible: no attributes, and zeros that are sent without copying.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};

use crate::exchange::exchange;
use crate::listener::Listener;
use crate::nfs3::{
    Attributes, DIRECTORY, Failure, MAX_HANDLE_BYTES, MAX_PATH_BYTES, MAX_TRANSFER_BYTES,
    MOUNT_PROGRAM, NFS_PROGRAM, PROPERTIES, REGULAR, Status, Time, VERSION, absent_attributes,
    mount, procedure,
};
use crate::rpc::{self, Accepted, Call, LAST_FRAGMENT, Record};
use crate::send::Answers;
use crate::xdr::{Garbage, Put, Reader};
use crate::{Running, ServerError, Stopper};

/// The apparent size of every file, in bytes.
const FILE_BYTES: u64 = 64 << 30;

/// The most directories remembered; tests create far fewer.
const MAX_DIRECTORIES: usize = 65_536;

/// The longest request: the largest WRITE and its headers.
const MAX_RECORD_BYTES: usize = MAX_TRANSFER_BYTES as usize + 4096;

/// The portmapper, its version and its procedure GETPORT (RFC 1833 section 3).
const PORTMAP_PROGRAM: u32 = 100_000;
const PORTMAP_VERSION: u32 = 2;
const GETPORT: u32 = 3;

/// Nothing can be lost here, so the verifier never has to change.
const VERIFIER: u64 = 1;

/// An NFSv3 server that answers at once, ready to serve.
///
/// Any path can be mounted: `nfs://127.0.0.1:PORT/null`. MOUNT and NFS are both on that port, and so
/// is a portmapper that returns it: clients without a port option find a server on port 111.
#[derive(Debug)]
pub struct NullNfs {
    listener: Listener,
}

/// The server's state: the port, and which names are directories. All other names are files.
#[derive(Debug)]
struct Names {
    port: u16,
    directories: Mutex<HashSet<u64>>,
}

/// What a file handle contains.
#[derive(Debug, Clone, Copy)]
struct Handle {
    kind: u32,
    number: u64,
}

const ROOT: Handle = Handle { kind: DIRECTORY, number: 1 };

impl NullNfs {
    /// Listens on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The port is in use.
    pub fn bind(port: u16) -> Result<Self, ServerError> {
        Ok(Self { listener: Listener::bind(port)? })
    }

    /// The port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.listener.port()
    }

    /// A handle for stopping the server from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.listener.stopper()
    }

    /// Serves until stopped.
    pub fn serve(self) {
        let names = Names { port: self.port(), directories: Mutex::default() };
        self.listener.serve(&|stream| connection(&names, stream));
    }

    /// Serves on a separate thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn spawn(self) -> Result<Running, ServerError> {
        let names = Names { port: self.port(), directories: Mutex::default() };
        self.listener.spawn(move |stream| connection(&names, stream))
    }
}

fn connection(names: &Names, stream: &TcpStream) {
    exchange(stream, |bytes, answers| {
        let mut rest = bytes;
        while let Some((mark, behind)) = rest.split_first_chunk() {
            let mark = u32::from_be_bytes(*mark);
            let length = (mark & !LAST_FRAGMENT) as usize;
            // No client sends a request in several fragments.
            if mark & LAST_FRAGMENT == 0 || length > MAX_RECORD_BYTES {
                return Err(Garbage);
            }
            let Some((record, behind)) = behind.split_at_checked(length) else { break };
            match Record::read(record)? {
                Record::OtherRpc { xid } => {
                    let start = answers.bytes().len();
                    rpc::deny(answers.bytes(), xid);
                    rpc::finish(answers.bytes(), start, 0);
                }
                Record::Call(call) => answer(names, call, answers),
            }
            rest = behind;
        }
        Ok(bytes.len() - rest.len())
    });
}

#[inline]
fn answer(names: &Names, call: Call<'_>, answers: &mut Answers) {
    let fast = match (call.program, call.version, call.procedure) {
        (NFS_PROGRAM, VERSION, procedure::READ) => read(call, answers),
        (NFS_PROGRAM, VERSION, procedure::WRITE) => write(call, answers),
        _ => Err(Garbage),
    };
    if fast.is_err() {
        answer_rare(names, call, answers.bytes());
    }
}

/// Appends a reply of `WORDS` words, the first of which is the record mark: everything but the
/// count is known.
fn put_words<const WORDS: usize>(to: &mut Vec<u8>, words: [u32; WORDS]) {
    let mut bytes = [0; 64];
    let (chunks, _) = bytes.as_chunks_mut();
    for (chunk, word) in chunks.iter_mut().zip(words) {
        *chunk = word.to_be_bytes();
    }
    to.extend_from_slice(&bytes[..4 * WORDS]);
}

#[inline]
fn read(call: Call<'_>, answers: &mut Answers) -> Result<(), Garbage> {
    const WORDS: usize = 12;
    let mut arguments = call.arguments;
    arguments.opaque(MAX_HANDLE_BYTES)?;
    let (offset, length) = (arguments.u64()?, arguments.u32()?);
    let left = FILE_BYTES.saturating_sub(offset);
    let length = u64::from(length.min(MAX_TRANSFER_BYTES)).min(left) as u32;
    let is_end = u32::from(u64::from(length) == left);
    let padded = length.next_multiple_of(4);
    let mark = LAST_FRAGMENT | (4 * (WORDS as u32 - 1) + padded);
    // The header of an accepted reply; OK, no attributes, count, end of file, length.
    let words = [mark, call.xid, 1, 0, 0, 0, 0, 0, 0, length, is_end, length];
    put_words::<WORDS>(answers.bytes(), words);
    answers.zeros(padded as usize);
    Ok(())
}

#[inline]
fn write(call: Call<'_>, answers: &mut Answers) -> Result<(), Garbage> {
    const WORDS: usize = 14;
    let mut arguments = call.arguments;
    arguments.opaque(MAX_HANDLE_BYTES)?;
    let (_, length, stable) = (arguments.u64()?, arguments.u32()?, arguments.u32()?);
    if arguments.opaque(MAX_TRANSFER_BYTES as usize)?.len() != length as usize {
        return Err(Garbage);
    }
    let mark = LAST_FRAGMENT | (4 * (WORDS as u32 - 1));
    let (high, low) = ((VERIFIER >> 32) as u32, VERIFIER as u32);
    // The header of an accepted reply; OK, no attributes from before or after, count, stability,
    // verifier.
    let words = [mark, call.xid, 1, 0, 0, 0, 0, 0, 0, 0, length, stable, high, low];
    put_words::<WORDS>(answers.bytes(), words);
    Ok(())
}

/// Answers everything but READ and WRITE, and those two when their arguments are malformed.
#[cold]
fn answer_rare(names: &Names, call: Call<'_>, to: &mut Vec<u8>) {
    let start = to.len();
    let verdict = match (call.program, call.version) {
        (NFS_PROGRAM, VERSION) => match absent_attributes(call.procedure) {
            Some(_) => Accepted::Success,
            None => Accepted::ProcedureUnavailable,
        },
        (MOUNT_PROGRAM, VERSION) if call.procedure <= mount::EXPORT => Accepted::Success,
        (MOUNT_PROGRAM, VERSION) => Accepted::ProcedureUnavailable,
        (NFS_PROGRAM | MOUNT_PROGRAM, _) => Accepted::ProgramMismatch(VERSION),
        (PORTMAP_PROGRAM, PORTMAP_VERSION) => match call.procedure {
            procedure::NULL | GETPORT => Accepted::Success,
            _ => Accepted::ProcedureUnavailable,
        },
        (PORTMAP_PROGRAM, _) => Accepted::ProgramMismatch(PORTMAP_VERSION),
        _ => Accepted::ProgramUnavailable,
    };
    rpc::begin(to, call.xid, verdict);
    if verdict == Accepted::Success {
        let body = to.len();
        let done = match call.program {
            MOUNT_PROGRAM => mounting(call.procedure, call.arguments, to),
            // Whatever the program is: it is on this port or does not exist.
            PORTMAP_PROGRAM => {
                if call.procedure == GETPORT {
                    to.put_u32(u32::from(names.port));
                }
                Ok(())
            }
            _ => names.rare(call.procedure, call.arguments, to),
        };
        match done {
            Ok(()) => {}
            Err(Failure::Status(status)) => {
                to.truncate(body);
                to.put_u32(status as u32);
                let absent = absent_attributes(call.procedure).unwrap_or(0);
                to.resize(to.len() + 4 * absent, 0);
            }
            Err(Failure::Garbage) => {
                to.truncate(start);
                rpc::begin(to, call.xid, Accepted::GarbageArguments);
            }
        }
    }
    rpc::finish(to, start, 0);
}

fn mounting(number: u32, mut arguments: Reader<'_>, to: &mut Vec<u8>) -> Result<(), Failure> {
    match number {
        mount::MNT => {
            arguments.opaque(MAX_PATH_BYTES)?;
            to.put_u32(0);
            ROOT.put(to);
            // Two flavours: AUTH_NONE and AUTH_SYS.
            for word in [2, 0, 1] {
                to.put_u32(word);
            }
        }
        // An empty list: any path can be mounted, and a client would also mount an export below the
        // one that it mounts.
        mount::DUMP | mount::EXPORT => to.put_u32(0),
        _ => {}
    }
    Ok(())
}

impl Names {
    fn rare(
        &self,
        number: u32,
        mut arguments: Reader<'_>,
        to: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        if number == procedure::NULL {
            return Ok(());
        }
        let handle = Handle::read(&mut arguments)?;
        to.put_u32(0);
        match number {
            procedure::GETATTR => handle.attributes().put(to),
            procedure::LOOKUP => {
                let number = handle.below(arguments.opaque(MAX_PATH_BYTES)?);
                let is_directory = self.change(|all| all.contains(&number));
                let found = Handle { kind: if is_directory { DIRECTORY } else { REGULAR }, number };
                found.put(to);
                found.attributes().put_after(to);
                to.put_u32(0);
            }
            procedure::CREATE => {
                let number = handle.below(arguments.opaque(MAX_PATH_BYTES)?);
                Handle { kind: REGULAR, number }.put_created(to);
            }
            procedure::MKDIR => {
                let number = handle.below(arguments.opaque(MAX_PATH_BYTES)?);
                self.change(|all| all.len() < MAX_DIRECTORIES && all.insert(number));
                Handle { kind: DIRECTORY, number }.put_created(to);
            }
            procedure::RMDIR => {
                let number = handle.below(arguments.opaque(MAX_PATH_BYTES)?);
                self.change(|all| all.remove(&number));
                to.put_u64(0);
            }
            procedure::SETATTR | procedure::REMOVE => to.put_u64(0),
            // Every name is already a file, and no attributes of either directory are sent. Only
            // files are renamed here.
            procedure::RENAME => {
                to.put_u64(0);
                to.put_u64(0);
            }
            procedure::COMMIT => {
                to.put_u64(0);
                to.put_u64(VERIFIER);
            }
            procedure::ACCESS => {
                let wanted = arguments.u32()?;
                handle.attributes().put_after(to);
                to.put_u32(wanted);
            }
            // No attributes, no verifier, no entry, end of list.
            procedure::READDIR | procedure::READDIRPLUS => {
                for word in [0, 0, 0, 0, 1] {
                    to.put_u32(word);
                }
            }
            procedure::FSSTAT => {
                to.put_u32(0);
                // 1 PiB in total, free and available; then as many files; constant for 0 seconds.
                for _ in ["all", "free", "available"] {
                    to.put_u64(1 << 50);
                }
                for _ in ["all", "free", "available"] {
                    to.put_u64(1 << 32);
                }
                to.put_u32(0);
            }
            procedure::FSINFO => {
                handle.attributes().put_after(to);
                for word in [MAX_TRANSFER_BYTES, MAX_TRANSFER_BYTES, 4096].repeat(2) {
                    to.put_u32(word);
                }
                to.put_u32(64 << 10);
                to.put_u64(i64::MAX as u64);
                to.put_u64(1);
                to.put_u32(PROPERTIES);
            }
            procedure::PATHCONF => {
                for word in [0, 1, 255, 1, 1, 0, 1] {
                    to.put_u32(word);
                }
            }
            procedure::READ | procedure::WRITE => return Err(Failure::Garbage),
            _ => return Err(Status::NotSupported.into()),
        }
        Ok(())
    }

    fn change(&self, act: impl FnOnce(&mut HashSet<u64>) -> bool) -> bool {
        act(&mut self.directories.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Handle {
    fn read(from: &mut Reader<'_>) -> Result<Self, Failure> {
        let mut inner = Reader::new(from.opaque(MAX_HANDLE_BYTES)?);
        match (inner.u32(), inner.u64()) {
            (Ok(kind @ (REGULAR | DIRECTORY)), Ok(number)) => Ok(Self { kind, number }),
            _ => Err(Status::BadHandle.into()),
        }
    }

    fn put(self, to: &mut Vec<u8>) {
        to.put_u32(12);
        to.put_u32(self.kind);
        to.put_u64(self.number);
    }

    fn put_created(self, to: &mut Vec<u8>) {
        to.put_u32(1);
        self.put(to);
        self.attributes().put_after(to);
        to.put_u64(0);
    }

    /// The number of a name in this directory.
    fn below(self, name: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.number, name).hash(&mut hasher);
        hasher.finish()
    }

    fn attributes(self) -> Attributes {
        let is_directory = self.kind == DIRECTORY;
        let size_bytes = if is_directory { 4096 } else { FILE_BYTES };
        Attributes {
            kind: self.kind,
            mode: if is_directory { 0o777 } else { 0o666 },
            links: 1,
            owner: 0,
            group: 0,
            size_bytes,
            used_bytes: size_bytes,
            filesystem: 1,
            inode: self.number,
            accessed: Time::default(),
            modified: Time::default(),
            changed: Time::default(),
        }
    }
}
