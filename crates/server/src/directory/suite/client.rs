//! A client in memory: builds requests and parses replies.

use std::path::Path;

use super::super::service::{Reply, Service};
use super::super::storage::{Kernel, Storage};
use super::super::tree::Tree;

/// XDR arguments.
#[derive(Clone, Default)]
pub(super) struct Arguments(pub(super) Vec<u8>);

impl Arguments {
    pub(super) fn number(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn wide(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(super) fn data(self, data: &[u8]) -> Self {
        let mut with = self.number(data.len() as u32);
        with.0.extend_from_slice(data);
        while !with.0.len().is_multiple_of(4) {
            with.0.push(0);
        }
        with
    }

    /// Attributes with none to set.
    pub(super) fn keep_all(self) -> Self {
        (0..6).fold(self, |all, _| all.number(0))
    }
}

/// A call's record without its mark.
pub(super) fn record(program: u32, procedure: u32, arguments: &Arguments) -> Vec<u8> {
    let words = [77, 0, 2, program, 3, procedure, 0, 0, 0, 0];
    let mut all: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect();
    all.extend_from_slice(&arguments.0);
    all
}

/// The reply: status and what follows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u32,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn word(&self, index: usize) -> u32 {
        u32::from_be_bytes(self.body[4 * index..4 * index + 4].try_into().unwrap())
    }

    /// The handle at the start of a body.
    pub(super) fn handle(&self, from: usize) -> Vec<u8> {
        assert_eq!(self.status, 0);
        let length = self.word(from / 4) as usize;
        self.body[from + 4..from + 4 + length].to_vec()
    }
}

pub(super) struct Client<S> {
    pub(super) service: Service<S>,
    pub(super) root: Vec<u8>,
}

impl Client<Kernel> {
    pub(super) fn of(directory: &Path) -> Self {
        Self::with(directory, Kernel)
    }
}

impl<S: Storage> Client<S> {
    pub(super) fn with(directory: &Path, storage: S) -> Self {
        let service = Service::new(Tree::open(directory).unwrap(), storage, "/export", 5);
        let mut client = Self { service, root: Vec::new() };
        client.root = client.mount("/export").handle(0);
        client
    }

    fn exchange(&self, record: &[u8]) -> Answer {
        let mut reply = Reply::default();
        self.service.answer(record, &mut reply).unwrap();
        let whole = [&reply.head[..], reply.payload()].concat();
        let mark = u32::from_be_bytes(whole[..4].try_into().unwrap());
        assert_eq!(mark, (1 << 31) | (whole.len() as u32 - 4));
        assert_eq!(whole[24..28], [0; 4], "the call was not accepted");
        let status = u32::from_be_bytes(whole[28..32].try_into().unwrap());
        Answer { status, body: whole[32..].to_vec() }
    }

    pub(super) fn mount(&self, path: &str) -> Answer {
        self.exchange(&record(100_005, 1, &Arguments::default().data(path.as_bytes())))
    }

    pub(super) fn call(&self, procedure: u32, arguments: &Arguments) -> Answer {
        self.exchange(&record(100_003, procedure, arguments))
    }

    pub(super) fn lookup(&self, directory: &[u8], name: &[u8]) -> Answer {
        self.call(3, &Arguments::default().data(directory).data(name))
    }

    pub(super) fn create(&self, directory: &[u8], name: &[u8]) -> Answer {
        self.call(8, &Arguments::default().data(directory).data(name).number(0).keep_all())
    }

    pub(super) fn read(&self, file: &[u8], offset: u64, count: u32) -> Answer {
        self.call(6, &Arguments::default().data(file).wide(offset).number(count))
    }

    pub(super) fn write(&self, file: &[u8], offset: u64, data: &[u8], stable: u32) -> Answer {
        let arguments = Arguments::default().data(file).wide(offset);
        let length = data.len() as u32;
        self.call(7, &arguments.number(length).number(stable).data(data))
    }

    pub(super) fn commit(&self, file: &[u8]) -> Answer {
        self.call(21, &Arguments::default().data(file).wide(0).number(0))
    }

    /// The data of a READ that must succeed.
    pub(super) fn content(&self, file: &[u8], count: u32) -> Vec<u8> {
        let answer = self.read(file, 0, count);
        assert_eq!(answer.status, 0);
        // After the attributes and their mark: count, end of file, length.
        let length = answer.word(22 + 2) as usize;
        answer.body[88 + 12..88 + 12 + length].to_vec()
    }
}
