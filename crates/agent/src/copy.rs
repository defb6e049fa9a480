//! Sends the program to a host that does not have it, or has another version, over the transport
//! that reaches the host.
//!
//! It goes into a separate directory below the user's cache directory, named by version and content, so
//! that no existing file is replaced; it is first written under another name, so that an incomplete copy
//! is never run.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::binary::is_static;
use crate::command::Transport;
use crate::error::HostError;
use crate::link::end;
use crate::tail::Tail;

/// The program has about ten megabytes: a slow line takes a minute.
const WITHIN: Duration = Duration::from_secs(300);
/// How often to check whether a process has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The program to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    path: PathBuf,
    /// Names its directory on the host.
    id: String,
}

impl Program {
    /// The program that was named, or this one. `needs_static`: it must run without this machine's
    /// libraries.
    pub(crate) fn find(
        own: &Path,
        named: Option<&Path>,
        version: &str,
    ) -> Result<Program, HostError> {
        let path = named.unwrap_or(own);
        let unread = |error: io::Error| {
            HostError::Copy(format!("the program {} cannot be read: {error}", path.display()))
        };
        // A program that the user named is not checked: the host may have its libraries.
        if named.is_none() && !is_static(path).map_err(unread)? {
            return Err(HostError::Copy(
                "this program needs libraries of this machine; name a static one for agents, or install \
                 stormeter on the host"
                    .into(),
            ));
        }
        let bytes = std::fs::read(path).map_err(unread)?;
        Ok(Program { path: path.into(), id: format!("{version}-{:016x}", fingerprint(&bytes)) })
    }

    /// The script that starts it on the host if it is there; otherwise the installed program.
    pub(crate) fn start_script(&self) -> String {
        format!(
            "p=\"{}/stormeter\"; if [ -x \"$p\" ]; then exec \"$p\" agent; fi; \
             exec stormeter agent",
            self.directory()
        )
    }

    fn directory(&self) -> String {
        format!("${{XDG_CACHE_HOME:-$HOME/.cache}}/stormeter/{}", self.id)
    }

    /// Sends it to the host.
    pub(crate) fn copy(&self, to: &Transport, cancel: &AtomicBool) -> Result<(), HostError> {
        let script = format!(
            "umask 077; d=\"{}\"; mkdir -p \"$d\" && cat > \"$d/stormeter.$$\" && \
             chmod 700 \"$d/stormeter.$$\" && mv \"$d/stormeter.$$\" \"$d/stormeter\"",
            self.directory()
        );
        let failed = |error: io::Error| HostError::Copy(error.to_string());
        let file = std::fs::File::open(&self.path).map_err(failed)?;
        let mut child = to
            .shell(&script)
            .stdin(Stdio::from(file))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let tail = Tail::follow(child.stderr.take());
        let began = Instant::now();
        loop {
            match child.try_wait().map_err(failed)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    tail.settle();
                    return Err(HostError::Copy(format!("{status}; it said: {}", tail.text())));
                }
                None if cancel.load(Ordering::Relaxed) || began.elapsed() > WITHIN => {
                    end(&mut child);
                    let within = WITHIN.as_secs() / 60;
                    return Err(HostError::Copy(format!("it took more than {within} minutes")));
                }
                None => std::thread::sleep(LOOK),
            }
        }
    }
}

/// Starts an installed agent.
pub(crate) const INSTALLED: &str = "exec stormeter agent";

/// 64-bit FNV-1a: identifies a content, and is not meant as protection.
fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_arrives_whole_and_only_once_in_place() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("own");
        std::fs::write(&program, "#!/bin/sh\necho \"$1 runs\"\n").unwrap();
        let found = Program::find(&program, Some(&program), "1.2.3").unwrap();
        let cache = place.path().join("cache");
        let way = Transport::Command(format!("XDG_CACHE_HOME={} {{agent}}", cache.display()));
        found.copy(&way, &AtomicBool::new(false)).unwrap();
        let output = way.shell(&found.start_script()).output().unwrap();
        assert_eq!(output.stdout, b"agent runs\n", "{output:?}");
        let names: Vec<_> = std::fs::read_dir(cache.join("stormeter").join(&found.id))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["stormeter"]);
    }

    #[test]
    fn what_cannot_run_elsewhere_is_not_sent() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("own");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        let message = Program::find(&program, None, "1").unwrap_err().to_string();
        assert!(message.contains("a static one"), "{message}");
    }

    #[test]
    fn a_host_that_takes_nothing_says_why() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("own");
        std::fs::write(&program, "x").unwrap();
        let found = Program::find(&program, Some(&program), "1").unwrap();
        let way = Transport::Command("echo no such host >&2; exit 255 # {agent}".into());
        let message = found.copy(&way, &AtomicBool::new(false)).unwrap_err().to_string();
        assert!(message.contains("no such host"), "{message}");
    }
}
