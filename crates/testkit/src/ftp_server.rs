//! An FTP server of the tests, with files in memory: what RFC 959 and RFC 2428 ask of one, and some ways of failing.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// The password that the server knows; any user has it.
pub const FTP_PASSWORD: &str = "sesame42";

/// How an FTP server behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FtpManner {
    /// As one should.
    #[default]
    Well,
    /// It says 421 at the door.
    Full,
    /// It has no passive connections.
    NoPassive,
    /// It refuses every upload.
    NoRoom,
    /// It sends half of each file and says that it is whole.
    Half,
    /// It closes the session within the transfer of this number.
    ClosesIn(u32),
    /// It says nothing at the door.
    Silent,
    /// It has this many sessions in all.
    FullAfter(u32),
    /// It repeats what it hears, passwords included.
    Echoes,
    /// It closes the connection within an upload, and then says why.
    GivesUp,
}

/// The files and what happened to them.
#[derive(Debug, Default)]
pub struct FtpFiles {
    /// The files that are there.
    pub by_name: Mutex<HashMap<String, Vec<u8>>>,
    /// Sessions that were opened.
    pub sessions: AtomicU32,
    /// Transfers that were started.
    pub transfers: AtomicU32,
}

/// Starts a server; its port and its files. It ends with the process.
pub fn serve_ftp(manner: FtpManner) -> (u16, Arc<FtpFiles>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let files = Arc::new(FtpFiles::default());
    let shared = Arc::clone(&files);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let files = Arc::clone(&shared);
            // A client that leaves ends its session.
            thread::spawn(move || drop(session(socket, manner, &files)));
        }
    });
    (port, files)
}

fn session(mut socket: TcpStream, manner: FtpManner, files: &FtpFiles) -> std::io::Result<()> {
    let number = files.sessions.fetch_add(1, Ordering::Relaxed) + 1;
    socket.set_nodelay(true)?;
    let mut lines = BufReader::new(socket.try_clone()?);
    if manner == FtpManner::Silent {
        return lines.read(&mut [0]).map(drop);
    }
    let is_full = matches!(manner, FtpManner::FullAfter(most) if number > most);
    if is_full || manner == FtpManner::Full {
        return socket.write_all(b"421 There are too many users.\r\n");
    }
    socket.write_all(b"220-Tests\r\n220 ready\r\n")?;
    let mut passive: Option<TcpListener> = None;
    let mut known = false;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let line = line.trim_end();
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut store = files.by_name.lock().unwrap();
        let answer: String = match command {
            "PASS" if manner == FtpManner::Echoes => format!("500 '{line}' not understood"),
            "USER" => "331 Password?".into(),
            "PASS" => {
                known = rest == FTP_PASSWORD;
                if known { "230 ok".into() } else { "530 Login incorrect.".into() }
            }
            "QUIT" => return socket.write_all(b"221 bye\r\n"),
            _ if !known => "530 Please log in.".into(),
            "TYPE" => "200 ok".into(),
            "SIZE" => match store.get(rest) {
                Some(bytes) => format!("213 {}", bytes.len()),
                None => "550 there is none".into(),
            },
            "DELE" => match store.remove(rest) {
                Some(_) => "250 gone".into(),
                None => "550 there is none".into(),
            },
            "EPSV" if manner == FtpManner::NoPassive => "502 not here".into(),
            "EPSV" => {
                let listener = TcpListener::bind("127.0.0.1:0")?;
                let port = listener.local_addr()?.port();
                passive = Some(listener);
                format!("229 Entering Extended Passive Mode (|||{port}|)")
            }
            "STOR" if manner == FtpManner::NoRoom => "552 no room".into(),
            "STOR" | "RETR" => {
                drop(store);
                let (mut data, _) = passive.take().expect("EPSV comes first").accept()?;
                socket.write_all(b"150 go on\r\n")?;
                let number = files.transfers.fetch_add(1, Ordering::Relaxed) + 1;
                if manner == FtpManner::ClosesIn(number) {
                    return Ok(());
                }
                if command == "STOR" && manner == FtpManner::GivesUp {
                    data.read_exact(&mut [0; 1000])?;
                    drop(data);
                    socket.write_all(b"451 no space\r\n")?;
                    continue;
                }
                if command == "STOR" {
                    let mut bytes = Vec::new();
                    let read = data.read_to_end(&mut bytes);
                    files.by_name.lock().unwrap().insert(rest.into(), bytes);
                    if read.is_err() {
                        socket.write_all(b"426 cut off\r\n")?;
                        continue;
                    }
                } else {
                    let mut bytes = files.by_name.lock().unwrap()[rest].clone();
                    if manner == FtpManner::Half {
                        bytes.truncate(bytes.len() / 2);
                    }
                    if data.write_all(&bytes).is_err() {
                        socket.write_all(b"426 cut off\r\n")?;
                        continue;
                    }
                }
                drop(data);
                "226 complete".into()
            }
            _ => "500 what?".into(),
        };
        socket.write_all(answer.as_bytes())?;
        socket.write_all(b"\r\n")?;
    }
}
