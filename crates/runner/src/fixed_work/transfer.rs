//! The pairs of a transfer: a thread for each client and each server.

use std::net::TcpStream;

use stormeter_datastore::{
    Caching, CloseSummary, Datastore, DatastoreError, DiskSet, OpenDisks, RealClock,
};
use stormeter_driver::{MessageStore, Payload};
use stormeter_trial::{Sample, Transfer, TransferSink};

use super::client::Client;
use super::order::FixedWorkRun;
use super::pair::connected;
use super::server::{Keeper, Server};
use super::stream::Stream;
use crate::error::RunError;
use crate::watcher::Watcher;
use crate::workers::Job;

/// The memory of all pairs.
pub(super) fn memory_bytes(run: &FixedWorkRun<'_>, transfer: &Transfer) -> u64 {
    /// Payloads of both ends, and buffers of the disk.
    const BESIDE_BYTES: u64 = 12 << 20;
    let kept = match transfer.sink {
        TransferSink::Memory => transfer.message_bytes,
        TransferSink::Disk => 0,
    };
    kept.saturating_add(BESIDE_BYTES).saturating_mul(u64::from(run.vms))
}

/// A client and a server for each VM, connected. Servers come first, so that their reason for an early end precedes
/// that of the clients, which only see the connection close.
pub(super) fn pairs<'a>(
    run: &FixedWorkRun<'_>,
    transfer: &Transfer,
    datastore: &'a Datastore,
) -> Result<Vec<TransferJob<'a>>, RunError> {
    let mut jobs = Vec::new();
    for number in 0..run.vms {
        let (client, server) =
            connected().map_err(|error| RunError::Loopback(error.to_string()))?;
        jobs.push(server_of(run, transfer, (number, server), datastore)?);
        jobs.push(client_of(run, transfer, (number, client))?);
    }
    Ok(jobs)
}

/// The servers alone, the first VM's first.
pub(super) fn servers<'a>(
    run: &FixedWorkRun<'_>,
    transfer: &Transfer,
    datastore: &'a Datastore,
    sockets: Vec<TcpStream>,
) -> Result<Vec<TransferJob<'a>>, RunError> {
    (0..).zip(sockets).map(|socket| server_of(run, transfer, socket, datastore)).collect()
}

/// The clients alone, the first VM's first.
pub(super) fn clients(
    run: &FixedWorkRun<'_>,
    transfer: &Transfer,
    sockets: Vec<TcpStream>,
) -> Result<Vec<TransferJob<'static>>, RunError> {
    (0..).zip(sockets).map(|socket| client_of(run, transfer, socket)).collect()
}

fn server_of<'a>(
    run: &FixedWorkRun<'_>,
    transfer: &Transfer,
    (number, socket): (u32, TcpStream),
    datastore: &'a Datastore,
) -> Result<TransferJob<'a>, RunError> {
    let server = Server {
        stream: stream(run, socket)?,
        transfer: *transfer,
        number,
        disk_bytes: run.disk_bytes,
        start: run.start,
        seed: run.content_seed,
        interval_ns: run.interval_ns,
        limits: run.limits,
    };
    Ok(TransferJob::Server(server, datastore))
}

fn client_of(
    run: &FixedWorkRun<'_>,
    transfer: &Transfer,
    (number, socket): (u32, TcpStream),
) -> Result<TransferJob<'static>, RunError> {
    Ok(TransferJob::Client(Client {
        stream: stream(run, socket)?,
        transfer: *transfer,
        number,
        seed: run.content_seed,
        interval_ns: run.interval_ns,
    }))
}

fn stream(run: &FixedWorkRun<'_>, socket: TcpStream) -> Result<Stream, RunError> {
    Stream::new(socket, run.limits.stall_ns).map_err(|error| RunError::Loopback(error.to_string()))
}

/// One end of a pair.
pub(super) enum TransferJob<'a> {
    Server(Server, &'a Datastore),
    Client(Client),
}

impl Job for TransferJob<'_> {
    /// Where a server keeps messages.
    type Tools = Option<Keeper>;

    fn open(&mut self) -> Result<Option<Keeper>, DatastoreError> {
        let Self::Server(server, datastore) = self else { return Ok(None) };
        if server.transfer.sink == TransferSink::Memory {
            // Touched, so that no page is allocated within the window.
            let mut bytes = vec![0; server.transfer.message_bytes as usize];
            let mut payload = Payload::new(server.seed, 2 * server.number + 1);
            for part in bytes.chunks_mut(Payload::CHUNK_BYTES) {
                part.copy_from_slice(payload.chunk(part.len() as u64));
            }
            return Ok(Some(Keeper::Memory { bytes }));
        }
        let open = OpenDisks {
            buffers: MessageStore::OUTSTANDING,
            buffer_bytes: MessageStore::chunk_bytes(server.disk_bytes),
            in_flight: MessageStore::OUTSTANDING,
        };
        let disks = datastore.disks_of(&[server.number], open, Caching::AsOpened)?;
        Ok(Some(Keeper::Disk(Box::new(disks))))
    }

    fn work(
        self,
        keeper: &mut Option<Keeper>,
        start: impl FnOnce() -> Option<u64>,
        clock: &mut RealClock,
        watcher: &mut Watcher<'_>,
    ) -> Option<Sample> {
        match (self, keeper) {
            (Self::Client(client), _) => Some(client.work(start, clock, watcher)),
            (Self::Server(server, _), Some(keeper)) => Some(server.work(start, keeper, watcher)),
            (Self::Server(..), None) => None,
        }
    }

    fn leave(keeper: Option<Keeper>, give_up: &dyn Fn() -> bool) -> CloseSummary {
        match keeper {
            Some(Keeper::Disk(mut disks)) => DiskSet::finish(&mut disks, give_up),
            _ => CloseSummary::default(),
        }
    }
}
