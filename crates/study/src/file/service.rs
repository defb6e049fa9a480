//! Reads what sessions with a service do: `ftp` and `vnc`.

use stormeter_trial::{FtpDirection, FtpLoad, ScreenArea, ScreenFields, VncLoad};
use stormeter_yaml::{Diagnostics, Node, Section};

use super::keys;

/// The well-known ports (RFC 959; RFC 6143, section 2).
const FTP_PORT: u16 = 21;
const VNC_PORT: u16 = 5900;
/// Whom the FTP server of a lab's host lets in.
const USER: &str = "stormeter";
/// The most files of a session.
const MOST_FILES: u32 = 1000;
const MOST_FILE_BYTES: u64 = 1 << 40;
/// A user who waits for nothing types faster than people do.
const VNC_PAUSE_NS: u64 = 300_000_000;
const POINTER_PER_S: u32 = 10;
const MOST_POINTER_PER_S: u32 = 1000;

/// What the sessions of an FTP workload do.
pub(super) fn ftp(node: &Node, diagnostics: &mut Diagnostics) -> Option<FtpLoad> {
    let section = Section::open(node, "ftp", &keys::FTP, diagnostics)?;
    let directions = [("upload", FtpDirection::Upload), ("download", FtpDirection::Download)];
    let direction = section.choice("direction", &directions, diagnostics);
    if !section.has("direction") {
        diagnostics.error_at(
            section.place,
            "ftp does not say which way files go; write direction: upload, or direction: download",
        );
    }
    let file_bytes = section.size("size", diagnostics).unwrap_or(1 << 20);
    if file_bytes == 0 || file_bytes > MOST_FILE_BYTES {
        diagnostics.error_at(
            section.place_of("size"),
            "a file has at least 1 byte and at most 1TiB; write size: 512KiB",
        );
    }
    let files = section.count("files", 1, diagnostics).unwrap_or(1);
    if files > MOST_FILES {
        diagnostics.error_at(
            section.place_of("files"),
            format!("a session transfers at most {MOST_FILES} files in turn; write files: 10"),
        );
    }
    let user = section.text("user", diagnostics).unwrap_or(USER);
    // Part of a command line of the protocol.
    if user.is_empty() || user.contains(|c: char| c.is_control() || c.is_whitespace()) {
        diagnostics.error_at(
            section.place_of("user"),
            format!("a user's name is one word; write user: {USER}"),
        );
    }
    let load = FtpLoad {
        user: user.into(),
        password_file: password_file(&section, "ftp.txt", diagnostics)?,
        direction: direction?,
        file_bytes,
        files,
        pause_ns: section.duration("pause", diagnostics).unwrap_or(0),
        port: port(&section, FTP_PORT, diagnostics),
    };
    Some(load)
}

/// What the viewers of a VNC workload do.
pub(super) fn vnc(node: &Node, diagnostics: &mut Diagnostics) -> Option<VncLoad> {
    let section = Section::open(node, "vnc", &keys::VNC, diagnostics)?;
    // Servers draw the pointer into what they send; without an area of keys that would be taken for a key's picture.
    let usual = if section.has("keys-at") { POINTER_PER_S } else { 0 };
    let pointer_per_s = section.count("pointer", 0, diagnostics).unwrap_or(usual);
    if pointer_per_s > 0 && !section.has("keys-at") {
        diagnostics.error_at(
            section.place_of("pointer"),
            "servers draw the pointer into the picture, which would be taken for that of a key; give the area of keys, \
             from which the pointer stays away: keys-at: 640x240+0+240",
        );
    }
    if pointer_per_s > MOST_POINTER_PER_S {
        diagnostics.error_at(
            section.place_of("pointer"),
            format!(
                "a pointer moves at most {MOST_POINTER_PER_S} times a second; write pointer: 10"
            ),
        );
    }
    let keys_at = section.text("keys-at", diagnostics).and_then(|text| {
        let area = ScreenArea::parse(text);
        if area.is_none() {
            diagnostics.error_at(
                section.place_of("keys-at"),
                format!(
                    "{text:?} is no area of a screen; write width, height, and the distances from the left and the \
                     upper edge: keys-at: 640x240+0+240"
                ),
            );
        }
        area
    });
    let fields = section.text("fields", diagnostics).and_then(|text| {
        let fields = ScreenFields::parse(text);
        if fields.is_none() {
            diagnostics.error_at(
                section.place_of("fields"),
                format!("{text:?} are no fields of an area; write columns and rows: fields: 8x4"),
            );
        }
        fields
    });
    if fields.is_some() && !section.has("keys-at") {
        diagnostics.error_at(
            section.place_of("fields"),
            "fields are those of the area of keys; give that too: keys-at: 640x240+0+240",
        );
    }
    if let (Some(area), Some(fields)) = (keys_at, fields)
        && fields.of_key(0, area).is_empty()
    {
        diagnostics.error_at(
            section.place_of("fields"),
            format!("an area of {area} has no pixel for each of {fields} fields; write fewer, or a larger keys-at"),
        );
    }
    let load = VncLoad {
        password_file: password_file(&section, "vnc.txt", diagnostics)?,
        pause_ns: section.duration("pause", diagnostics).unwrap_or(VNC_PAUSE_NS),
        pointer_per_s,
        keys_at,
        fields,
        port: port(&section, VNC_PORT, diagnostics),
    };
    Some(load)
}

fn password_file(
    section: &Section<'_>,
    example: &str,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let file = section.text("password-file", diagnostics).map(str::trim).unwrap_or_default();
    if file.is_empty() {
        diagnostics.error_at(
            section.place_of("password-file"),
            format!(
                "a session proves a password, which has no place in a study file; write it to a file and name that: \
                 password-file: {example}"
            ),
        );
        return None;
    }
    Some(file.into())
}

fn port(section: &Section<'_>, usual: u16, diagnostics: &mut Diagnostics) -> u16 {
    let Some(port) = section.count("port", 1, diagnostics) else { return usual };
    u16::try_from(port).unwrap_or_else(|_| {
        diagnostics.error_at(
            section.place_of("port"),
            format!("a port is a number from 1 to 65535; write port: {usual}"),
        );
        usual
    })
}
