//! A VNC server of the tests: a desktop whose upper half changes with the pointer and whose lower half shows keys.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use des::cipher::{Array, BlockCipherEncrypt, KeyInit};

use crate::PASSWORD;

/// How the server behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    #[default]
    Well,
    /// It has too many viewers.
    Full,
    /// It closes the session at the key of this number.
    ClosesAt(u32),
    /// It shows keys in the upper half.
    Elsewhere,
}

/// What viewers did.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) viewers: AtomicU32,
    pub(crate) keys: Mutex<Vec<u8>>,
    pub(crate) pointers: AtomicU32,
    /// The lowest place of a pointer, in pixels from the upper edge.
    pub(crate) lowest: AtomicU32,
}

/// Starts a server; its port and what is done. It ends with the process.
pub(crate) fn serve(manner: Manner) -> (u16, Arc<Done>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let done = Arc::new(Done::default());
    let shared = Arc::clone(&done);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let done = Arc::clone(&shared);
            thread::spawn(move || drop(session(socket, manner, &done)));
        }
    });
    (port, done)
}

fn take<const N: usize>(socket: &mut TcpStream) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    socket.read_exact(&mut bytes).map(|()| bytes)
}

fn is_right(challenge: [u8; 16], answer: [u8; 16]) -> bool {
    let mut key = [0u8; 8];
    key.iter_mut().zip(PASSWORD.bytes()).for_each(|(to, from)| *to = from.reverse_bits());
    let cipher = des::Des::new(&Array(key));
    challenge.chunks_exact(8).zip(answer.chunks_exact(8)).all(|(asked, answered)| {
        let mut block = Array([0u8; 8]);
        block.copy_from_slice(asked);
        cipher.encrypt_block(&mut block);
        block.as_slice() == answered
    })
}

/// An update with one picture of 8 by 16 pixels at this height, in ZRLE.
fn update(top: u16) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 1, 0, 0];
    bytes.extend(top.to_be_bytes());
    bytes.extend([0, 8, 0, 16, 0, 0, 0, 16, 0, 0, 0, 5, 1, 2, 3, 4, 5]);
    bytes
}

fn session(mut socket: TcpStream, manner: Manner, done: &Done) -> std::io::Result<()> {
    done.viewers.fetch_add(1, Ordering::Relaxed);
    socket.write_all(b"RFB 003.008\n")?;
    take::<12>(&mut socket)?;
    if manner == Manner::Full {
        return socket.write_all(b"\0\0\0\0\x08Too many");
    }
    socket.write_all(&[1, 2])?;
    take::<1>(&mut socket)?;
    let challenge = *b"0123456789abcdef";
    socket.write_all(&challenge)?;
    let answer = take::<16>(&mut socket)?;
    if !is_right(challenge, answer) {
        return socket.write_all(b"\0\0\0\x01\0\0\0\x05wrong");
    }
    socket.write_all(&[0; 4])?;
    take::<1>(&mut socket)?;
    let mut screen = vec![2, 128, 1, 224, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
    screen.extend([0, 0, 0, 1, b'x']);
    socket.write_all(&screen)?;
    loop {
        match take::<1>(&mut socket)? {
            [2] => {
                let [_, _, count] = take::<3>(&mut socket)?;
                (0..count).try_for_each(|_| take::<4>(&mut socket).map(drop))?;
            }
            [3] => {
                let [incremental, ..] = take::<9>(&mut socket)?;
                // The whole screen at first; then what keys and pointers change.
                if incremental == 0 {
                    socket.write_all(&update(0))?;
                }
            }
            [4] => {
                let [down, _, _, _, _, _, key] = take::<7>(&mut socket)?;
                if down == 1 {
                    let number = {
                        let mut keys = done.keys.lock().unwrap();
                        keys.push(key);
                        keys.len() as u32
                    };
                    if manner == Manner::ClosesAt(number) {
                        return Ok(());
                    }
                    let top = if manner == Manner::Elsewhere { 100 } else { 300 };
                    socket.write_all(&update(top))?;
                }
            }
            [5] => {
                let [_, _, _, high, low] = take::<5>(&mut socket)?;
                done.lowest.fetch_max(u16::from_be_bytes([high, low]).into(), Ordering::Relaxed);
                done.pointers.fetch_add(1, Ordering::Relaxed);
                socket.write_all(&update(40))?;
            }
            _ => return Ok(()),
        }
    }
}
