//! Sessions with a service: files over FTP, keys and pictures over VNC.
//!
//! A session is what one user has: it does one thing after another and waits in between. The number of sessions is the
//! number of VMs of a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sample::Sample;
use crate::trial::Limits;

/// Whole files between a session and an FTP server (RFC 959), one after another over passive connections (RFC 2428).
/// An operation is one file: from the request for its connection to the server's word that the transfer is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FtpLoad {
    /// The name with which a session logs in.
    pub user: String,
    /// The file with the password, on the machine that runs the study.
    pub password_file: String,
    /// Which way files go.
    pub direction: FtpDirection,
    /// Size of each file, in bytes.
    pub file_bytes: u64,
    /// Files of a session, which it transfers in turn.
    pub files: u32,
    /// Mean pause of a session after each file, in nanoseconds; 0: none.
    pub pause_ns: u64,
    /// The server's port.
    pub port: u16,
}

/// Which way files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FtpDirection {
    /// From the session to the server: writes.
    Upload,
    /// From the server to the session: reads. Each session uploads its files before the trial.
    Download,
}

/// A viewer of a desktop over VNC (RFB, RFC 6143): it types, moves the pointer and asks for what changes. An operation is
/// one key: from its press to the first picture that shows a change in the area of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct VncLoad {
    /// The file with the password, on the machine that runs the study.
    pub password_file: String,
    /// Mean pause of a viewer after each picture of a key, in nanoseconds.
    pub pause_ns: u64,
    /// Movements of the pointer per second.
    pub pointer_per_s: u32,
    /// Where keys change the picture; `None`: anywhere.
    pub keys_at: Option<ScreenArea>,
    /// The fields into which that area is divided: a key changes the one whose number is the key's ASCII code modulo
    /// their number. `None`: any key changes all of it.
    #[serde(default)]
    pub fields: Option<ScreenFields>,
    /// The server's port.
    pub port: u16,
}

/// A part of a screen, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenArea {
    /// Width.
    pub width: u16,
    /// Height.
    pub height: u16,
    /// Distance from the left edge.
    pub left: u16,
    /// Distance from the upper edge.
    pub top: u16,
}

impl ScreenArea {
    /// Reads X's form of a geometry: `640x240+0+240` is a width and a height, then the distances from the left and the
    /// upper edge. `None` if the text is none, or names no pixel.
    pub fn parse(text: &str) -> Option<Self> {
        let (size, place) = text.split_once('+')?;
        let (width, height) = size.split_once('x')?;
        let (left, top) = place.split_once('+')?;
        let number = |text: &str| {
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        let area = Self {
            width: number(width)?,
            height: number(height)?,
            left: number(left)?,
            top: number(top)?,
        };
        (area.width > 0 && area.height > 0).then_some(area)
    }

    /// Whether it has no pixel.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Whether both have a pixel in common.
    pub fn meets(&self, other: &ScreenArea) -> bool {
        let apart = |from: u16, length: u16, other_from: u16, other_length: u16| {
            u32::from(from) + u32::from(length) <= u32::from(other_from)
                || u32::from(other_from) + u32::from(other_length) <= u32::from(from)
        };
        !self.is_empty()
            && !other.is_empty()
            && !apart(self.left, self.width, other.left, other.width)
            && !apart(self.top, self.height, other.top, other.height)
    }
}

impl std::fmt::Display for ScreenArea {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ScreenArea { width, height, left, top } = self;
        write!(f, "{width}x{height}+{left}+{top}")
    }
}

/// Equal fields of an area, numbered from its upper left, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenFields {
    /// Fields of a row, at least 1.
    pub columns: u8,
    /// Rows, at least 1.
    pub rows: u8,
}

impl ScreenFields {
    /// Reads `8x4`, columns and rows; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let (columns, rows) = text.split_once('x')?;
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        Some(Self { columns: number(columns)?, rows: number(rows)? })
    }

    /// Number of fields.
    pub fn count(self) -> u32 {
        u32::from(self.columns) * u32::from(self.rows)
    }

    /// The field of an area that a key changes.
    pub fn of_key(self, key: u8, area: ScreenArea) -> ScreenArea {
        let (columns, rows) = (u16::from(self.columns.max(1)), u16::from(self.rows.max(1)));
        let field = u16::from(key) % (columns * rows);
        let (width, height) = (area.width / columns, area.height / rows);
        ScreenArea {
            width,
            height,
            left: area.left.saturating_add(field % columns * width),
            top: area.top.saturating_add(field / columns * height),
        }
    }
}

