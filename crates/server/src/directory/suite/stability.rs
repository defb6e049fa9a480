//! What is promised to be stable is synced before the answer, and requests do not wait for each
//! other's syncs.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;

use super::super::connection;
use super::super::storage::{Kernel, Storage};
use super::client::{Arguments, Client, record};
use crate::DirectoryServer;

/// Records the operations.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<&'static str>>>);

impl Diary {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Storage for Diary {
    fn write(&self, file: &File, data: &[u8], offset_bytes: u64) -> io::Result<()> {
        self.note("write");
        Kernel.write(file, data, offset_bytes)
    }

    fn sync_data(&self, _: &File) -> io::Result<()> {
        self.note("data");
        Ok(())
    }

    fn sync_all(&self, file: &File) -> io::Result<()> {
        self.note(if file.metadata()?.is_dir() { "directory" } else { "all" });
        Ok(())
    }
}

#[test]
fn writes_are_as_stable_as_they_say() {
    let shared = tempfile::tempdir().unwrap();
    let diary = Diary::default();
    let client = Client::with(shared.path(), diary.clone());
    let file = client.create(&client.root, b"disk").handle(4);
    assert_eq!(diary.take(), ["all", "directory"]);
    for (stable, expected) in [(0, &["write"][..]), (1, &["write", "data"]), (2, &["write", "all"])]
    {
        let answer = client.write(&file, 10, b"abcde", stable);
        assert_eq!(answer.status, 0);
        assert_eq!(diary.take(), expected);
        // After the attribute change: count, stability, verifier.
        assert_eq!(
            [answer.word(23), answer.word(24), answer.word(25), answer.word(26)],
            [5, stable, 0, 5]
        );
    }
    let answer = client.commit(&file);
    assert_eq!(diary.take(), ["data"]);
    assert_eq!([answer.status, answer.word(23), answer.word(24)], [0, 0, 5]);
    assert_eq!(fs::read(shared.path().join("disk")).unwrap(), b"\0\0\0\0\0\0\0\0\0\0abcde");
}

#[test]
fn other_changes_are_stable_before_their_answer() {
    let shared = tempfile::tempdir().unwrap();
    let diary = Diary::default();
    let client = Client::with(shared.path(), diary.clone());
    let file = client.create(&client.root, b"disk").handle(4);
    let at = |name: &[u8]| Arguments::default().data(&client.root).data(name);
    diary.take();
    let size = Arguments::default().data(&file).number(0).number(0).number(0).number(1).wide(4096);
    assert_eq!(client.call(2, &size.number(0).number(0).number(0)).status, 0);
    assert_eq!(diary.take(), ["all"]);
    assert_eq!(fs::metadata(shared.path().join("disk")).unwrap().len(), 4096);
    assert_eq!(client.call(9, &at(b"folder").keep_all()).status, 0);
    assert_eq!(diary.take(), ["directory", "directory"]);
    assert_eq!(client.call(13, &at(b"folder")).status, 0);
    assert_eq!(diary.take(), ["directory"]);
    assert_eq!(client.call(14, &at(b"disk").data(&client.root).data(b"moved")).status, 0);
    assert_eq!(diary.take(), ["directory", "directory"]);
    assert_eq!(client.call(12, &at(b"moved")).status, 0);
    assert_eq!(diary.take(), ["directory"]);
}

/// A device that fails when its cache is flushed.
struct Failing;

impl Storage for Failing {
    fn write(&self, file: &File, data: &[u8], offset_bytes: u64) -> io::Result<()> {
        Kernel.write(file, data, offset_bytes)
    }

    fn sync_data(&self, _: &File) -> io::Result<()> {
        Err(Errno::EIO.into())
    }

