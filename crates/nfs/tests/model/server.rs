//! A server to test the session against: it keeps files in memory, does what RFC 1813 allows a
//! server to do, and does it at the worst moments. It encodes and decodes by hand, so that an error
//! in the crate's own codec cannot cancel itself out.

use crate::random::Random;

/// How often, in thousandths, the server does each thing that it may.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) short: u32,
    pub(crate) jukebox: u32,
    pub(crate) duplicate: u32,
    pub(crate) wrong_xid: u32,
    pub(crate) fragment: u32,
    pub(crate) swallow: u32,
    pub(crate) fail_read: u32,
    /// Refuses COMMITs, having written nothing, and may drop the unstable data of the file.
    pub(crate) fail_commit: u32,
    /// Loses uncommitted data and gets another verifier, without breaking the connection.
    pub(crate) silent_restart: u32,
    /// Answers unstable writes as stable ones.
    pub(crate) eager: u32,
    /// Answers stable writes as unstable ones.
    pub(crate) lying: u32,
    pub(crate) verifier_bytes: bool,
    pub(crate) bare: bool,
}

/// Counts of requests, for the tests.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) reads: u32,
    pub(crate) writes: u32,
    pub(crate) stable_writes: u32,
    pub(crate) commits: u32,
    pub(crate) xids: Vec<u32>,
}

pub(crate) struct Server {
    /// What clients see.
    pub(crate) present: Vec<Vec<u8>>,
    /// What survives a restart.
    pub(crate) stable: Vec<Vec<u8>>,
    pub(crate) verifier: u64,
    pub(crate) faults: Faults,
    pub(crate) asked: Asked,
    random: Random,
    inbox: Vec<u8>,
    /// Calls not yet executed, in no order.
    pub(crate) calls: Vec<Vec<u8>>,
    /// Replies not yet sent, in no order.
    pub(crate) replies: Vec<Vec<u8>>,
}

struct Call<'a>(&'a [u8]);

impl<'a> Call<'a> {
    fn u32(&mut self) -> u32 {
        let (word, rest) = self.0.split_at(4);
        self.0 = rest;
        u32::from_be_bytes(word.try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    fn opaque(&mut self) -> &'a [u8] {
        let length = self.u32() as usize;
        let (bytes, rest) = self.0.split_at(length);
        let (zeroes, rest) = rest.split_at((4 - length % 4) % 4);
        assert!(zeroes.iter().all(|byte| *byte == 0), "padding is zero");
        self.0 = rest;
        bytes
    }
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        out.extend(word.to_be_bytes());
    }
}

impl Server {
    pub(crate) fn new(files: usize, bytes: usize, seed: u64, faults: Faults) -> Self {
        let mut random = Random::new(seed ^ 0x5e7e);
        let mut present = vec![vec![0; bytes]; files];
        present.iter_mut().for_each(|file| random.fill(file));
        Self {
            stable: present.clone(),
            present,
            verifier: random.next(),
            faults,
            asked: Asked::default(),
            random,
            inbox: Vec::new(),
            calls: Vec::new(),
            replies: Vec::new(),
        }
    }

    /// The connection is gone. Outstanding calls may still be executed, or not.
    pub(crate) fn hangs_up(&mut self) {
        while self.random.chance(500) && self.carry_out_one() {}
        self.calls.clear();
        self.inbox.clear();
        self.replies.clear();
        // Refusals of COMMITs may be lost with it: only another verifier tells that data was dropped.
        if self.faults.fail_commit > 0 {
            self.verifier = self.random.next();
        }
    }

    pub(crate) fn restart(&mut self) {
        self.present.clone_from(&self.stable);
        self.verifier = self.random.next();
    }

