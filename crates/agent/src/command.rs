//! How a host is reached: the command that starts an agent there and carries its bytes.
//!
//! There is no daemon and no port: `ssh`, `kubectl exec -i`, `podman exec -i` and whatever else connects
//! two pipes will do.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use stormeter_study::Reach;

/// The user's own way to call ssh, such as `ssh -F config -i key`.
const SSH_VARIABLE: &str = "STORMETER_SSH";
/// Stands in a command for the agent: it is replaced by what finds or receives the program there.
const PLACEHOLDER: &str = "{agent}";

/// A way to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// This machine: the program starts itself again.
    Local,
    /// By ssh.
    Ssh {
        /// `host` or `user@host`.
        destination: String,
        /// The port, if it is not ssh's own.
        port: Option<u16>,
    },
    /// By a command of the user's, run by the shell. It ends in `stormeter agent` over there, or has
    /// `{agent}` where that should stand.
    Command(String),
    /// A guest of a lab on this machine.
    Guest(Guest),
}

/// A guest of a lab whose agent can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// Its name: `lab:NAME` in studies.
    pub name: String,
    /// This machine's end of its port.
    pub socket: PathBuf,
    /// What runs it, such as `tcg (there is no /dev/kvm)`.
    pub accelerator: String,
    /// What leads to its [`GUEST_PORT`], where it has a network.
    pub address: Option<SocketAddr>,
}

/// The port at which clients of transfers are let in in a guest of a lab.
pub const GUEST_PORT: u16 = 7878;

/// Where guests of a lab have their disks by name.
const GUEST_DISKS: &str = "/dev/lab/";

/// A way that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// A guest, and no lab.
    #[error(
        "lab:{0} is a guest of the lab, and no lab is up here; start it with `stormeter lab up`, say \
         where it is, or name another way to the host"
    )]
    NoLab(String),
    /// A guest that the lab has not.
    #[error("the lab has no guest {name} with an agent; it has {}", .guests.join(", "))]
    NoGuest {
        /// Its name.
        name: String,
        /// Those that there are.
        guests: Vec<String>,
    },
}

impl Transport {
    /// Whether a device at the far end is a lab's own, which was made to be written: nobody has to allow it.
    /// In a guest there is no other device of that name, and none of this machine.
    pub(crate) fn has_lab_disk(&self, url: &str) -> bool {
        let name = url.strip_prefix(GUEST_DISKS);
        matches!(self, Self::Guest(_)) && name.is_some_and(|name| !name.contains('/'))
    }

    /// The way to a host; `guests` are those of the lab that is up.
    ///
    /// # Errors
    /// It leads to a guest that is not there.
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

    /// Whether the program can be sent to the host by the same way.
    pub(crate) fn can_copy(&self) -> bool {
        match self {
            Self::Local | Self::Guest(_) => false,
            Self::Ssh { .. } => true,
            Self::Command(text) => text.contains(PLACEHOLDER),
        }
    }

    /// What starts an agent. `program` is this machine's; `script` is run by a shell over there, where there
    /// is a choice.
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

    /// What runs a script by a shell over there; a command without the placeholder is run as it is.
    pub(crate) fn shell(&self, script: &str) -> Command {
        match self {
            Self::Local | Self::Guest(_) => shell_here(script),
            Self::Ssh { destination, port } => {
                let mut command = match std::env::var(SSH_VARIABLE) {
                    // "$@": the rest of the arguments, whatever they are made of.
                    Ok(own) if !own.trim().is_empty() => {
                        let mut command = shell_here(&format!("exec {own} \"$@\""));
                        command.arg("ssh");
                        command
                    }
                    _ => Command::new("ssh"),
                };
                // Nobody is there to type a password; a host that is gone is noticed; no terminal, which
                // would change bytes.
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
                // The login shell over there may be any; ours is asked for by name.
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

/// As one word of a shell.
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
                "{way:?}: somebody's disk may be called so"
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
