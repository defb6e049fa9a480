//! Reads the `services` of a host.

use stormeter_yaml::{Diagnostics, Keys, Node, Place, Section, Value};

use super::part::{needed, open};
use super::{keys, value};
use crate::services::{Ftp, Services, Vnc};

/// The seed of a desktop that does not name one.
const SEED: u32 = 1;

/// Reads the services of `host`; `reached`: whether it has networks.
pub(super) fn services(
    node: &Node,
    host: &str,
    reached: bool,
    diagnostics: &mut Diagnostics,
) -> Services {
    let title = format!("the services of {host}");
    let Some(section) = open(node, &title, &keys::SERVICES, diagnostics) else {
        return Services::default();
    };
    if matches!(&node.value, Value::Map(pairs) if pairs.is_empty()) {
        let example = keys::SERVICES.example("ftp");
        diagnostics.error_at(node.place, format!("{title} are none; write ftp: {example}"));
    } else if !reached {
        diagnostics.error_at(
            node.place,
            format!("{host} has services and no networks, so no guest reaches them; write networks: [servers]"),
        );
    }
    Services {
        ftp: section.get("ftp").and_then(|node| ftp(node, host, diagnostics)),
        vnc: section.get("vnc").and_then(|node| vnc(node, host, diagnostics)),
    }
}

fn ftp(node: &Node, host: &str, diagnostics: &mut Diagnostics) -> Option<Ftp> {
    let title = format!("the FTP server of {host}");
    let section = open(node, &title, &keys::FTP, diagnostics)?;
    let file = password_file(&section, &title, node.place, &keys::FTP, diagnostics)?;
    Some(Ftp { password_file: file.into() })
}

fn vnc(node: &Node, host: &str, diagnostics: &mut Diagnostics) -> Option<Vnc> {
    let title = format!("the VNC server of {host}");
    let section = open(node, &title, &keys::VNC, diagnostics)?;
    let seed = value::number(&section, "seed", 0, u32::MAX, diagnostics).unwrap_or(SEED);
    let file = password_file(&section, &title, node.place, &keys::VNC, diagnostics)?;
    Some(Vnc { password_file: file.into(), seed })
}

fn password_file<'n>(
    section: &Section<'n>,
    title: &str,
    place: Place,
    keys: &'static Keys,
    diagnostics: &mut Diagnostics,
) -> Option<&'n str> {
    needed(section, title, place, "password-file", keys, diagnostics)?;
    section.text("password-file", diagnostics)
}
