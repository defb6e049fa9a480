//! The links of routers, cut at both ends at once, as a cable is.

use stormeter_fault::FaultSpec;

use crate::error::LabError;
use crate::links::{Link, Node, links};
use crate::model::Lab;

/// The links that a fault is about; `None` if its target is at no routed network, and has a network of its own at most.
///
/// # Errors
/// The target has routed networks, and the fault names none of them.
pub(super) fn find(lab: &Lab, fault: &FaultSpec) -> Result<Option<Vec<Link>>, LabError> {
    let links = links(lab);
    let at = |link: &Link| link.ends.iter().any(|end| end.node.name(lab) == fault.target);
    let own: Vec<Link> = links.into_iter().filter(at).collect();
    let named = |link: &&Link| Some(&link.network(lab).name) == fault.part.as_ref();
    if own.iter().any(|link| named(&link)) {
        return Ok(Some(own.iter().filter(named).cloned().collect()));
    }
    // A storage guest has a network to this machine, too.
    let is_storage = lab.storage.iter().any(|storage| storage.name == fault.target);
    if own.is_empty() || is_storage {
        return Ok(None);
    }
    let mut known: Vec<&str> = own.iter().map(|link| link.network(lab).name.as_str()).collect();
    known.dedup();
    Err(LabError::NoPart {
        guest: fault.target.clone(),
        part: fault.part.clone().unwrap_or_default(),
        what: "network",
        known: known.join(", "),
    })
}

/// Whether a fault is about a router or one of its links.
pub(super) fn concerns(lab: &Lab, fault: &FaultSpec) -> bool {
    lab.routers.iter().any(|router| router.name == fault.target)
        || matches!(find(lab, fault), Ok(Some(_)))
}

/// The ends of links: each guest, and its port among those to other guests.
pub(super) fn ends<'l>(
    lab: &'l Lab,
    links: &'l [Link],
) -> impl Iterator<Item = (&'l str, Node, usize)> {
    links.iter().flat_map(|link| &link.ends).map(|end| (end.node.name(lab), end.node, end.port))
}
