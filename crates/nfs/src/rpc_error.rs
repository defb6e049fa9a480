//! Calls that a server's RPC layer refuses (RFC 5531 section 9).

/// A call that the server's RPC layer refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The server speaks another version of RPC.
    #[error("the server speaks RPC versions {low} to {high}, version 2 is needed")]
    RpcMismatch {
        /// Lowest version.
        low: u32,
        /// Highest version.
        high: u32,
    },
    /// The credentials were refused.
    #[error(
        "the server refuses the credentials: {0}; check the export's sec= option (sys is needed)"
    )]
    Auth(AuthStatus),
    /// The server does not offer the program.
    #[error("the server does not offer this service on this port; check that NFS version 3 is on")]
    ProgramUnavailable,
    /// The server offers other versions of the program.
    #[error(
        "the server offers versions {low} to {high} of this service; switch NFS version 3 on \
         (Linux: vers3=y in /etc/nfs.conf)"
    )]
    ProgramMismatch {
        /// Lowest version.
        low: u32,
        /// Highest version.
        high: u32,
    },
    /// The server does not offer the procedure.
    #[error("the server does not know this procedure")]
    ProcedureUnavailable,
    /// The server could not read the call.
    #[error(
        "the server could not read the call's arguments; check that a proxy does not alter them"
    )]
    GarbageArguments,
    /// The server is out of memory or has a similar problem.
    #[error("the server's RPC layer failed (out of memory?); see the server's log")]
    System,
}

impl RpcError {
    /// The closest `errno` of the operating system.
    #[must_use]
    pub fn errno(self) -> i32 {
        match self {
            // EACCES
            Self::Auth(_) => 13,
            // EREMOTEIO
            Self::System => 121,
            // EPROTONOSUPPORT
            _ => 93,
        }
    }
}

/// Why credentials were refused (RFC 5531 section 9, `auth_stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthStatus(pub u32);

impl std::fmt::Display for AuthStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = match self.0 {
            1 => "bad credential",
            2 => "rejected credential",
            3 => "bad verifier",
            4 => "rejected verifier",
            5 => "too weak, or not from a privileged port (export option insecure)",
            6 => "bogus response verifier",
            7 => "reason unknown",
            13 => "Kerberos: no credential for the user",
            14 => "Kerberos: problem with the context",
            other => return write!(f, "auth_stat {other}"),
        };
        f.write_str(words)
    }
}