    /// Receives bytes, which are calls.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
        let mut inbox = std::mem::take(&mut self.inbox);
        let mut begin = 0;
        while let Some(mark) = inbox.get(begin..begin + 4) {
            let mark = u32::from_be_bytes(mark.try_into().unwrap());
            assert_ne!(mark & 1 << 31, 0, "calls are one fragment");
            let length = (mark & !(1 << 31)) as usize;
            let Some(call) = inbox.get(begin + 4..begin + 4 + length) else { break };
            self.calls.push(call.to_vec());
            begin += 4 + length;
        }
        inbox.drain(..begin);
        self.inbox = inbox;
    }

    /// Executes one of the calls, chosen at random.
    pub(crate) fn carry_out_one(&mut self) -> bool {
        if self.calls.is_empty() {
            return false;
        }
        let call = self.calls.swap_remove(self.random.below(self.calls.len()));
        self.call(&call);
        true
    }

    fn call(&mut self, call: &[u8]) {
        let mut call = Call(call);
        let xid = call.u32();
        assert_eq!([call.u32(), call.u32(), call.u32(), call.u32()], [0, 2, 100_003, 3]);
        let procedure = call.u32();
        call.u32();
        call.opaque();
        assert_eq!([call.u32(), call.u32()], [0, 0], "no verifier");
        let file = call.opaque()[0] as usize;
        self.asked.xids.push(xid);
        let mut reply = Vec::new();
        words(&mut reply, &[xid, 1, 0]);
        if self.faults.verifier_bytes {
            words(&mut reply, &[6, 5, 0x6162_6364, 0x6500_0000]);
        } else {
            words(&mut reply, &[0, 0]);
        }
        words(&mut reply, &[0]);
        if self.random.chance(self.faults.silent_restart) {
            self.restart();
        }
        if self.random.chance(self.faults.jukebox) {
            words(&mut reply, &[10_008]);
            self.attributes(&mut reply, procedure != 6, file);
        } else {
            match procedure {
                6 => self.read(&mut call, file, &mut reply),
                7 => self.write(&mut call, file, &mut reply),
                21 => self.commit(&mut call, file, &mut reply),
                other => panic!("procedure {other} is not for the data path"),
            }
            assert!(call.0.is_empty(), "a call ends where its arguments end");
        }
        if self.random.chance(self.faults.swallow) {
            return;
        }
        if self.random.chance(self.faults.duplicate) {
            self.replies.push(reply.clone());
        }
        if self.random.chance(self.faults.wrong_xid) {
            let mut other = reply.clone();
            other[..4].copy_from_slice(&xid.wrapping_sub(1 << 20).to_be_bytes());
            self.replies.push(other);
        }
        self.replies.push(reply);
    }

    /// Attributes after the call, and for calls that change files also those before.
    fn attributes(&mut self, reply: &mut Vec<u8>, change: bool, file: usize) {
        if change {
            let before = !self.faults.bare;
            words(reply, &[u32::from(before)]);
            if before {
                words(reply, &[0, 1 << 20, 7, 8, 9, 10]);
            }
        }
        if self.faults.bare {
            words(reply, &[0]);
            return;
        }
        let size = self.present[file].len() as u32;
        words(reply, &[1, 1, 0o600, 1, 0, 0, 0, size, 0, size, 0, 0, 0, 1, 0, 2]);
        words(reply, &[1, 2, 3, 4, 5, 6]);
    }

    fn read(&mut self, call: &mut Call<'_>, file: usize, reply: &mut Vec<u8>) {
        self.asked.reads += 1;
        let (offset, asked) = (call.u64() as usize, call.u32() as usize);
        if self.random.chance(self.faults.fail_read) {
            words(reply, &[5]);
            return self.attributes(reply, false, file);
        }
        let size = self.present[file].len();
        let begin = offset.min(size);
        let mut count = asked.min(size - begin);
        if count > 1 && self.random.chance(self.faults.short) {
            count = 1 + self.random.below(count - 1);
        }
        let end = begin + count;
        words(reply, &[0]);
        self.attributes(reply, false, file);
        words(reply, &[count as u32, u32::from(end == size), count as u32]);
        reply.extend_from_slice(&self.present[file][begin..end]);
        reply.resize(reply.len().next_multiple_of(4), 0);
    }

    fn write(&mut self, call: &mut Call<'_>, file: usize, reply: &mut Vec<u8>) {
        self.asked.writes += 1;
        let (offset, asked, stability) = (call.u64() as usize, call.u32(), call.u32());
        let data = call.opaque();
        assert_eq!(data.len(), asked as usize);
        let mut count = data.len();
        if count > 1 && self.random.chance(self.faults.short) {
            count = 1 + self.random.below(count - 1);
        }
        self.present[file][offset..offset + count].copy_from_slice(&data[..count]);
        let mut committed = stability;
        if stability == 0 && self.random.chance(self.faults.eager) {
            committed = 1 + self.random.below(2) as u32;
        }
        if stability == 2 && self.random.chance(self.faults.lying) {
            committed = 0;
        }
        if committed > 0 {
            self.asked.stable_writes += 1;
            self.stable[file][offset..offset + count].copy_from_slice(&data[..count]);
        }
        words(reply, &[0]);
        self.attributes(reply, true, file);
        words(reply, &[count as u32, committed]);
        reply.extend(self.verifier.to_be_bytes());
    }

    fn commit(&mut self, call: &mut Call<'_>, file: usize, reply: &mut Vec<u8>) {
        self.asked.commits += 1;
        assert_eq!((call.u64(), call.u32()), (0, 0), "all of the file");
        if self.faults.fail_commit > 0 && self.random.chance(self.faults.fail_commit) {
            // Of data whose WRITE is answered later, or another COMMIT, no client could know that it was dropped.
            if self.replies.is_empty() && self.calls.is_empty() {
                self.present[file] = self.stable[file].clone();
            }
            words(reply, &[5]);
            return self.attributes(reply, true, file);
        }
        self.stable[file] = self.present[file].clone();
        words(reply, &[0]);
        self.attributes(reply, true, file);
        reply.extend(self.verifier.to_be_bytes());
    }

    /// Sends one of the replies, chosen at random, as a record.
    pub(crate) fn send_one(&mut self) -> Vec<u8> {
        if self.replies.is_empty() {
            return Vec::new();
        }
        let reply = self.replies.swap_remove(self.random.below(self.replies.len()));
        let mut out = Vec::new();
        let mut rest = &reply[..];
        while self.random.chance(self.faults.fragment) {
            let length = self.random.below(rest.len() + 1);
            words(&mut out, &[length as u32]);
            out.extend_from_slice(&rest[..length]);
            rest = &rest[length..];
        }
        words(&mut out, &[1 << 31 | rest.len() as u32]);
        out.extend_from_slice(rest);
        out
    }
}
