//! From a request's bytes to its reply's: dispatches by program and procedure, and handles
//! refusals.

use std::sync::atomic::AtomicU64;

use super::handle::Handle;
use super::open_files::OpenFiles;
use super::storage::Storage;
use super::tree::{Tree, checked_name};
use crate::nfs3::{
    Failure, MAX_HANDLE_BYTES, MAX_PATH_BYTES, MOUNT_PROGRAM, NFS_PROGRAM, Status, VERSION,
    absent_attributes, mount, procedure,
};
use crate::rpc::{self, Accepted, Call, Record};
use crate::xdr::{Garbage, Put, Reader};

/// Number of files that are kept open.
const OPEN_FILES: usize = 256;

/// A reply: its header, and for READ the payload, which need not be copied after it.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) head: Vec<u8>,
    /// Kept between requests, so that it is zeroed only once.
    pub(super) buffer: Vec<u8>,
    pub(super) payload_bytes: usize,
}

impl Reply {
    /// What follows the header.
    pub(crate) fn payload(&self) -> &[u8] {
        self.buffer.get(..self.payload_bytes).unwrap_or_default()
    }
}

/// The server without its sockets.
#[derive(Debug)]
pub(crate) struct Service<S> {
    pub(super) tree: Tree,
    pub(super) open: OpenFiles,
    pub(super) storage: S,
    pub(super) verifier: AtomicU64,
    export: &'static str,
}

