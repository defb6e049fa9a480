//! The formats that are read, recognised by content.

use crate::error::ImportError;
use crate::run::Imported;
use crate::{
    diskspd, elbencho, fio, hcibench, hdr, iometer, iozone, iperf3, kbench, kubestr, vdbench,
};

/// A format.
struct Format {
    name: &'static str,
    is: fn(&str) -> bool,
    read: fn(&str) -> Result<Imported, ImportError>,
}

/// All formats, the most particular first: what kubestr prints contains JSON of fio.
const FORMATS: [Format; 10] = [
    Format { name: kubestr::NAME, is: kubestr::is, read: kubestr::read },
    Format { name: iperf3::NAME, is: iperf3::is, read: iperf3::read },
    Format { name: elbencho::NAME, is: elbencho::is, read: elbencho::read },
    Format { name: diskspd::NAME, is: diskspd::is, read: diskspd::read },
    Format { name: hdr::NAME, is: hdr::is, read: hdr::read },
    Format { name: vdbench::NAME, is: vdbench::is, read: vdbench::read },
    Format { name: iometer::NAME, is: iometer::is, read: iometer::read },
    Format { name: iozone::NAME, is: iozone::is, read: iozone::read },
    Format { name: kbench::NAME, is: kbench::is, read: kbench::read },
    Format { name: hcibench::NAME, is: hcibench::is, read: hcibench::read },
];

/// Reads results in any format that is known; `None` for other text.
///
/// # Errors
/// The text is of a format that is known and cannot be read to its end: what is wrong, and where.
pub fn read(text: &str) -> Option<Result<Imported, ImportError>> {
    if let Some(format) = FORMATS.iter().find(|format| (format.is)(text)) {
        return Some((format.read)(text));
    }
    fio::read(text)
}

/// The names of all formats.
pub fn formats() -> impl Iterator<Item = &'static str> {
    let others = FORMATS.iter().map(|format| format.name);
    fio::NAMES.iter().copied().chain([fio::LOG_NAME]).chain(others)
}
