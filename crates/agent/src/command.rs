//! How a host is reached: the command that starts an agent there and carries its bytes.
//!
//! There is no daemon and no port: `ssh`, `kubectl exec -i`, `podman exec -i` and anything else that
//! connects two pipes will do.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use stormeter_study::Reach;

/// The user's own ssh command, such as `ssh -F config -i key`.
const SSH_VARIABLE: &str = "STORMETER_SSH";
/// The placeholder for the agent in a command: replaced by what finds or receives the program
/// there.
const PLACEHOLDER: &str = "{agent}";

/// How a host is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// This machine: the program starts itself again.
    Local,
    /// By ssh.
    Ssh {
        /// `host` or `user@host`.
        destination: String,
        /// The port, if it differs from ssh's default.
        port: Option<u16>,
    },
    /// By the user's own command, run by the shell. It must end in `stormeter agent` on the host, or
    /// contain `{agent}` in its place.
    Command(String),
    /// A guest of a lab on this machine.
    Guest(Guest),
}

/// A lab guest whose agent can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// Its name: `lab:NAME` in studies.
    pub name: String,
    /// This machine's end of its serial port.
    pub socket: PathBuf,
    /// Its accelerator, such as `tcg (there is no /dev/kvm)`.
    pub accelerator: String,
    /// The address of its [`GUEST_PORT`], if it has a network.
    pub address: Option<SocketAddr>,
}

/// The port on which lab guests accept clients of transfers.
pub const GUEST_PORT: u16 = 7878;

/// The directory of a lab guest's disks, by name.
const GUEST_DISKS: &str = "/dev/lab/";

/// Why a host cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The host is a lab guest, but no lab is up.
    #[error(
        "lab:{0} is a guest of the lab, and no lab is up here; start it with `stormeter lab up`, say \
         where it is, or name another way to the host"
    )]
    NoLab(String),
    /// The lab has no such guest.
    #[error("the lab has no guest {name} with an agent; it has {}", .guests.join(", "))]
    NoGuest {
        /// The name that was given.
        name: String,
        /// The lab's guests.
        guests: Vec<String>,
    },
}

impl Transport {
    /// Whether a device on the host belongs to a lab and was created to be written, so that no permission is
    /// needed. In a guest no other device has such a name, and this machine has none.
    pub(crate) fn has_lab_disk(&self, url: &str) -> bool {
        let name = url.strip_prefix(GUEST_DISKS);
        matches!(self, Self::Guest(_)) && name.is_some_and(|name| !name.contains('/'))
    }

    /// The transport to a host; `guests` are those of the lab that is up.
    ///
    /// # Errors
    /// It refers to a guest that does not exist.
    pub fn of(reach: &Reach, guests: &[Guest]) -> Result<Self, TransportError> {
        Ok(match reach {
            Reach::Local => Self::Local,
            Reach::Ssh { destination, port } => {
                Self::Ssh { destination: destination.clone(), port: *port }
            }
            Reach::Command(command) => Self::Command(command.clone()),
            Reach::Lab(name) if guests.is_empty() => {
                return Err(TransportError::NoLab(name.clone()));
            }
            Reach::Lab(name) => {
                let guest = guests.iter().find(|guest| guest.name == *name).ok_or_else(|| {
                    let guests = guests.iter().map(|guest| guest.name.clone()).collect();
                    TransportError::NoGuest { name: name.clone(), guests }
                })?;
                Self::Guest(guest.clone())
            }
        })
    }

    /// Whether the program can be sent to the host over the same transport.
    pub(crate) fn can_copy(&self) -> bool {
        match self {
            Self::Local | Self::Guest(_) => false,
            Self::Ssh { .. } => true,
            Self::Command(text) => text.contains(PLACEHOLDER),
        }
    }

