//! Scripts that a guest of a lab carries out, over its control port.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Has a guest carry out a script, and returns its last word: `ready`, or `failed` and the last that it said.
pub(crate) fn script(directory: &Path, guest: &str, lines: &[&str]) -> String {
    let socket = directory.join("guests").join(guest).join("control");
    let mut stream = UnixStream::connect(socket).unwrap();
    let mut text = String::from("begin\n");
    for line in lines {
        text += &format!("line {line}\n");
    }
    stream.write_all((text + "run\n").as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "{guest} has gone");
        // Answers to a hello that was asked for once more.
        if !line.starts_with("hello") {
            return line.trim_end().into();
        }
    }
}
