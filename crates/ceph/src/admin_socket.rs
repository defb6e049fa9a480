//! A daemon's admin socket: questions to one daemon, without the cluster, without keys, at once.
//!
//! A command is JSON and a zero byte; the answer is its length in four bytes, big endian, and text
//! (Ceph: src/common/admin_socket.cc describes it, doc/man/8/ceph.rst its use).

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::CephError;
use crate::daemon::Daemon;
use crate::directory::Directory;

const PATIENCE: Duration = Duration::from_secs(5);
/// More than any answer has.
const MOST_BYTES: u64 = 64 << 20;

/// Asks a daemon; the answer is JSON.
pub(crate) fn ask(
    directory: &Directory,
    daemon: Daemon,
    command: &Value,
) -> Result<Value, CephError> {
    let failed = |what: String| CephError::AdminSocket {
        daemon: daemon.name(),
        command: command.to_string(),
        what,
    };
    let answer = exchange(directory, daemon, command).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&answer).map_err(|_| failed(format!("it says '{}'", answer.trim())))
}

/// A command without arguments.
pub(crate) fn command(prefix: &str) -> Value {
    json!({ "prefix": prefix })
}

/// Changes a setting of a daemon until it ends.
pub(crate) fn set(
    directory: &Directory,
    daemon: Daemon,
    name: &str,
    value: &str,
) -> Result<(), CephError> {
    let command = json!({ "prefix": "config set", "var": name, "val": [value] });
    let answer = ask(directory, daemon, &command)?;
    if answer.get("success").is_some() {
        return Ok(());
    }
    Err(CephError::AdminSocket {
        daemon: daemon.name(),
        command: command.to_string(),
        what: format!("it says {answer}"),
    })
}

fn exchange(directory: &Directory, daemon: Daemon, command: &Value) -> std::io::Result<String> {
    let mut socket = UnixStream::connect(directory.socket(&daemon.name()))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.write_all(format!("{command}\0").as_bytes())?;
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u64::from(u32::from_be_bytes(length)).min(MOST_BYTES);
    let mut answer = Vec::new();
    socket.take(length).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;
    use std::os::unix::net::UnixListener;

    /// A daemon that gives one answer, in the form of the protocol.
    fn answer(text: &'static str) -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(scratch.path().join("run")).unwrap();
        let directory = Directory::open(scratch.path()).unwrap();
        let listener = UnixListener::bind(directory.socket("osd.2")).unwrap();
        std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut command = Vec::new();
            std::io::BufReader::new(&socket).read_until(0, &mut command).unwrap();
            let length = u32::try_from(text.len()).unwrap().to_be_bytes();
            socket.write_all(&[&length[..], text.as_bytes()].concat()).unwrap();
        });
        (scratch, directory)
    }

    #[test]
    fn the_answer_is_read_to_its_end() {
        let (_scratch, directory) = answer("{\"a\": 1}\n");
        let value = ask(&directory, Daemon::Osd(2), &command("status")).unwrap();
        assert_eq!(value, json!({ "a": 1 }));
    }

    #[test]
    fn a_refusal_is_told_in_the_daemons_words() {
        let (_scratch, directory) = answer("ERROR: (22) Invalid argument\n");
        let error = ask(&directory, Daemon::Osd(2), &command("frob")).unwrap_err().to_string();
        assert!(error.contains("osd.2") && error.contains("Invalid argument"), "{error}");
        let error = ask(&directory, Daemon::Osd(3), &command("status")).unwrap_err().to_string();
        assert!(error.contains("osd.3"), "{error}");
    }

    #[test]
    fn a_setting_that_was_not_changed_is_an_error() {
        let (_scratch, directory) = answer("{\"error\": \"unknown\"}");
        assert!(set(&directory, Daemon::Osd(2), "frob", "1").is_err());
    }
}
