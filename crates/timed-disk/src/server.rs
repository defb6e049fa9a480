//! Serves a disk: the requests that the kernel passes on, each answered at its time.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::answers::{self, Due};
use crate::schedule::{Access, Schedule};
use crate::{Content, DISK};

/// The disk's; the schedule's files follow it.
const DISK_NUMBER: u64 = 2;
/// Attributes never change.
const FOR_EVER: Duration = Duration::from_secs(1 << 20);
/// How many requests the kernel passes at a time.
const REQUESTS: u16 = 256;
/// How long the end waits for the last user of the disk, and how often it looks.
const LAST_USER: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// How a disk is served.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServeOptions {
    /// For how long the server stays awake before an answer, so that it is in time to the microsecond at the cost of a
    /// CPU. Without it answers are some tens of microseconds late, and their rate is exact all the same.
    pub awake: Duration,
    /// Whether reads and writes without `O_DIRECT` go to the disk as well. Otherwise the kernel caches them, as those of
    /// any file.
    pub always_direct: bool,
}

/// Serves a disk in an existing directory: calls `ready` when it is there, and unmounts it when `until` returns.
///
/// # Errors
/// It cannot be mounted: there is no FUSE, or neither root nor `fusermount3`. Or it cannot be unmounted, because it is
/// still in use after ten seconds.
pub fn serve<R>(
    schedule: impl Schedule,
    content: Content,
    directory: &Path,
    options: ServeOptions,
    ready: impl FnOnce() -> io::Result<R>,
    until: impl FnOnce(R),
) -> io::Result<()> {
    let (due, incoming) = channel();
    let disk = Disk {
        content: Arc::new(content),
        queue: Mutex::new(Queue { schedule, began: Instant::now(), due }),
        always_direct: options.always_direct,
        owner: owner()?,
    };
    let answering = thread::spawn(move || answers::send(&incoming, options.awake));
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("stormeter-timed-disk".into())];
    let session = fuser::spawn_mount(disk, directory, &config)?;
    until(ready()?);
    let end = Instant::now() + LAST_USER;
    let mut session = Some(session);
    while let Some(mounted) = session.take() {
        if is_free(directory) || Instant::now() >= end {
            mounted.umount_and_join()?;
        } else {
            thread::sleep(LOOK);
            session = Some(mounted);
        }
    }
    let _ = answering.join();
    Ok(())
}

/// Whether no process has a file of the mount open. Others than ours need not be looked at: only this user can use it.
fn is_free(directory: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let open = processes.flat_map(|process| {
        std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten()
    });
    !open.flat_map(|file| std::fs::read_link(file.path())).any(|path| path.starts_with(directory))
}

/// User and group of this process: the owner of /proc/self is its effective user (proc(5)).
fn owner() -> io::Result<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata("/proc/self")?;
    Ok((found.uid(), found.gid()))
}

/// Requests in order of arrival.
struct Queue<S> {
    schedule: S,
    began: Instant,
    due: Sender<Due>,
}

impl<S> Queue<S> {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

struct Disk<S> {
    content: Arc<Content>,
    queue: Mutex<Queue<S>>,
    always_direct: bool,
    owner: (u32, u32),
}

impl<S: Schedule> Disk<S> {
    fn queue(&self) -> std::sync::MutexGuard<'_, Queue<S>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a file of the schedule.
    fn file(&self, number: INodeNo) -> Option<&'static str> {
        let index = usize::try_from(number.0.checked_sub(DISK_NUMBER + 1)?).ok()?;
        self.queue().schedule.files().get(index).copied()
    }

    fn attributes(&self, number: INodeNo) -> FileAttr {
        let is_directory = number == INodeNo::ROOT;
        let size = if number.0 == DISK_NUMBER { self.content.bytes() } else { 0 };
        FileAttr {
            ino: number,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_directory { FileType::Directory } else { FileType::RegularFile },
            perm: if is_directory { 0o700 } else { 0o600 },
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    /// Answers when the request's time has come, which the schedule says, given that of its arrival.
    fn in_time(
        &self,
        due_ns: impl FnOnce(&mut S, u64) -> u64,
        answer: impl FnOnce() + Send + 'static,
    ) {
        let mut queue = self.queue();
        let arrived_ns = queue.now_ns();
        let due_ns = due_ns(&mut queue.schedule, arrived_ns);
        let at = queue.began + Duration::from_nanos(due_ns);
        // If the answering thread is gone, the process is ending.
        let _ = queue.due.send(Due { at, answer: Box::new(answer) });
    }
}

impl<S: Schedule> Filesystem for Disk<S> {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Allows concurrent requests on one file, beyond FUSE's default.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(REQUESTS);
        let _ = config.set_congestion_threshold(REQUESTS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let files = self.queue().schedule.files();
        let numbers: HashMap<&OsStr, u64> =
            std::iter::once(&DISK).chain(files).map(OsStr::new).zip(DISK_NUMBER..).collect();
        match numbers.get(name) {
            Some(&number) if parent == INodeNo::ROOT => {
                reply.entry(&FOR_EVER, &self.attributes(INodeNo(number)), Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOR_EVER, &self.attributes(number));
    }

    /// Nothing changes: a file of the schedule is truncated before it is written, and the disk keeps its size.
    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let is_disk = number.0 == DISK_NUMBER;
        match size {
            Some(size) if is_disk && size != self.content.bytes() => reply.error(Errno::EPERM),
            _ => reply.attr(&FOR_EVER, &self.attributes(number)),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        let is_direct = self.always_direct || number.0 != DISK_NUMBER;
        reply.opened(FileHandle(0), if is_direct { direct } else { FopenFlags::FOPEN_KEEP_CACHE });
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset_bytes: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if let Some(name) = self.file(number) {
            let queue = self.queue();
            let text = queue.schedule.read_file(name, queue.now_ns());
            let first = usize::try_from(offset_bytes).unwrap_or(usize::MAX).min(text.len());
            let rest = &text.as_bytes()[first..];
            return reply.data(&rest[..rest.len().min(size as usize)]);
        }
        match self.content.read(offset_bytes, size) {
            Ok(bytes) => {
                let access =
                    Access { offset_bytes, length_bytes: bytes.len() as u64, is_write: false };
                self.in_time(
                    |schedule, at_ns| schedule.admit(at_ns, access),
                    move || reply.data(&bytes),
                );
            }
            Err(error) => reply.error(Errno::from(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset_bytes: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = data.len() as u32;
        if let Some(name) = self.file(number) {
            let text = String::from_utf8_lossy(data);
            return match self.queue().schedule.write_file(name, &text) {
                true => reply.written(written),
                false => reply.error(Errno::EINVAL),
            };
        }
        if let Err(error) = self.content.write(offset_bytes, data) {
            return reply.error(Errno::from(error));
        }
        let access = Access { offset_bytes, length_bytes: written.into(), is_write: true };
        self.in_time(
            |schedule, at_ns| schedule.admit(at_ns, access),
            move || reply.written(written),
        );
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.in_time(Schedule::flush, move || reply.ok());
    }
}
