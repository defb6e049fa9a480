//! The boundary of the engine: what a load loop asks of virtual disks and what it gets back.
//!
//! Everything that drives load (the driver) and everything that carries it (real datastores, the
//! simulator) meets here and nowhere else. The crate holds plain values and four traits; it makes no
//! system call, opens no socket and knows no protocol, so that the same loop runs in real time over
//! io_uring and in virtual time over simulated disks.
//!
//! Whatever takes operations and gives each a completion can bear the load:
//!
//! ```
//! use stormeter_disk::{Completion, Disks, DisksError, Kind, Operation, Wait};
//!
//! /// One disk in memory, with one buffer.
//! struct Memory {
//!     bytes: Vec<u8>,
//!     buffer: [u8; 512],
//!     done: Vec<Completion>,
//! }
//!
//! impl Disks for Memory {
//!     fn submit(&mut self, operations: &[Operation]) -> Result<(), DisksError> {
//!         for operation in operations {
//!             let from = operation.offset_bytes as usize;
//!             let place = &mut self.bytes[from..from + operation.length_bytes as usize];
//!             match operation.kind {
//!                 Kind::Read => self.buffer.copy_from_slice(place),
//!                 Kind::Write | Kind::DurableWrite => place.copy_from_slice(&self.buffer),
//!                 Kind::Flush => {}
//!             }
//!             let result = operation.length_bytes as i32;
//!             self.done.push(Completion { slot: operation.slot, result });
//!         }
//!         Ok(())
//!     }
//!
//!     fn reap(&mut self, _: Wait, completions: &mut Vec<Completion>) -> Result<(), DisksError> {
//!         completions.append(&mut self.done);
//!         Ok(())
//!     }
//!
//!     fn buffer(&mut self, _: u32) -> Option<&mut [u8]> {
//!         Some(&mut self.buffer)
//!     }
//! }
//!
//! let mut disks = Memory { bytes: vec![0; 4096], buffer: [7; 512], done: vec![] };
//! let write = Operation {
//!     offset_bytes: 1024,
//!     length_bytes: 512,
//!     disk: 0,
//!     slot: 3,
//!     buffer: 0,
//!     kind: Kind::Write,
//! };
//! disks.submit(&[write])?;
//! let mut completions = vec![];
//! disks.reap(Wait::No, &mut completions)?;
//! assert_eq!(completions, [Completion { slot: 3, result: 512 }]);
//! assert_eq!(disks.bytes[1023..1025], [0, 7]);
//! # Ok::<(), DisksError>(())
//! ```

mod clock;
mod datastore_note;
mod desktops;
mod disks;
mod incident;
mod operation;
mod promise;
mod sessions;

pub use clock::Clock;
pub use datastore_note::{DatastoreFact, DatastoreNote, EngineNote, FoundData};
pub use desktops::{DesktopChange, DesktopEvent, DesktopStep, Desktops};
pub use disks::{Disks, DisksError, Wait};
pub use incident::{
    ClusterTrouble, Incident, Incidents, Io, Said, Sharing, StalePart, StorageEvent,
};
pub use operation::{Completion, DeviceError, Kind, Operation};
pub use promise::{Acknowledged, Promise, PromiseEvidence};
pub use sessions::{SessionChange, SessionEvent, Sessions};
