//! Two ways to one target, of which one is lost and comes back.

use stormeter_peers::{Direction, Fault, Framing, Proxy, Tgt, TgtOptions};

use super::{carried_bytes, wait};
use crate::fixture::{Load, Moment, Outcome, compare};

/// More than logins take, and soon reached by I/Os.
const LOAD_BYTES: usize = 48 << 10;
const LOAD: Load = Load { blocks: 1, read_percent: 50.0, rate_per_s: 400.0, duration_ms: 2500 };

fn two_ways(policy: &str, act: impl FnOnce(&mut Proxy, &Proxy)) -> Outcome {
    let options = TgtOptions { two_portals: true, ..TgtOptions::default() };
    let tgt = Tgt::start(&options).unwrap();
    let [one, other]: [_; 2] = tgt.addresses().try_into().unwrap();
    let mut first = Proxy::start(one, Framing::Iscsi, 1).unwrap();
    let second = Proxy::start(other, Framing::Iscsi, 2).unwrap();
    let url = super::through(&first, &tgt, &format!("&portals={}{policy}", second.address()));
    let mut act = Some(act);
    compare(&url, LOAD, |moment| {
        if moment == Moment::Row(0, 1)
            && let Some(act) = act.take()
        {
            act(&mut first, &second);
        }
    })
}

/// Waits until I/Os go this way.
#[track_caller]
fn wait_for_load(what: &str, proxy: &Proxy) {
    let before = carried_bytes(proxy);
    wait(what, || carried_bytes(proxy) >= before + LOAD_BYTES);
}

#[test]
fn the_other_portal_takes_over_and_the_first_takes_back() {
    let outcome = two_ways("", |first, second| {
        assert!(carried_bytes(first) > LOAD_BYTES);
        assert!(carried_bytes(second) < LOAD_BYTES, "it stands by");
        first.close();
        first.reset_all();
        wait_for_load("I/Os by the second portal", second);
        first.open().unwrap();
        wait_for_load("I/Os by the first portal again", first);
    });
    outcome.assert_recovered(0, &["ConnectionLost", "Reconnected"]);
    outcome.assert_valid();
}

#[test]
fn operations_of_a_lost_portal_move_to_the_other() {
    let outcome = two_ways("&policy=round-robin", |first, second| {
        for (name, proxy) in [("first", &*first), ("second", second)] {
            assert!(carried_bytes(proxy) > LOAD_BYTES / 2, "the {name} portal carries load");
        }
        // So that operations are outstanding there.
        let fault = Fault::Stall { direction: Direction::ToClient, after_bytes: 0 };
        first.plan(fault).unwrap();
        let sent = |proxy: &Proxy| proxy.recordings().iter().map(|one| one.from_client.len()).sum();
        wait("a stalled connection", || first.fired() == 1);
        let before: usize = sent(first);
        wait("operations that are not answered", || sent(first) > before + 400);
        first.close();
        first.reset_all();
        wait_for_load("I/Os by the second portal", second);
        first.open().unwrap();
        wait_for_load("I/Os by the first portal again", first);
    });
    outcome.assert_recovered(0, &["Moved", "Reconnected"]);
    outcome.assert_valid();
}