impl<S: Storage> Service<S> {
    pub(crate) fn new(tree: Tree, storage: S, export: &'static str, verifier: u64) -> Self {
        Self {
            tree,
            open: OpenFiles::new(OPEN_FILES),
            storage,
            verifier: AtomicU64::new(verifier),
            export,
        }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// The record is not a call: the connection is unusable.
    pub(crate) fn answer(&self, record: &[u8], reply: &mut Reply) -> Result<(), Garbage> {
        reply.head.clear();
        reply.payload_bytes = 0;
        match Record::read(record)? {
            Record::OtherRpc { xid } => rpc::deny(&mut reply.head, xid),
            Record::Call(call) => self.call(call, reply),
        }
        rpc::finish(&mut reply.head, 0, reply.payload_bytes.next_multiple_of(4));
        // Padding is sent as part of the payload.
        reply.payload_bytes = reply.payload_bytes.next_multiple_of(4);
        Ok(())
    }

    fn call(&self, call: Call<'_>, reply: &mut Reply) {
        let refuse = |reply: &mut Reply, verdict| rpc::begin(&mut reply.head, call.xid, verdict);
        match (call.program, call.version) {
            (NFS_PROGRAM, VERSION) => {}
            (MOUNT_PROGRAM, VERSION) => return self.mount(call, reply),
            (NFS_PROGRAM | MOUNT_PROGRAM, _) => {
                return refuse(reply, Accepted::ProgramMismatch(VERSION));
            }
            _ => return refuse(reply, Accepted::ProgramUnavailable),
        }
        let Some(absent) = absent_attributes(call.procedure) else {
            return refuse(reply, Accepted::ProcedureUnavailable);
        };
        rpc::begin(&mut reply.head, call.xid, Accepted::Success);
        if call.procedure == procedure::NULL {
            return;
        }
        let start = reply.head.len();
        reply.head.put_u32(0);
        match self.procedure(call.procedure, call.arguments, reply) {
            Ok(()) => {}
            Err(Failure::Status(status)) => {
                reply.payload_bytes = 0;
                reply.head.truncate(start);
                reply.head.put_u32(status as u32);
                reply.head.resize(reply.head.len() + 4 * absent, 0);
            }
            Err(Failure::Garbage) => {
                reply.payload_bytes = 0;
                reply.head.clear();
                refuse(reply, Accepted::GarbageArguments);
            }
        }
    }

    fn procedure(
        &self,
        number: u32,
        arguments: Reader<'_>,
        reply: &mut Reply,
    ) -> Result<(), Failure> {
        match number {
            procedure::READ => self.read(arguments, reply),
            procedure::WRITE => self.write(arguments, &mut reply.head),
            procedure::COMMIT => self.commit(arguments, &mut reply.head),
            procedure::GETATTR => self.get_attributes(arguments, &mut reply.head),
            procedure::SETATTR => self.set_attributes(arguments, &mut reply.head),
            procedure::LOOKUP => self.lookup(arguments, &mut reply.head),
            procedure::ACCESS => self.access(arguments, &mut reply.head),
            procedure::CREATE => self.create(arguments, &mut reply.head),
            procedure::MKDIR => self.make_directory(arguments, &mut reply.head),
            procedure::REMOVE => self.remove(arguments, &mut reply.head),
            procedure::RMDIR => self.remove_directory(arguments, &mut reply.head),
            procedure::RENAME => self.rename(arguments, &mut reply.head),
            procedure::READDIR => self.read_directory(arguments, &mut reply.head),
            procedure::READDIRPLUS => self.read_directory_plus(arguments, &mut reply.head),
            procedure::FSSTAT => self.space(arguments, &mut reply.head),
            procedure::FSINFO => self.limits(arguments, &mut reply.head),
            procedure::PATHCONF => self.path_limits(arguments, &mut reply.head),
            // There are no symbolic links to read.
            procedure::READLINK => Err(Status::Invalid.into()),
            // SYMLINK, MKNOD and LINK.
            _ => Err(Status::NotSupported.into()),
        }
    }

    fn mount(&self, mut call: Call<'_>, reply: &mut Reply) {
        let head = &mut reply.head;
        match call.procedure {
            mount::NULL | mount::UMNT | mount::UMNTALL => {
                rpc::begin(head, call.xid, Accepted::Success);
            }
            mount::MNT => {
                let Ok(path) = call.arguments.opaque(MAX_PATH_BYTES) else {
                    return rpc::begin(head, call.xid, Accepted::GarbageArguments);
                };
                rpc::begin(head, call.xid, Accepted::Success);
                match self.mounted(path) {
                    Ok(handle) => {
                        head.put_u32(0);
                        head.put_opaque(&handle.encode());
                        // Two flavours: AUTH_NONE and AUTH_SYS.
                        for word in [2, 0, 1] {
                            head.put_u32(word);
                        }
                    }
                    // `mountstat3` uses the same numbers as `nfsstat3`.
                    Err(status) => head.put_u32(status as u32),
                }
            }
            mount::DUMP => {
                rpc::begin(head, call.xid, Accepted::Success);
                // Mounts are not recorded.
                head.put_u32(0);
            }
            mount::EXPORT => {
                rpc::begin(head, call.xid, Accepted::Success);
                head.put_u32(1);
                head.put_opaque(self.export.as_bytes());
                // For all clients, and no further export.
                head.put_u64(0);
            }
            _ => rpc::begin(head, call.xid, Accepted::ProcedureUnavailable),
        }
    }

    /// The directory for a mount path: the export or a directory below it.
    fn mounted(&self, path: &[u8]) -> Result<Handle, Status> {
        let below = path.strip_prefix(self.export.as_bytes()).ok_or(Status::NoEntry)?;
        if !below.is_empty() && !below.starts_with(b"/") {
            return Err(Status::NoEntry);
        }
        let mut at = self.tree.root();
        for name in below.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            let directory = self.tree.directory(at)?;
            at = self.tree.child(&directory, at, checked_name(name)?)?.handle;
        }
        // Only directories can be mounted.
        self.tree.directory(at)?;
        Ok(at)
    }

    /// Reads a file handle from the arguments.
    pub(super) fn handle(&self, arguments: &mut Reader<'_>) -> Result<Handle, Failure> {
        let bytes = arguments.opaque(MAX_HANDLE_BYTES)?;
        Ok(Handle::decode(bytes).ok_or(Status::BadHandle)?)
    }
}
