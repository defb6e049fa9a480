//! Reads `routers`, and the names of the networks that join guests to them.

use stormeter_yaml::{Diagnostics, Section, Value};

use super::part::{Entry, link, needed, open};
use super::{keys, value};
use crate::model::{Role, Router};

/// Enough for the kernel and FRR's daemons, and the image twice while it is unpacked.
const LEAST_MEMORY_MIB: u64 = 128;
/// The default.
const MEMORY_BYTES: u64 = 160 << 20;

/// Reads a router; `networks` are the names of the lab's.
pub(super) fn router(
    entry: &Entry<'_>,
    networks: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<Router> {
    let title = format!("router {}", entry.name);
    let section = open(entry.node, &title, &keys::ROUTER, diagnostics)?;
    let memory_bytes = value::size(&section, "memory", LEAST_MEMORY_MIB, 65536, diagnostics)
        .unwrap_or(MEMORY_BYTES);
    let vcpus = value::number(&section, "vcpus", 1, 16, diagnostics).unwrap_or(1);
    needed(&section, &title, entry.place, "role", &keys::ROUTER, diagnostics);
    let role = section.choice("role", &Role::WORDS, diagnostics);
    let vpn = vpn(&section, &title, diagnostics);
    if vpn.is_some() && role.is_some_and(|role| role != Role::CustomerEdge) {
        diagnostics.error_at(
            section.place_of("vpn"),
            format!(
                "{title} is the provider's, which has the routes of every VPN; name the vpn of a customer-edge \
                 router, or of a network with guests"
            ),
        );
    }
    needed(&section, &title, entry.place, "networks", &keys::ROUTER, diagnostics);
    let networks = names(&section, &title, networks, diagnostics);
    Some(Router { name: entry.name.into(), memory_bytes, vcpus, role: role?, vpn, networks })
}

/// The name of a VPN.
pub(super) fn vpn(
    section: &Section<'_>,
    title: &str,
    diagnostics: &mut Diagnostics,
) -> Option<String> {
    let name = section.text("vpn", diagnostics)?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || name.len() > 24
        || !name.chars().all(plain)
    {
        diagnostics.error_at(
            section.place_of("vpn"),
            format!(
                "the vpn of {title} is a name of at most 24 small letters, digits and -, unlike {name:?}; write \
                 vpn: blue"
            ),
        );
    }
    Some(name.into())
}

/// The networks that join a guest to routers, as indices.
pub(super) fn names(
    section: &Section<'_>,
    title: &str,
    networks: &[&str],
    diagnostics: &mut Diagnostics,
) -> Vec<usize> {
    let Some(node) = section.get("networks") else { return Vec::new() };
    let items = match &node.value {
        Value::List(items) if !items.is_empty() => items,
        _ => {
            let found = node.found();
            diagnostics.error_at(
                node.place,
                format!("the networks of {title} are a list of names, not {found}; write networks: [site]"),
            );
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for item in items {
        let Some(network) = link(item, title, "network", networks, diagnostics) else { continue };
        if found.contains(&network) {
            diagnostics.error_at(
                item.place,
                format!("{title} names network {} twice; remove one", networks[network]),
            );
        }
        found.push(network);
    }
    found
}
