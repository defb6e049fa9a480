//! What a host serves to other guests besides storage: FTP and a desktop over VNC, as the servers of an office do.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The services of a host; each listens on its usual port at all addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Services {
    /// Files, by FTP (RFC 959).
    pub ftp: Option<Ftp>,
    /// A desktop, by VNC (RFC 6143).
    pub vnc: Option<Vnc>,
}

/// An FTP server: vsftpd, with one user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ftp {
    /// A file whose only line is the user's password.
    pub password_file: PathBuf,
}

/// A VNC server: TigerVNC, with a desktop that changes by itself and at every key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vnc {
    /// A file whose only line is the password, of which the protocol uses the first eight letters.
    pub password_file: PathBuf,
    /// What the desktop shows follows from it.
    pub seed: u32,
}

impl Services {
    /// The user of the FTP server.
    pub const FTP_USER: &str = "stormeter";
    /// Port of the FTP server's control connections.
    pub const FTP_PORT: u16 = 21;
    /// Port of the VNC server.
    pub const VNC_PORT: u16 = 5900;

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ftp.is_none() && self.vnc.is_none()
    }

    /// Names and ports.
    pub fn ports(&self) -> impl Iterator<Item = (&'static str, u16)> {
        let ftp = self.ftp.as_ref().map(|_| ("ftp", Self::FTP_PORT));
        ftp.into_iter().chain(self.vnc.as_ref().map(|_| ("vnc", Self::VNC_PORT)))
    }

    /// The files with passwords.
    pub fn password_files(&self) -> impl Iterator<Item = &Path> {
        let ftp = self.ftp.as_ref().map(|ftp| ftp.password_file.as_path());
        ftp.into_iter().chain(self.vnc.as_ref().map(|vnc| vnc.password_file.as_path()))
    }
}
