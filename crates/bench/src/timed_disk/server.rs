//! The process that serves the disk: one file in a FUSE file system.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};

use super::FILE;
use super::schedule::{Schedule, Service};
use crate::failure::Failure;

const FILE_NUMBER: INodeNo = INodeNo(2);
/// Attributes never change.
const FOR_EVER: Duration = Duration::from_secs(1 << 20);
/// A timer wakes a sleeper tens of microseconds late: this long before an answer is due the thread
/// stays awake.
const AWAKE: Duration = Duration::from_micros(150);
/// How many requests the kernel passes at a time.
const REQUESTS: u16 = 256;

/// Serves a disk of this size in `directory`, reports readiness on `ready`, and ends when `until`
/// does.
pub(crate) fn serve(
    service: Service,
    bytes: u64,
    directory: &Path,
    mut until: impl Read,
    mut ready: impl Write,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("the timed disk: {error}");
    let (due, answers) = channel();
    let disk = Disk {
        content: RwLock::new(vec![0; bytes as usize]),
        queue: Mutex::new(Queue { schedule: Schedule::new(service), began: Instant::now(), due }),
    };
    let answering = thread::spawn(move || answer(&answers));
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("stormeter-timed-disk".into())];
    let session = fuser::spawn_mount(disk, directory, &config).map_err(failed)?;
    writeln!(ready, "ready").map_err(failed)?;
    // A broken input counts as ended.
    let _ = std::io::copy(&mut until, &mut std::io::sink());
    session.umount_and_join().map_err(failed)?;
    let _ = answering.join();
    Ok(())
}

/// An answer and when it is due.
struct Due {
    at: Instant,
    answer: Box<dyn FnOnce() + Send>,
}

/// Sends each answer at its time, until the senders are gone.
fn answer(incoming: &Receiver<Due>) {
    // By time, and by order of arrival among simultaneous ones.
    let mut waiting: BTreeMap<(Instant, Reverse<u64>), Due> = BTreeMap::new();
    let mut number = 0;
    loop {
        let next = waiting.first_key_value().map(|((at, _), _)| *at);
        let left = next.map(|at| at.saturating_duration_since(Instant::now()));
        let received = match left {
            None => incoming.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(left) if left > AWAKE => incoming.recv_timeout(left - AWAKE),
            // The thread that receives requests shares the CPU and must not be starved.
            Some(_) => {
                thread::yield_now();
                incoming.try_recv().map_err(|_| RecvTimeoutError::Timeout)
            }
        };
        match received {
            Ok(due) => {
                number += 1;
                waiting.insert((due.at, Reverse(number)), due);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while let Some(entry) = waiting.first_entry()
            && entry.key().0 <= Instant::now()
        {
            (entry.remove().answer)();
        }
    }
}

/// Requests in order of arrival.
struct Queue {
    schedule: Schedule,
    began: Instant,
    due: Sender<Due>,
}

struct Disk {
    content: RwLock<Vec<u8>>,
    queue: Mutex<Queue>,
}

impl Disk {
    fn attributes(&self, number: INodeNo) -> FileAttr {
        let is_file = number == FILE_NUMBER;
        let size = self.content.read().map_or(0, |content| content.len() as u64);
        FileAttr {
            ino: number,
            size: if is_file { size } else { 0 },
            blocks: if is_file { size / 512 } else { 0 },
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: 0o700,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    /// Answers when the request's time has come, which the schedule says, given that of its arrival.
    fn in_time(
        &self,
        due_ns: impl FnOnce(&mut Schedule, u64) -> u64,
        answer: impl FnOnce() + Send + 'static,
    ) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let arrived_ns = queue.began.elapsed().as_nanos() as u64;
        let due_ns = due_ns(&mut queue.schedule, arrived_ns);
        let at = queue.began + Duration::from_nanos(due_ns);
        // If the answering thread is gone, the process is ending.
        let _ = queue.due.send(Due { at, answer: Box::new(answer) });
    }
}

impl Filesystem for Disk {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Allows concurrent requests on one file, beyond FUSE's default.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(REQUESTS);
        let _ = config.set_congestion_threshold(REQUESTS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match parent == INodeNo::ROOT && name == FILE {
            true => reply.entry(&FOR_EVER, &self.attributes(FILE_NUMBER), Generation(0)),
            false => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOR_EVER, &self.attributes(number));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let content = self.content.read().unwrap_or_else(PoisonError::into_inner);
        let first = (offset as usize).min(content.len());
        let end = (first + size as usize).min(content.len());
        let bytes = content[first..end].to_vec();
        drop(content);
        self.in_time(|schedule, at_ns| schedule.admit(at_ns, offset), move || reply.data(&bytes));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut content = self.content.write().unwrap_or_else(PoisonError::into_inner);
        let first = offset as usize;
        let Some(place) = content.get_mut(first..first + data.len()) else {
            return reply.error(Errno::ENOSPC);
        };
        place.copy_from_slice(data);
        drop(content);
        let written = data.len() as u32;
        self.in_time(
            |schedule, at_ns| schedule.admit(at_ns, offset),
            move || reply.written(written),
        );
    }

    /// The loop device's flush.
    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.in_time(Schedule::flush, move || reply.ok());
    }
}
