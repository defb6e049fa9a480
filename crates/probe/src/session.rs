//! The listener's side of a connection: handshake, then one request after the other.

use std::fs::File;
use std::io::{Read, Seek, Write};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::ProbeError;
use crate::content::Content;
use crate::disk::{Disk, Promise};
use crate::handshake::accept;
use crate::key::{Key, random_bytes};
use crate::limits::Limits;
use crate::link::{Link, Wait};
use crate::memory::Memory;
use crate::refusal::RefusalReason;
use crate::reply::Reply;
use crate::request::{BLOCK_BYTES, GO, NO_MORE, REQUEST_BYTES, Request, STREAM_ENDED, Sink};
use crate::store::{InFile, InMemory, Kept, Store, keep};

/// One connection and its resources.
pub(crate) struct Session<'a> {
    link: &'a Link,
    limits: &'a Limits,
    disk: Option<&'a Disk>,
    memory: Memory,
    content: Content,
}

impl<'a> Session<'a> {
    /// Serves a connection to its end. Nothing is allocated for it before it has authenticated.
    pub(crate) fn run(
        link: &'a Link,
        key: &Key,
        limits: &'a Limits,
        disk: Option<&'a Disk>,
    ) -> Result<(), ProbeError> {
        accept(link, key, limits)?;
        let content = Content::new(u64::from_ne_bytes(random_bytes()?));
        let mut session = Self { link, limits, disk, memory: Memory::new(), content };
        loop {
            let mut bytes = [0; REQUEST_BYTES];
            let wait = Wait::silence("waiting for a request", limits.answer);
            match link.read(&mut bytes, wait) {
                Ok(()) => session.serve(bytes)?,
                // Closing between requests is how a client ends.
                Err(ProbeError::Closed { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn serve(&mut self, bytes: [u8; REQUEST_BYTES]) -> Result<(), ProbeError> {
        let served = self.check(bytes).and_then(|request| match request {
            Request::RoundTrips { length_bytes, count } => self.round_trips(length_bytes, count),
            Request::Send { sink, sync, length_bytes, count } => {
                self.send(sink, sync, length_bytes, count)
            }
            Request::Fetch { sink, cold, length_bytes, count } => {
                self.fetch(sink, cold, length_bytes, count)
            }
            Request::StreamIn => self.stream_in(),
            Request::StreamOut => self.stream_out(),
        });
        let reason = match &served {
            Err(ProbeError::Refused(reason)) => *reason,
            Err(ProbeError::Disk { .. }) => RefusalReason::DiskFailed,
            _ => return served,
        };
        self.reply(reason.reply())?;
        served
    }

    fn check(&self, bytes: [u8; REQUEST_BYTES]) -> Result<Request, ProbeError> {
        let request = Request::from_bytes(bytes).map_err(ProbeError::Refused)?;
        let (count, length_bytes) = request.extent();
        if length_bytes > self.limits.transfer_bytes {
            let limit_bytes = self.limits.transfer_bytes;
            return Err(ProbeError::Refused(RefusalReason::TooLong { limit_bytes }));
        }
        if count > self.limits.repetitions {
            let limit = u64::from(self.limits.repetitions);
            return Err(ProbeError::Refused(RefusalReason::TooMany { limit }));
        }
        Ok(request)
    }

    fn round_trips(&mut self, length_bytes: u64, count: u32) -> Result<(), ProbeError> {
        self.reply(Reply::done(0))?;
        for _ in 0..count {
            self.receive(&mut InMemory, length_bytes, false)?;
            self.send_content(length_bytes)?;
        }
        Ok(())
    }

    fn send(
        &mut self,
        sink: Sink,
        sync: bool,
        length_bytes: u64,
        count: u32,
    ) -> Result<(), ProbeError> {
        let promise = self.promise(sink, length_bytes)?;
        self.reply(Reply::done(0))?;
        for _ in 0..count {
            self.write(&[GO])?;
            let kept = match &promise {
                None => self.receive(&mut InMemory, length_bytes, false)?,
                Some(promise) => {
                    self.receive(&mut InFile::new(&promise.folder), length_bytes, sync)?
                }
            };
            if let (Some(promise), Some(failure)) = (&promise, kept.failure) {
                return Err(promise.folder.failed("write a file in", failure));
            }
            self.reply(Reply::done(kept.length_bytes))?;
            // After the acknowledgement and before the next "ready", so that it is not part of any
            // measured time.
            if let Some(promise) = &promise {
                promise.folder.remove_file()?;
            }
        }
        Ok(())
    }

    fn fetch(
        &mut self,
        sink: Sink,
        cold: bool,
        length_bytes: u64,
        count: u32,
    ) -> Result<(), ProbeError> {
        let promise = self.promise(sink, length_bytes)?;
        let mut file = match &promise {
            Some(promise) => {
                let prepared = self.prepare(promise, length_bytes);
                Some(prepared.map_err(|e| promise.folder.failed("prepare a file in", e))?)
            }
            None => None,
        };
        self.reply(Reply::done(0))?;
        for _ in 0..count {
            if let Some(file) = file.as_ref().filter(|_| cold) {
                // A hint: a file system without a page cache, or with its own, ignores it.
                let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
            }
            self.write(&[GO])?;
            let mut go = [0];
            self.link.read(&mut go, Wait::silence("waiting for a go", self.limits.answer))?;
            if go != [GO] {
                return Err(ProbeError::Protocol { what: "something else than a go" });
            }
            match &mut file {
                None => self.send_content(length_bytes)?,
                Some(file) => self.send_file(file, length_bytes)?,
            }
        }
        Ok(())
    }

    fn stream_in(&mut self) -> Result<(), ProbeError> {
        self.reply(Reply::done(0))?;
        let wait = Wait::silence("receiving a stream", self.limits.stall);
        let mut total_bytes = 0_u64;
        loop {
            let mut header = [0; 4];
            self.link.read(&mut header, wait)?;
            let length_bytes = u32::from_be_bytes(header);
            if length_bytes == 0 {
                return self.write(&STREAM_ENDED.to_be_bytes());
            }
            if length_bytes as usize > BLOCK_BYTES {
                return Err(ProbeError::Protocol { what: "a block longer than 128 KiB" });
            }
            let block = self.memory.next(length_bytes.into());
            self.link.read(block, wait)?;
            total_bytes += u64::from(length_bytes);
            self.write(&total_bytes.to_be_bytes())?;
        }
    }

    fn stream_out(&mut self) -> Result<(), ProbeError> {
        self.reply(Reply::done(0))?;
        let wait = Wait::silence("waiting for a credit", self.limits.stall);
        loop {
            let mut credit = [0];
            self.link.read(&mut credit, wait)?;
            match credit {
                [GO] => self.send_content(BLOCK_BYTES as u64)?,
                [NO_MORE] => return Ok(()),
                _ => return Err(ProbeError::Protocol { what: "a credit that is none" }),
            }
        }
    }

    /// Reserves what a sink needs, before the request is accepted.
    fn promise(&self, sink: Sink, length_bytes: u64) -> Result<Option<Promise<'a>>, ProbeError> {
        match (sink, self.disk) {
            (Sink::Memory, _) => Ok(None),
            (Sink::Disk, None) => Err(ProbeError::Refused(RefusalReason::NoDisk)),
            (Sink::Disk, Some(disk)) => disk.promise(length_bytes).map(Some),
        }
    }

    /// Writes the file that will be fetched.
    fn prepare(&mut self, promise: &Promise, length_bytes: u64) -> std::io::Result<File> {
        let mut file = promise.folder.create_file()?;
        let mut left_bytes = length_bytes;
        while left_bytes > 0 {
            let chunk = self.content.next(left_bytes);
            file.write_all(chunk)?;
            left_bytes -= chunk.len() as u64;
        }
        file.sync_all()?;
        Ok(file)
    }

    fn receive(
        &mut self,
        store: &mut impl Store,
        length_bytes: u64,
        sync: bool,
    ) -> Result<Kept, ProbeError> {
        let wait = Wait::silence("receiving a payload", self.limits.stall);
        let receive = |chunk: &mut [u8]| self.link.read(chunk, wait);
        keep(receive, &mut self.memory, store, length_bytes, sync)
    }

    fn send_content(&mut self, length_bytes: u64) -> Result<(), ProbeError> {
        let wait = Wait::silence("sending a payload", self.limits.stall);
        let mut left_bytes = length_bytes;
        while left_bytes > 0 {
            let chunk = self.content.next(left_bytes);
            self.link.write(chunk, wait)?;
            left_bytes -= chunk.len() as u64;
        }
        Ok(())
    }

    /// If the file fails half-way, the connection ends: the client expects bytes, and could not
    /// distinguish a reply from them.
    fn send_file(&mut self, file: &mut File, length_bytes: u64) -> Result<(), ProbeError> {
        const DURING: &str = "reading the prepared file";
        let wait = Wait::silence("sending a file", self.limits.stall);
        let failed = |source| ProbeError::Socket { during: DURING, source };
        file.rewind().map_err(failed)?;
        let mut left_bytes = length_bytes;
        while left_bytes > 0 {
            let chunk = self.memory.next(left_bytes);
            file.read_exact(chunk).map_err(failed)?;
            self.link.write(chunk, wait)?;
            left_bytes -= chunk.len() as u64;
        }
        Ok(())
    }

    fn reply(&self, reply: Reply) -> Result<(), ProbeError> {
        self.write(&reply.to_bytes())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), ProbeError> {
        self.link.write(bytes, Wait::silence("answering", self.limits.stall))
    }
}
