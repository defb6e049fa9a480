//! One client's connection: threads take turns reading requests, and answer in whatever order the
//! answers are ready.
//!
//! The thread that has read a request lets another one read and does the work itself, so that a
//! request is not passed between threads. There are as many threads as there were ever concurrent
//! requests, up to a limit: an idle connection costs one.

use std::io::{self, BufReader, IoSlice, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use super::service::{Reply, Service};
use super::storage::Storage;
use crate::nfs3::MAX_TRANSFER_BYTES;
use crate::rpc::LAST_FRAGMENT;
use crate::send::send_all;

/// How many requests of one connection are processed at once. Syncs wait for a device: this many
/// can share one flush.
const MAX_THREADS: usize = 32;

/// The longest request: the largest WRITE and its headers.
const MAX_RECORD_BYTES: usize = MAX_TRANSFER_BYTES as usize + 4096;

/// How many fragments a request may have; none needs more than a few.
const MAX_FRAGMENTS: usize = 64;

/// How long a client may leave answers unread before it is disconnected.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);

const INPUT_BYTES: usize = 64 << 10;

struct Connection<'a, S> {
    service: &'a Service<S>,
    stream: &'a TcpStream,
    /// `None` when no more requests will arrive.
    input: Mutex<Option<BufReader<&'a TcpStream>>>,
    output: Mutex<()>,
    threads: AtomicUsize,
    waiting: AtomicUsize,
}

/// Serves a connection until it ends.
pub(crate) fn serve<S: Storage>(service: &Service<S>, stream: &TcpStream) {
    if stream.set_write_timeout(Some(SEND_TIMEOUT)).is_err() {
        return;
    }
    let connection = Connection {
        service,
        stream,
        input: Mutex::new(Some(BufReader::with_capacity(INPUT_BYTES, stream))),
        output: Mutex::new(()),
        threads: AtomicUsize::new(1),
        waiting: AtomicUsize::new(0),
    };
    thread::scope(|scope| connection.work(scope));
}

impl<S: Storage> Connection<'_, S> {
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let mut record = Vec::new();
        let mut reply = Reply::default();
        while self.next(&mut record) {
            if self.waiting.load(Ordering::Relaxed) == 0
                && self.threads.fetch_add(1, Ordering::Relaxed) < MAX_THREADS
            {
                // If no thread can be started, this one reads again when it is done.
                let _ = thread::Builder::new().spawn_scoped(scope, || self.work(scope));
            }
            let answered = self.service.answer(&record, &mut reply).is_ok();
            if !answered || self.send(&reply).is_err() {
                // Wakes the thread that is reading.
                let _ = self.stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    /// Reads the next request; `false` if there is none.
    fn next(&self, record: &mut Vec<u8>) -> bool {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let Some(reader) = input.as_mut() else { return false };
        if read_record(reader, record).is_err() {
            *input = None;
            return false;
        }
        true
    }

    fn send(&self, reply: &Reply) -> io::Result<()> {
        let mut runs = [IoSlice::new(&reply.head), IoSlice::new(reply.payload())];
        let _turn = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        send_all(self.stream, &mut runs)
    }
}

/// Reads one record (RFC 5531 section 11). Memory grows with received bytes, not with what a record
/// mark claims.
fn read_record(from: &mut impl Read, record: &mut Vec<u8>) -> io::Result<()> {
    record.clear();
    for _ in 0..MAX_FRAGMENTS {
        let mut mark = [0; 4];
        from.read_exact(&mut mark)?;
        let mark = u32::from_be_bytes(mark);
        let length = (mark & !LAST_FRAGMENT) as usize;
        if record.len() + length > MAX_RECORD_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if from.take(length as u64).read_to_end(record)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if mark & LAST_FRAGMENT != 0 {
            return Ok(());
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut record = vec![1];
        read_record(&mut &bytes[..], &mut record).is_ok().then_some(record)
    }

    #[test]
    fn fragments_join() {
        assert_eq!(read(b"\0\0\0\x02ab\x80\0\0\x01c").unwrap(), b"abc");
        assert_eq!(read(b"\x80\0\0\0").unwrap(), b"");
    }

    #[test]
    fn claims_are_bounded() {
        assert!(read(b"\xff\xff\xff\xffabc").is_none());
        assert!(read(b"\x80\0\0\x05abc").is_none());
        assert!(read(&b"\0\0\0\0".repeat(1000)).is_none());
        // The record is complete, and each part is short enough.
        let mut long = Vec::new();
        for mark in [0, 0, LAST_FRAGMENT] {
            long.extend_from_slice(&(mark | 512 << 10).to_be_bytes());
            long.resize(long.len() + (512 << 10), 0);
        }
        assert!(read(&long).is_none());
    }
}