    /// The command that starts an agent. `program` is this machine's program; `script` is run by a shell on
    /// the host where that is possible.
    pub(crate) fn start(&self, program: &Path, script: &str) -> Command {
        match self {
            // Guests are reached without a process.
            Self::Local | Self::Guest(_) => {
                let mut command = Command::new(program);
                command.arg("agent");
                command
            }
            Self::Ssh { .. } | Self::Command(_) => self.shell(script),
        }
    }

    /// The command that runs a script in a shell on the host; a command without the placeholder is
    /// run unchanged.
    pub(crate) fn shell(&self, script: &str) -> Command {
        match self {
            Self::Local | Self::Guest(_) => shell_here(script),
            Self::Ssh { destination, port } => {
                let mut command = match std::env::var(SSH_VARIABLE) {
                    // "$@": the remaining arguments, whatever they contain.
                    Ok(own) if !own.trim().is_empty() => {
                        let mut command = shell_here(&format!("exec {own} \"$@\""));
                        command.arg("ssh");
                        command
                    }
                    _ => Command::new("ssh"),
                };
                // No password prompt; a dead host is noticed; no terminal, which would change bytes.
                for option in [
                    "BatchMode=yes",
                    "ConnectTimeout=10",
                    "ServerAliveInterval=5",
                    "ServerAliveCountMax=3",
                ] {
                    command.args(["-o", option]);
                }
                command.arg("-T");
                if let Some(port) = port {
                    command.args(["-p", &port.to_string()]);
                }
                // The login shell on the host may be any shell; ours is requested by name.
                command.arg("--").arg(destination).arg(format!("exec sh -c {}", quoted(script)));
                command
            }
            Self::Command(text) => {
                let agent = format!("sh -c {}", quoted(script));
                shell_here(&text.replace(PLACEHOLDER, &agent))
            }
        }
    }
}

fn shell_here(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(OsString::from(script));
    command
}

/// Quotes a text as one word for a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(destination: &str, port: Option<u16>) -> Transport {
        Transport::Ssh { destination: destination.into(), port }
    }

    #[test]
    fn a_guest_is_one_of_a_lab_that_is_up() {
        let of = |guests: &[Guest], name: &str| Transport::of(&Reach::Lab(name.into()), guests);
        let message = of(&[], "vm3").unwrap_err().to_string();
        assert!(message.contains("lab:vm3") && message.contains("lab up"), "{message}");
        let guest = Guest {
            name: "vm1".into(),
            socket: "/lab/vm1".into(),
            accelerator: "".into(),
            address: None,
        };
        let guests = [guest.clone()];
        assert_eq!(of(&guests, "vm1").unwrap(), Transport::Guest(guest));
        let message = of(&guests, "vm3").unwrap_err().to_string();
        assert!(message.contains("vm3") && message.ends_with("it has vm1"), "{message}");
    }

    #[test]
    fn a_labs_own_disks_are_those_of_its_guests_and_nothing_else() {
        let guest = Transport::Guest(Guest {
            name: "vm1".into(),
            socket: "/lab/vm1".into(),
            accelerator: "".into(),
            address: None,
        });
        assert!(guest.has_lab_disk("/dev/lab/fc-fixed"));
        for other in ["/dev/vda", "/dev/lab", "/dev/lab/../vda", "/lab/nfs", "iscsi://10.0.0.1/t/0"]
        {
            assert!(!guest.has_lab_disk(other), "{other}");
        }
        for way in [Transport::Local, ssh("esx1", None), Transport::Command("x".into())] {
            assert!(
                !way.has_lab_disk("/dev/lab/fc-fixed"),
                "{way:?}: another disk may have this name"
            );
        }
    }

    #[test]
    fn the_agent_stands_where_the_command_wants_it() {
        let run = |text: &str| {
            let way = Transport::Command(text.into());
            let output = way.shell("echo 'it is' here").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(run("env A=1 {agent}"), "it is here\n");
        assert_eq!(run("echo as it is"), "as it is\n");
    }
}
