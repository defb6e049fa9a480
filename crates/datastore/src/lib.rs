//! Opens a datastore's URL, creates virtual disks on it and does their I/O.
//!
//! This is where the engine meets real storage: a directory of a file system, a block device, an
//! NFS export or an iSCSI LUN accessed by our own client, a pool of a Ceph cluster, or nothing at all (`null:`). Everything
//! that could harm existing data is decided here and nowhere
//! else, before the first byte is written; see [`Datastore::check`] and [`DatastoreError`].
//!
//! It knows of no study, statistics or report: it gives [`stormeter_disk::Disks`] to the I/O
//! loop and a [`Description`] to whatever records what was measured.

mod aligned;
mod block;
mod claim;
mod clock;
mod datastore;
mod description;
mod device;
mod directory;
mod engine_note;
mod error;
mod files;
mod filesystem;
mod fill;
mod folder;
mod header;
mod iscsi;
mod layers;
mod leftover;
mod network;
mod nfs;
mod null;
mod open;
mod owner;
mod prepare;
mod presence;
mod probe;
mod promise;
mod punch;
mod rbd;
mod signature;
mod space;
mod spec;
mod survey;
mod url;

pub use block::{DeviceFacts, DeviceUse, DeviceUser, LoopCache};
pub use clock::RealClock;
pub use datastore::{
    CloseSummary, Datastore, DiskReset, DiskSet, Durability, stays_of_this_process,
};
pub use description::Description;
pub use error::DatastoreError;
pub use files::FileDisks;
pub use filesystem::{Filesystem, mounts as mounted_file_systems};
pub use leftover::{Leftovers, clean_leftovers};
pub use network::NetworkDisks;
pub use null::NullDisks;
pub use open::{Caching, OpenDisks, OpenOptions};
pub use prepare::{Fill, Preparation, Prepared};
pub use presence::OtherRun;
pub use rbd::RbdDisks;
pub use signature::{Finding, Signature, inspect};
pub use space::Space;
pub use spec::DiskSpec;
pub use stormeter_iscsi::Secret;
pub use stormeter_uring::{EngineChoice, available as uring_available};
pub use survey::{Call, RoundTrips, Survey, TransferSizes};
pub use url::{
    DatastoreUrl, Host, IscsiLun, Location, NfsExport, NfsSync, PathPolicy, RbdPool, UrlError,
};
