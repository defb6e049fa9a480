//! Which targets a portal offers: for people whose name of one leads nowhere.

use std::net::SocketAddr;

use stormeter_iscsi::login::Identity;
use stormeter_iscsi::{Discovery, Options};
use stormeter_uring::EngineChoice;

use crate::network::{NetworkDisks, Policy, TransportOptions};
use crate::{OpenDisks, RealClock};

/// A portal is asked for so long.
const PATIENCE_NS: u64 = 3_000_000_000;
/// So many names fit into a message.
const MOST: usize = 10;

/// What the portal offers, as the end of a sentence; `None` where it does not tell, and where the
/// target is among them: then its name is not what was wrong.
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
    // A courtesy: what was asked for is known.
    let _ = asked.finish();
    if names.contains(&target_name) {
        return None;
    }
    Some(match &names[..names.len().min(MOST)] {
        [] => "it offers this initiator no target".into(),
        names => format!("available: {}", names.join(", ")),
    })
}
