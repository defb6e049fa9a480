//! What a host with services has in addition to other hosts: an FTP server, a VNC server, and the terminal that is its
//! desktop. It is a layer of its own, so that other hosts do not grow.

use std::fs;

use super::closure::Closure;
use super::cpio::Archive;
use crate::error::{LabError, at};

/// Packages with its programs. Xvnc has a font of its own, so there is no package with fonts.
pub(super) const PACKAGES: [&str; 5] =
    ["vsftpd", "libpam-modules", "tigervnc-standalone-server", "tigervnc-tools", "xterm"];

/// Its programs; Xvnc starts xkbcomp, and vsftpd asks PAM, which loads its modules by name.
const PROGRAMS: [&str; 6] = [
    "usr/sbin/vsftpd",
    "lib/x86_64-linux-gnu/security/pam_unix.so",
    "usr/bin/Xtigervnc",
    "usr/bin/tigervncpasswd",
    "usr/bin/xkbcomp",
    "usr/bin/xterm",
];

/// Where the descriptions of keyboards are.
const KEYBOARD: &str = "usr/share/X11/xkb";
/// Those of them of which Xvnc's keyboard is made.
const KEYBOARD_FILES: [&str; 30] = [
    "rules/evdev",
    "geometry/pc",
    "keycodes/evdev",
    "keycodes/aliases",
    "types/basic",
    "types/complete",
    "types/extra",
    "types/iso9995",
    "types/level5",
    "types/mousekeys",
    "types/numpad",
    "types/pc",
    "compat/accessx",
    "compat/basic",
    "compat/caps",
    "compat/complete",
    "compat/iso9995",
    "compat/ledcaps",
    "compat/lednum",
    "compat/ledscroll",
    "compat/level5",
    "compat/misc",
    "compat/mousekeys",
    "compat/xfree86",
    "symbols/pc",
    "symbols/us",
    "symbols/inet",
    "symbols/srvr_ctrl",
    "symbols/keypad",
    "symbols/altwin",
];

/// Our own files. PAM compares passwords with those of the guest and does nothing else.
const OURS: [(&str, u32, &str); 4] = [
    ("services.sh", 0o644, include_str!("services.sh")),
    ("desktop.sh", 0o644, include_str!("desktop.sh")),
    ("etc/vsftpd.conf", 0o644, include_str!("vsftpd.conf")),
    ("etc/pam.d/vsftpd", 0o644, "auth required pam_unix.so\naccount required pam_unix.so\n"),
];

/// Everything that changes what is made from the same packages.
pub(super) fn recipe() -> String {
    format!("{PACKAGES:?} {PROGRAMS:?} {KEYBOARD} {KEYBOARD_FILES:?} {OURS:?}")
}

/// The archive; `host` has copied what every host has.
///
/// # Errors
/// The name of a file or library that is in none of the packages.
pub(super) fn layer(host: &mut Closure<'_>) -> Result<Vec<u8>, LabError> {
    let mut archive = Archive::default();
    for (path, mode, contents) in OURS {
        archive.file(path, mode, contents.as_bytes());
    }
    for name in KEYBOARD_FILES {
        let path = format!("{KEYBOARD}/{name}");
        let from = host.root.join(&path);
        archive.file(&path, 0o644, &fs::read(&from).map_err(at(&from))?);
    }
    for program in PROGRAMS {
        host.copy(program, &mut archive)?;
    }
    Ok(archive.finish())
}
