//! The NFS server that answers at once: with libnfs's tools, and under many concurrent requests.
//! (QEMU's NFS driver has no port option.)

#![allow(clippy::unwrap_used)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use common::succeed;
use stormeter_server::{NullNfs, Running};

const NFS: u32 = 100_003;
const READ: u32 = 6;
const WRITE: u32 = 7;
const BOUND: Duration = Duration::from_secs(30);

fn start() -> Running {
    NullNfs::bind(0).unwrap().spawn().unwrap()
}

fn connect(running: &Running) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, running.port())).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A call with its record mark.
fn call(xid: u32, program: u32, version: u32, procedure: u32, arguments: &[u8]) -> Vec<u8> {
    let mut all = words(&[0, xid, 0, 2, program, version, procedure, 0, 0, 0, 0]);
    all.extend_from_slice(arguments);
    let mark = (1 << 31) | (all.len() as u32 - 4);
    all[..4].copy_from_slice(&mark.to_be_bytes());
    all
}

/// A reply without its record mark.
fn receive(stream: &mut TcpStream) -> Vec<u8> {
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).unwrap();
    let mut reply = vec![0; (u32::from_be_bytes(mark) & !(1 << 31)) as usize];
    stream.read_exact(&mut reply).unwrap();
    reply
}

/// A file's handle, its length, and an offset.
fn at(offset: u32) -> Vec<u8> {
    words(&[12, 1, 0, 5, 0, offset])
}

#[test]
fn it_is_listed_and_takes_files() {
    let running = start();
    let port = running.port();
    let options = format!("?nfsport={port}&mountport={port}&version=3");
    succeed("nfs-ls", &[&format!("nfs://127.0.0.1/null{options}")]);
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(5 << 20).unwrap();
    let to = format!("nfs://127.0.0.1/null/file{options}");
    succeed("nfs-cp", &[file.path().to_str().unwrap(), &to]);
}

#[test]
fn many_requests_are_answered_in_order_and_in_full() {
    const ROUNDS: u32 = 2_000;
    const LENGTHS: [u32; 6] = [4096, 1, 0, 65_536, 1 << 20, 70_003];
    let running = start();
    let mut stream = connect(&running);
    let mut sender = stream.try_clone().unwrap();
    let data = vec![7; 1 << 20];
    let length =
        |xid: u32| if xid.is_multiple_of(50) { LENGTHS[xid as usize / 50 % 6] } else { 4096 };
    let sending = thread::spawn(move || {
        for xid in 0..ROUNDS {
            let mut arguments = at(0);
            let count = length(xid);
            let procedure = if xid.is_multiple_of(2) { READ } else { WRITE };
            arguments.extend_from_slice(&words(&[count]));
            if procedure == WRITE {
                arguments.extend_from_slice(&words(&[2, count]));
                arguments.extend_from_slice(&data[..count.next_multiple_of(4) as usize]);
            }
            sender.write_all(&call(xid, NFS, 3, procedure, &arguments)).unwrap();
        }
    });
    for xid in 0..ROUNDS {
        let reply = receive(&mut stream);
        let count = length(xid);
        let accepted = words(&[xid, 1, 0, 0, 0, 0, 0]);
        assert_eq!(reply[..28], accepted);
        if xid.is_multiple_of(2) {
            assert_eq!(reply[28..44], words(&[0, count, 0, count]));
            assert_eq!(reply.len(), 44 + count.next_multiple_of(4) as usize);
            assert!(reply[44..].iter().all(|byte| *byte == 0));
        } else {
            assert_eq!(reply[28..44], words(&[0, 0, count, 2]));
            assert_eq!(reply.len(), 52);
        }
    }
    sending.join().unwrap();
}

#[test]
fn requests_may_come_in_pieces() {
    let running = start();
    let mut stream = connect(&running);
    stream.set_nodelay(true).unwrap();
    let mut arguments = at(0);
    arguments.extend_from_slice(&words(&[512]));
    let both = [call(1, NFS, 3, READ, &arguments), call(2, NFS, 3, READ, &arguments)].concat();
    for part in both.chunks(7) {
        stream.write_all(part).unwrap();
    }
    for xid in [1, 2] {
        let reply = receive(&mut stream);
        assert_eq!((&reply[..4], reply.len()), (&words(&[xid])[..], 44 + 512));
    }
}

#[test]
fn made_directories_are_directories() {
    let running = start();
    let mut stream = connect(&running);
    let root = words(&[12, 2, 0, 1]);
    let name = [&root[..], &words(&[4]), b"made"].concat();
    let mut kind_of = |procedure: u32| {
        stream.write_all(&call(1, NFS, 3, procedure, &name)).unwrap();
        receive(&mut stream)
    };
    // LOOKUP returns the handle after status and length; its first word is the kind.
    assert_eq!(kind_of(3)[24..36], words(&[0, 12, 1]));
    kind_of(9);
    assert_eq!(kind_of(3)[24..36], words(&[0, 12, 2]));
    kind_of(13);
    assert_eq!(kind_of(3)[24..36], words(&[0, 12, 1]));
}

#[test]
fn the_portmapper_names_the_port() {
    let running = start();
    let mut stream = connect(&running);
    stream.write_all(&call(1, 100_000, 2, 3, &words(&[NFS, 3, 6, 0]))).unwrap();
    assert_eq!(receive(&mut stream)[24..], words(&[u32::from(running.port())]));
}

#[test]
fn nonsense_ends_the_connection_and_nothing_else() {
    let running = start();
    for nonsense in [&[0xff; 64][..], b"\x80\0\0\x04abcd", b"GET / HTTP/1.0\r\n\r\n"] {
        let mut stream = connect(&running);
        stream.write_all(nonsense).unwrap();
        // Bytes that the server left unread turn its close into a reset.
        match stream.read(&mut [0; 64]) {
            Ok(read) => assert_eq!(read, 0),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    let mut stream = connect(&running);
    // Malformed arguments, an unknown procedure, another version, another program.
    for (xid, call) in [
        call(0, NFS, 3, READ, b""),
        call(1, NFS, 3, 22, b""),
        call(2, NFS, 4, 1, b""),
        call(3, 1, 1, 1, b""),
    ]
    .iter()
    .enumerate()
    {
        stream.write_all(call).unwrap();
        let reply = receive(&mut stream);
        assert_eq!(reply[..4], words(&[xid as u32]));
        assert_eq!(reply[20..24], words(&[[4, 3, 2, 1][xid]]));
    }
}
