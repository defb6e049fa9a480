//! An NFS version 3 client (RFC 1813, over RFC 5531 and RFC 4506), without sockets, clock, threads
//! or randomness.
//!
//! There are two paths. Control calls (finding ports, mounting, creating files, querying limits)
//! are values of types that implement [`Procedure`]: [`call_bytes`] encodes the call, [`Assembler`]
//! finds the reply in the stream, [`decode_reply`] reads it. Data goes through [`NfsSession`],
//! which keeps any number of READs and WRITEs outstanding and touches each byte of payload at most
//! once. It also says what its flushes cover.
//!
//! Nothing that a server sends makes this crate panic, or allocate by a length that the server
//! claims.

mod attributes;
mod data;
mod directory;
mod error;
mod files;
mod filesystem;
pub mod fuzz;
mod handle;
mod mount;
mod namespace;
mod portmap;
mod procedure;
mod record;
mod rpc;
mod rpc_error;
mod session;
mod status;
pub mod xdr;

pub use attributes::{Attributes, FileType, Time};
pub use data::{Commit, Read, ReadData, Stability, Write, WriteVerifier, Written};
pub use directory::{Cursor, Entry, Listing, ReadDirectory};
pub use error::NfsError;
pub use files::{Found, GetAttributes, Lookup, Null, Place};
pub use filesystem::{FileSystemLimits, FileSystemSpace, Limits, Space};
pub use handle::FileHandle;
pub use mount::{Export, ExportEntry, MOUNT_PROGRAM, MOUNT_VERSION, Mnt, Mounted, Umnt};
pub use namespace::{Create, Created, MakeDirectory, Remove, RemoveDirectory, Rename};
pub use portmap::{GetPort, PORTMAP_PORT};
pub use procedure::{NFS_PROGRAM, NFS_VERSION, Procedure, call_bytes, decode_reply};
pub use record::{Assembler, LAST_FRAGMENT, RecordError};
pub use rpc::{Auth, AuthError};
pub use rpc_error::{AuthStatus, RpcError};
pub use session::{NfsSession, SessionOptions};
pub use status::{MountStatus, NfsStatus};
