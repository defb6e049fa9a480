//! How a host is reached.

use serde::{Deserialize, Serialize};

/// How a host is reached. In files it is text: `local`, `ssh:user@host:port`, `command: …`, `lab:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Reach {
    /// This machine.
    Local,
    /// By ssh.
    Ssh {
        /// `user@host` or `host`, without brackets around an address of IPv6.
        destination: String,
        /// The port; `None`: ssh's default.
        port: Option<u16>,
    },
    /// By a shell command.
    Command(String),
    /// The guest with this name in the lab.
    Lab(String),
}

/// Why a text does not say how a host is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReachError {
    /// It starts with none of the transports.
    #[error("it is none of {}", Reach::FORMS.map(|(_, form)| form).join(", "))]
    Unknown,
    /// It starts with a transport and does not say where.
    #[error("it does not say where; write {form}")]
    Nowhere {
        /// The syntax of that transport.
        form: &'static str,
    },
}

impl Reach {
    /// The transports: the prefix, and the syntax.
    pub const FORMS: [(&str, &str); 4] = [
        ("local", "local"),
        ("ssh", "ssh:user@host or ssh:user@host:port"),
        ("command", "\"command: kubectl exec -i pod -- stormeter agent\""),
        ("lab", "lab:NAME"),
    ];
}

impl std::str::FromStr for Reach {
    type Err = ReachError;

    fn from_str(text: &str) -> Result<Self, ReachError> {
        let text = text.trim();
        if text == "local" {
            return Ok(Self::Local);
        }
        let (word, rest) = text.split_once(':').ok_or(ReachError::Unknown)?;
        let rest = rest.trim();
        let (_, form) = Self::FORMS
            .into_iter()
            .find(|(way, _)| *way == word && *way != "local")
            .ok_or(ReachError::Unknown)?;
        // Anything that starts with a dash would be an option of ssh.
        if rest.is_empty() || rest.starts_with('-') || text.contains(char::is_control) {
            return Err(ReachError::Nowhere { form });
        }
        match word {
            "ssh" => ssh(rest).ok_or(ReachError::Nowhere { form }),
            "command" => Ok(Self::Command(rest.into())),
            _ => Ok(Self::Lab(rest.into())),
        }
    }
}

fn ssh(rest: &str) -> Option<Reach> {
    // An IPv6 address contains colons and is in brackets if a port follows.
    let (destination, port) = match rest.rsplit_once(':') {
        Some((before, port)) if !before.contains(':') || before.ends_with(']') => {
            (before.replace(['[', ']'], ""), Some(port.parse().ok()?))
        }
        _ => (rest.replace(['[', ']'], ""), None),
    };
    let is_one = !destination.is_empty() && !destination.contains(char::is_whitespace);
    is_one.then_some(Reach::Ssh { destination, port })
}

impl std::fmt::Display for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Ssh { destination, port: None } => write!(f, "ssh:{destination}"),
            Self::Ssh { destination, port: Some(port) } if destination.contains(':') => {
                let (user, host) = destination
                    .split_once('@')
                    .map_or(("", destination.as_str()), |(user, host)| (user, host));
                let at = if user.is_empty() { "" } else { "@" };
                write!(f, "ssh:{user}{at}[{host}]:{port}")
            }
            Self::Ssh { destination, port: Some(port) } => write!(f, "ssh:{destination}:{port}"),
            Self::Command(command) => write!(f, "command: {command}"),
            Self::Lab(name) => write!(f, "lab:{name}"),
        }
    }
}

stormeter_units::by_text!(Reach, ReachError);

#[cfg(test)]
mod tests {
    use super::*;

    fn by_ssh(destination: &str, port: Option<u16>) -> Reach {
        Reach::Ssh { destination: destination.into(), port }
    }

    #[test]
    fn the_ways_are_read_and_written_alike() {
        for (text, expected) in [
            ("local", Reach::Local),
            ("ssh:root@esx1", by_ssh("root@esx1", None)),
            ("ssh:root@esx1:2222", by_ssh("root@esx1", Some(2222))),
            ("ssh:root@[fe80::1]:2222", by_ssh("root@fe80::1", Some(2222))),
            ("ssh:[fe80::1]:2222", by_ssh("fe80::1", Some(2222))),
            ("ssh:fe80::1", by_ssh("fe80::1", None)),
            ("command: x -i y", Reach::Command("x -i y".into())),
            ("lab:vm1", Reach::Lab("vm1".into())),
        ] {
            let reach: Reach = text.parse().unwrap();
            assert_eq!(reach, expected);
            assert_eq!(reach.to_string(), text);
        }
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for text in ["", "esx1", "http://x", "local:x"] {
            assert_eq!(text.parse::<Reach>(), Err(ReachError::Unknown), "{text}");
        }
        for text in ["ssh:", "ssh:-oProxyCommand=x", "ssh:a b", "ssh:a:port", "command:", "lab: "] {
            let error = text.parse::<Reach>().unwrap_err();
            assert!(matches!(error, ReachError::Nowhere { .. }), "{text}");
        }
    }
}
