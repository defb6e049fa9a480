//! A peer that implements the protocol from the crate's documentation, byte by byte, and can
//! therefore break it anywhere.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::far::PATIENCE;

pub(crate) struct Peer(pub(crate) TcpStream);

pub(crate) fn greeting(version: u16, nonce: u8) -> Vec<u8> {
    [b"STMETNET".as_slice(), &version.to_be_bytes(), &[0, 0], &[nonce; 32]].concat()
}

pub(crate) fn proof(label: &str, listener: &[u8], client: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"a key for tests only").unwrap();
    for part in [label.as_bytes(), listener, client] {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

pub(crate) fn request(operation: u8, sink: u8, flag: u8, count: u32, length: u64) -> Vec<u8> {
    let head = [operation, sink, flag, 0];
    [&head[..], &count.to_be_bytes(), &length.to_be_bytes()].concat()
}

/// The code and value of a reply.
pub(crate) fn code_and_value(reply: &[u8]) -> (u8, u64) {
    (reply[0], u64::from_be_bytes(reply[8..16].try_into().unwrap()))
}

impl Peer {
    pub(crate) fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).unwrap())
    }

    /// Connects and authenticates.
    pub(crate) fn introduced(address: SocketAddr) -> Self {
        let mut peer = Self::connect(address);
        let listener = peer.read(44);
        let client = greeting(1, 7);
        let proof_of_client = proof("stormeter net 1 client", &listener, &client);
        peer.write(&[client.clone(), proof_of_client].concat());
        let verdict = peer.read(33);
        assert_eq!(verdict[0], 0);
        assert_eq!(verdict[1..], proof("stormeter net 1 listener", &listener, &client));
        peer
    }

    /// Accepts a client that knows the key, as a listener does.
    pub(crate) fn introducing(stream: TcpStream) -> Self {
        let mut peer = Self::of(stream);
        let listener = greeting(1, 9);
        peer.write(&listener);
        let said = peer.read(76);
        let (client, proof_of_client) = said.split_at(44);
        assert_eq!(proof_of_client, proof("stormeter net 1 client", &listener, client));
        peer.write(&[vec![0], proof("stormeter net 1 listener", &listener, client)].concat());
        peer
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    pub(crate) fn read(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Sends a request, and returns the reply.
    pub(crate) fn ask(&mut self, request: &[u8]) -> (u8, u64) {
        self.write(request);
        code_and_value(&self.read(16))
    }

    /// Checks that only the end of the stream follows.
    pub(crate) fn assert_closed(&mut self) {
        match self.0.read(&mut [0; 64]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("the connection should be closed: {other:?}"),
        }
    }
}
