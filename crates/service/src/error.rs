//! Why a session with a service cannot be opened, or was lost.

use stormeter_disk::DeviceError;
use stormeter_trial::ScreenArea;

/// No session with a service can be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// A session could not be opened or made ready.
    #[error("session {session}: {trouble}")]
    Session {
        /// Its number, counted from 0.
        session: u32,
        /// The reason.
        trouble: Trouble,
    },
    /// The operating system refused what all sessions need.
    #[error("the sockets of the sessions cannot be watched: {0}")]
    Poll(String),
    /// It was cancelled.
    #[error("stopped on request")]
    Cancelled,
}

/// What is wrong with a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The connection failed.
    #[error("{doing}: {reason}")]
    Connection {
        /// What was attempted.
        doing: &'static str,
        /// The operating system's error.
        error: DeviceError,
        /// The same in its words.
        reason: String,
    },
    /// The server closed the connection.
    #[error("the server closed the connection {doing}")]
    Closed {
        /// When.
        doing: &'static str,
    },
    /// The server was silent for too long.
    #[error("the server was silent for {seconds} s {doing}")]
    Silent {
        /// For how long.
        seconds: u64,
        /// When.
        doing: &'static str,
    },
    /// An FTP server answered with an error.
    #[error("the server refused {doing}: {code} {said}")]
    Reply {
        /// What.
        doing: &'static str,
        /// The code of its reply (RFC 959, section 4.2).
        code: u16,
        /// The text of its reply.
        said: String,
    },
    /// The password or the user is not the server's.
    #[error(
        "the server refused the login{}: check the user and the password file",
        said.as_ref().map(|said| format!(" ({said})")).unwrap_or_default()
    )]
    Login {
        /// The server's words, if it gave any.
        said: Option<String>,
    },
    /// A VNC server refused the session before any password.
    #[error("the server refused the session: {said}")]
    Refused {
        /// The server's words.
        said: String,
    },
    /// A VNC server offers no way of proving a password that this version knows.
    #[error(
        "the server offers only security types {offered:?}; let it offer VncAuth (2), or None (1)"
    )]
    Security {
        /// Their numbers (RFC 6143, section 7.1.2, and the registry of IANA).
        offered: Vec<u8>,
    },
    /// The area in which keys are to change the picture is not on the screen.
    #[error(
        "keys are to change the picture at {keys}, and the screen is {whole}: give another keys-at"
    )]
    Area {
        /// The area.
        keys: ScreenArea,
        /// The screen.
        whole: ScreenArea,
    },
    /// The other end does not speak the protocol.
    #[error("this is no {protocol} server, or a broken one: {what}")]
    Protocol {
        /// FTP or VNC.
        protocol: &'static str,
        /// What was found.
        what: String,
    },
    /// A file arrived with another length than it was stored with.
    #[error("a file of {stored_bytes} bytes arrived with {arrived_bytes}")]
    Length {
        /// Its length.
        stored_bytes: u64,
        /// Bytes that arrived.
        arrived_bytes: u64,
    },
}

impl Trouble {
    /// The error of a connection.
    pub(crate) fn connection(doing: &'static str, error: &std::io::Error) -> Self {
        let number = error.raw_os_error().unwrap_or(DeviceError::IO.0);
        let reason = match error.raw_os_error() {
            Some(number) => DeviceError(number).to_string(),
            None => error.to_string(),
        };
        Trouble::Connection { doing, error: DeviceError(number), reason }
    }

    /// The closest error of the operating system.
    pub(crate) fn device_error(&self) -> DeviceError {
        const EACCES: DeviceError = DeviceError(13);
        const EPROTO: DeviceError = DeviceError(71);
        const ECONNRESET: DeviceError = DeviceError(104);
        const ETIMEDOUT: DeviceError = DeviceError(110);
        match self {
            Trouble::Connection { error, .. } => *error,
            Trouble::Closed { .. } => ECONNRESET,
            Trouble::Silent { .. } => ETIMEDOUT,
            Trouble::Login { .. } | Trouble::Refused { .. } | Trouble::Security { .. } => EACCES,
            Trouble::Reply { .. } | Trouble::Length { .. } | Trouble::Area { .. } => {
                DeviceError::IO
            }
            Trouble::Protocol { .. } => EPROTO,
        }
    }
}
