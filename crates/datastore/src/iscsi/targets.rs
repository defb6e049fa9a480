//! The targets that a portal offers, for messages about a wrong target name.

use std::net::SocketAddr;

use stormeter_iscsi::login::Identity;
use stormeter_iscsi::{Discovery, Options};
use stormeter_uring::EngineChoice;

use crate::network::{NetworkDisks, Policy, TransportOptions};
use crate::{OpenDisks, RealClock};

/// How long a portal is queried.
const PATIENCE_NS: u64 = 3_000_000_000;
/// The number of names that fit into a message.
const MOST: usize = 10;

/// The offered targets, as the end of a sentence; `None` if the portal does not list them, or if the target is
/// among them: then its name was not the error.
pub(super) fn offered(
    address: SocketAddr,
    engine: EngineChoice,
    options: Options,
) -> Option<String> {
    let Options { initiator_name, isid, chap, timeouts, random, target_name, .. } = options;
    let session = Discovery::new(Identity { initiator_name, isid, chap }, timeouts, random);
    let transport = TransportOptions {
        engine,
        memory: OpenDisks { buffers: 1, buffer_bytes: 4096, in_flight: 1 },
        policy: Policy::Fixed,
        patience_ns: PATIENCE_NS,
        is_impatient: true,
        disks: 0,
        disk_bytes: 0,
    };
    let mut asked =
        NetworkDisks::open(vec![(address, session)], transport, RealClock::new()).ok()?;
    let names: Vec<String> = asked.with_session(0, |session, _, _, _| {
        let targets = session.targets().unwrap_or_default();
        targets.iter().map(|target| target.name.clone()).collect()
    });
    // Ignored: the list is already complete.
    let _ = asked.finish();
    if names.contains(&target_name) {
        return None;
    }
    Some(match &names[..names.len().min(MOST)] {
        [] => "it offers this initiator no target".into(),
        names => format!("available: {}", names.join(", ")),
    })
}
