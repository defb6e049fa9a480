//! Whether the guests of routed networks reach each other. A lab is up when they do and every router has all of its
//! neighbours: until then a second way may not carry yet. Only then are storage guests mounted through routers.

use std::path::Path;
use std::time::{Duration, Instant};

use super::directory::guest;
use super::frr::AS;
use super::routed::far_ends;
use super::vpn::{peers, tunnels};
use crate::error::LabError;
use crate::links::{Node, links};
use crate::model::{Lab, Role, Router};

/// How long routers may take to learn of each other: OSPF and LDP a few seconds each, BGP after them.
const CONVERGES: Duration = Duration::from_secs(120);
/// Two pings a second, each of which waits for a second at most.
const AGAIN: Duration = Duration::from_millis(500);
/// How long a router may take to tell what it knows.
const TELLS: Duration = Duration::from_secs(20);

/// Waits until each guest at a routed network reaches the others with the same routes, and then until each router has all
/// of its neighbours. In this order, because asking routers takes their processors from what they are doing.
///
/// # Errors
/// A guest is not reached, or a router has not all neighbours; what each router lacks.
pub(super) fn wait(
    directory: &Path,
    lab: &Lab,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(), LabError> {
    let end = Instant::now() + CONVERGES;
    reached(directory, lab, end, keep_going)?;
    met(directory, lab, end, keep_going)
}

/// Waits until each guest at a routed network reaches the others with the same routes.
fn reached(
    directory: &Path,
    lab: &Lab,
    end: Instant,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(), LabError> {
    let hosts = (0..lab.hosts.len()).map(Node::Host);
    for node in hosts.chain((0..lab.storage.len()).map(Node::Storage)) {
        for (name, address) in far_ends(lab, node) {
            while !reaches(directory, lab, node, &address)? {
                if !keep_going() {
                    return Err(LabError::Interrupted);
                }
                if Instant::now() > end {
                    return Err(LabError::Unreached {
                        from: node.name(lab).into(),
                        to: name,
                        seconds: CONVERGES.as_secs(),
                        lacks: lacks(directory, lab),
                    });
                }
                std::thread::sleep(AGAIN);
            }
        }
    }
    Ok(())
}

fn reaches(directory: &Path, lab: &Lab, node: Node, address: &str) -> Result<bool, LabError> {
    let guest = guest(directory, node.name(lab));
    let script = format!("ping -c 1 -W 1 {address} > /dev/null 2>&1 && echo yes || echo no\n");
    let said = guest.control_port()?.ask(&script, TELLS);
    let said = said.map_err(|error| guest.failed(&format!("does not answer: {error}")))?;
    Ok(said.trim() == "yes")
}

/// What a router knows of its neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// OSPF neighbours with which it has exchanged everything.
    pub(super) ospf: usize,
    /// LDP sessions that work.
    pub(super) ldp: usize,
    /// BGP sessions that work.
    pub(super) bgp: usize,
    /// Labels that it switches or takes off.
    pub(super) labels: usize,
    /// Routes, in all tables.
    pub(super) routes: usize,
}

/// Prints the counts of [`Known`], one a line. All are asked at once: an emulated processor needs a second to start vtysh.
fn counts(role: Role) -> String {
    let mut asks = String::from("-c 'show ip ospf vrf all neighbor'");
    if role != Role::CustomerEdge {
        asks += " -c 'show mpls ldp neighbor'";
    }
    if role == Role::ProviderEdge {
        asks += " -c 'show bgp vrf all summary established'";
    }
    format!(
        "vtysh {asks} > /tmp/known 2>/dev/null || :\n\
         grep -c ' Full' /tmp/known || :\n\
         grep -c OPERATIONAL /tmp/known || :\n\
         grep -c '^10\\.79\\..* {AS} ' /tmp/known || :\n\
         /bin/ip -f mpls route show | wc -l\n\
         /bin/ip route show table all type unicast | grep -c ^10\\. || :\n"
    )
}

/// Asks a router what it knows; `None` if it does not answer.
pub(super) fn known(directory: &Path, router: &Router) -> Option<Known> {
    let guest = guest(directory, &router.name);
    guest.process()?;
    let text = guest.control_port().ok()?.ask(&counts(router.role), TELLS).ok()?;
    let numbers: Vec<usize> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let [ospf, ldp, bgp, labels, routes] = numbers[..] else { return None };
    Some(Known { ospf, ldp, bgp, labels, routes })
}

/// What a router should know of its neighbours, once all are up.
pub(super) fn expected(lab: &Lab, router: usize) -> Known {
    let links = links(lab);
    let own = || links.iter().filter(|link| link.side(Node::Router(router)).is_some());
    let tunnels = tunnels(lab, &links);
    Known {
        ospf: own().filter(|link| link.joins_routers()).count()
            + tunnels.iter().filter(|tunnel| tunnel.ends.contains(&router)).count(),
        ldp: own().filter(|link| link.is_core(lab)).count(),
        bgp: peers(lab, &links, router).len(),
        ..Known::default()
    }
}

/// Waits until each router has all of its neighbours again, and each guest reaches the others.
///
/// # Errors
/// One does not; what each router lacks.
pub(super) fn settle(directory: &Path, lab: &Lab) -> Result<(), LabError> {
    let end = Instant::now() + CONVERGES;
    let keep_going = &mut || true;
    met(directory, lab, end, keep_going)?;
    reached(directory, lab, end, keep_going)
}

/// Waits until each router has all of its neighbours.
fn met(
    directory: &Path,
    lab: &Lab,
    end: Instant,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(), LabError> {
    loop {
        let lacks = neighbours(directory, lab);
        if lacks.is_empty() {
            return Ok(());
        }
        if !keep_going() {
            return Err(LabError::Interrupted);
        }
        if Instant::now() > end {
            let (seconds, lacks) = (CONVERGES.as_secs(), lacks.join("; "));
            return Err(LabError::Unsettled { seconds, lacks });
        }
        std::thread::sleep(AGAIN);
    }
}

/// What routers lack, for people.
fn lacks(directory: &Path, lab: &Lab) -> String {
    let lacks = neighbours(directory, lab);
    if lacks.is_empty() {
        return "all routers have their neighbours, so a route is missing".into();
    }
    lacks.join("; ")
}

/// The neighbours that routers lack.
fn neighbours(directory: &Path, lab: &Lab) -> Vec<String> {
    let all: Vec<Option<Known>> = std::thread::scope(|scope| {
        let asked = lab.routers.iter().map(|router| scope.spawn(|| known(directory, router)));
        let asked: Vec<_> = asked.collect();
        asked.into_iter().map(|router| router.join().ok().flatten()).collect()
    });
    let mut lacks = Vec::new();
    for (index, (router, known)) in lab.routers.iter().zip(all).enumerate() {
        let name = &router.name;
        let Some(known) = known else {
            lacks.push(format!("{name} does not answer"));
            continue;
        };
        let expected = expected(lab, index);
        for (protocol, has, of) in [
            ("OSPF", known.ospf, expected.ospf),
            ("LDP", known.ldp, expected.ldp),
            ("BGP", known.bgp, expected.bgp),
        ] {
            if has < of {
                lacks.push(format!("{name} has {has} of {of} {protocol} neighbours"));
            }
        }
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::links::tests::LAB;

    #[test]
    fn neighbours_follow_from_roles() {
        let lab = parse_lab(LAB).unwrap();
        let known = |router| {
            let Known { ospf, ldp, bgp, .. } = expected(&lab, router);
            [ospf, ldp, bgp]
        };
        // The core, the customer and the tunnel; the host outside of the VPN is no neighbour.
        assert_eq!([0, 1, 2, 3].map(known), [[2, 0, 0], [3, 1, 1], [3, 1, 1], [2, 0, 0]]);
    }

    #[test]
    fn guests_reach_those_with_the_same_routes() {
        let lab = parse_lab(LAB).unwrap();
        let names = |node| far_ends(&lab, node).into_iter().map(|(name, _)| name);
        assert_eq!(names(Node::Host(1)).collect::<Vec<_>>(), ["far2", "san"]);
        assert_eq!(names(Node::Storage(0)).collect::<Vec<_>>(), ["far1", "far2"]);
        assert_eq!(names(Node::Host(0)).count(), 0, "nobody else is outside of the VPN");
    }
}