impl std::fmt::Display for ScreenFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

/// What the sessions of a trial do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "service")]
pub enum ServiceLoad {
    /// Files over FTP.
    Ftp(FtpLoad),
    /// Keys and pictures over VNC.
    Vnc(VncLoad),
}

impl ServiceLoad {
    /// Mean pause of a session after each operation, in nanoseconds.
    pub fn pause_ns(&self) -> u64 {
        match self {
            ServiceLoad::Ftp(ftp) => ftp.pause_ns,
            ServiceLoad::Vnc(vnc) => vnc.pause_ns,
        }
    }

    /// The file with the password.
    pub fn password_file(&self) -> &str {
        match self {
            ServiceLoad::Ftp(ftp) => &ftp.password_file,
            ServiceLoad::Vnc(vnc) => &vnc.password_file,
        }
    }

    /// The server's port.
    pub fn port(&self) -> u16 {
        match self {
            ServiceLoad::Ftp(ftp) => ftp.port,
            ServiceLoad::Vnc(vnc) => vnc.port,
        }
    }
}

/// The sessions of one thread, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTrial {
    /// Number, over all threads, of this thread's first session: determines its pauses.
    pub first_session: u32,
    /// Number of sessions.
    pub sessions: u32,
    /// Mean pause of a session after each operation. Each pause is drawn between half of it and one and a half times it,
    /// so that sessions do not keep step; the first, before the first operation, from none to all of it.
    pub pause_ns: u64,
    /// The seed of pauses.
    pub seed: u64,
    /// Load before the window opens.
    pub ramp_ns: u64,
    /// Length of the window.
    pub duration_ns: u64,
    /// Length of an interval row.
    pub interval_ns: u64,
    /// When to give up.
    pub limits: Limits,
}

impl Sample {
    /// Updates of the viewers' screens a second; `None` for trials without viewers.
    pub fn updates_per_s(&self) -> Option<f64> {
        self.updates.map(|updates| updates as f64 * 1e9 / self.window_ns.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_is_read_as_x_writes_it_and_nothing_else_is() {
        let area = ScreenArea { width: 640, height: 240, left: 0, top: 240 };
        assert_eq!(ScreenArea::parse("640x240+0+240"), Some(area));
        assert_eq!(area.to_string(), "640x240+0+240");
        for wrong in ["", "640x240", "640x240+0", "0x1+0+0", "1x0+0+0", "-1x2+0+0", "+1x2+0+0"] {
            assert_eq!(ScreenArea::parse(wrong), None, "{wrong}");
        }
        assert_eq!(ScreenArea::parse("640x240+0+70000"), None);
    }

    #[test]
    fn a_key_has_a_field_of_its_own() {
        let fields = ScreenFields::parse("8x4").unwrap();
        assert_eq!(fields.to_string(), "8x4");
        let area = ScreenArea::parse("624x260+0+156").unwrap();
        // 'a' is 97, which is 1 modulo 32; 'z' is 26.
        assert_eq!(fields.of_key(b'a', area).to_string(), "78x65+78+156");
        assert_eq!(fields.of_key(b'z', area).to_string(), "78x65+156+351");
        let all: Vec<ScreenArea> = (b'a'..=b'z').map(|key| fields.of_key(key, area)).collect();
        for (index, one) in all.iter().enumerate() {
            assert!(one.meets(&area) && all[..index].iter().all(|other| !one.meets(other)));
        }
        for wrong in ["", "8", "0x4", "8x0", "8x", "300x4"] {
            assert_eq!(ScreenFields::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn areas_meet_where_they_share_a_pixel() {
        let area = |text| ScreenArea::parse(text).unwrap();
        let lower = area("640x240+0+240");
        assert!(lower.meets(&area("8x16+0+240")) && lower.meets(&area("1x1+639+479")));
        assert!(!lower.meets(&area("640x240+0+0")) && !lower.meets(&area("9x9+640+240")));
        assert!(area("65535x65535+65535+65535").meets(&area("1x1+65535+65535")));
        assert!(!lower.meets(&ScreenArea { width: 0, height: 9, left: 1, top: 250 }));
    }
}