    fn sync_all(&self, _: &File) -> io::Result<()> {
        Err(Errno::EIO.into())
    }
}

#[test]
fn a_failing_sync_is_not_hidden() {
    let shared = tempfile::tempdir().unwrap();
    fs::write(shared.path().join("disk"), b"").unwrap();
    let client = Client::with(shared.path(), Failing);
    let file = client.lookup(&client.root, b"disk").handle(0);
    let answers = [0, 1, 2].map(|stable| client.write(&file, 0, b"x", stable).status);
    assert_eq!(answers, [0, 5, 5]);
    assert_eq!(client.commit(&file).status, 5);
}

#[test]
fn a_failed_sync_gives_a_new_verifier() {
    let shared = tempfile::tempdir().unwrap();
    fs::write(shared.path().join("disk"), b"").unwrap();
    let client = Client::with(shared.path(), Failing);
    let file = client.lookup(&client.root, b"disk").handle(0);
    let verifier = || {
        let answer = client.write(&file, 0, b"x", 0);
        [answer.word(25), answer.word(26)]
    };
    let first = verifier();
    assert_eq!(verifier(), first);
    assert_eq!(client.commit(&file).status, 5);
    assert_ne!(verifier(), first, "what was lost would never be sent again");
}

#[test]
fn every_start_has_its_own_verifier() {
    let shared = tempfile::tempdir().unwrap();
    let start = || DirectoryServer::bind(shared.path(), 0).unwrap().service.verifier.into_inner();
    assert_ne!(start(), start());
}

/// A device whose sync takes until it is released.
struct Slow {
    started: Sender<()>,
    let_go: Mutex<Receiver<()>>,
}

impl Storage for Slow {
    fn write(&self, file: &File, data: &[u8], offset_bytes: u64) -> io::Result<()> {
        Kernel.write(file, data, offset_bytes)
    }

    fn sync_data(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn sync_all(&self, _: &File) -> io::Result<()> {
        self.started.send(()).unwrap();
        self.let_go.lock().unwrap().recv_timeout(BOUND).map_err(io::Error::other)
    }
}

/// Longer than anything here takes.
const BOUND: Duration = Duration::from_secs(30);

fn send(stream: &mut TcpStream, xid: u32, procedure: u32, arguments: &Arguments) {
    let mut call = record(100_003, procedure, arguments);
    call[..4].copy_from_slice(&xid.to_be_bytes());
    stream.write_all(&((1 << 31) | call.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(&call).unwrap();
}

fn receive(stream: &mut TcpStream) -> u32 {
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).unwrap();
    let mut reply = vec![0; (u32::from_be_bytes(mark) & !(1 << 31)) as usize];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[24..28], [0; 4], "status");
    u32::from_be_bytes(reply[..4].try_into().unwrap())
}

#[test]
fn a_slow_sync_holds_up_no_other_request() {
    let shared = tempfile::tempdir().unwrap();
    fs::write(shared.path().join("disk"), b"").unwrap();
    let (started, has_started) = mpsc::channel();
    let (let_go, wait) = mpsc::channel();
    let client = slow_client(shared.path(), started, wait);
    let file = client.lookup(&client.root, b"disk").handle(0);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    let (served, _) = listener.accept().unwrap();
    let service = &client.service;
    thread::scope(|scope| {
        scope.spawn(move || connection::serve(service, &served));
        let write = Arguments::default().data(&file).wide(0).number(1).number(2).data(b"x");
        // Two are being synced at once, and later requests are answered before them.
        send(&mut stream, 1, 7, &write);
        send(&mut stream, 2, 7, &write);
        has_started.recv_timeout(BOUND).unwrap();
        send(&mut stream, 3, 1, &Arguments::default().data(&file));
        assert_eq!(receive(&mut stream), 3);
        let_go.send(()).unwrap();
        let_go.send(()).unwrap();
        let mut later = [receive(&mut stream), receive(&mut stream)];
        later.sort_unstable();
        assert_eq!(later, [1, 2]);
        drop(stream);
    });
}

fn slow_client(shared: &Path, started: Sender<()>, wait: Receiver<()>) -> Client<Slow> {
    Client::with(shared, Slow { started, let_go: Mutex::new(wait) })
}
