//! Devices by themselves, without a machine around: what no site can ask for yet.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_disk::Kind;
use stormeter_site::{Device as Description, Ssd};

use super::hdd::tests::cheetah;
use super::{Access, Bench, Device};
use crate::machine::EventQueue;
use crate::slab::Slab;

/// So many accesses of 4 KiB, always so many outstanding; gives when the last one was done, which is
/// after all others.
fn all_done_ns(device: &mut Device, kind: Kind, random: bool, outstanding: u32, count: u32) -> u64 {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut accesses, mut events) = (Slab::default(), EventQueue::default());
    let (mut noise, mut done) = (Xoshiro256PlusPlus::seed_from_u64(4), Vec::new());
    let (mut now_ns, mut given, mut finished) = (0, 0, 0);
    while finished < count {
        let mut bench = Bench {
            now_ns,
            accesses: &mut accesses,
            events: &mut events,
            random: &mut noise,
            done: &mut done,
        };
        while given < count && given - finished < outstanding {
            let block = if random { generator.next_u64() % 70_000_000 } else { u64::from(given) };
            let access = bench.accesses.insert(Access {
                store: 0,
                device: 0,
                kind,
                background: given % 5 == 0,
                offset_bytes: block * 4096,
                length_bytes: 4096,
                arrived_ns: now_ns,
                owner: 0,
                purpose: 0,
            });
            given += 1;
            device.arrive(access, &mut bench);
        }
        let (at_ns, token) = bench.events.pop().expect("an event while accesses are outstanding");
        assert!(at_ns >= now_ns);
        now_ns = at_ns;
        bench.now_ns = at_ns;
        device.event(token & ((1 << 30) - 1), &mut bench);
        while let Some(access) = bench.done.pop() {
            bench.accesses.free(access);
            finished += 1;
        }
    }
    let usage = device.usage(now_ns);
    assert_eq!(usage.accesses, u64::from(count));
    assert!(usage.busy_ns <= now_ns * u64::from(usage.servers), "{usage:?} {now_ns}");
    now_ns
}

fn flash() -> Ssd {
    Ssd {
        channels: 8,
        page_bytes: 4096,
        read_ns: 50e3,
        program_ns: 500e3,
        erase_ns: 2e6,
        pages_per_block: 64,
        spare_share: 0.2,
        filled_share: 1.0,
        capacity_bytes: 300_000_000_000,
        interface_bytes_per_s: 1e9,
        overhead_ns: 10e3,
        write_buffer_bytes: 1 << 20,
    }
}

#[test]
fn a_slow_device_takes_so_many_times_as_long_for_everything() {
    let mut cached = cheetah();
    cached.write_cache = true;
    let devices =
        [Description::Hdd(cheetah()), Description::Hdd(cached), Description::Ssd(flash())];
    for description in devices {
        for kind in [Kind::Read, Kind::Write] {
            for random in [true, false] {
                let ns = |slowness: f64| {
                    let mut device = Device::new(&description);
                    device.slow_down(slowness);
                    all_done_ns(&mut device, kind, random, 4, 3000) as f64
                };
                let ratio = ns(3.0) / ns(1.0);
                // How long one waits before it goes first does not follow.
                assert!((ratio - 3.0).abs() < 0.1, "{description:?} {kind:?} {random}: {ratio}");
            }
        }
    }
}

#[test]
fn every_access_is_done_once_whatever_is_asked_for() {
    let mut small = cheetah();
    (small.write_cache, small.buffer_bytes) = (true, 16 << 10);
    let mut bare = cheetah();
    (bare.buffer_bytes, bare.queue_depth) = (0, 1);
    let mut tiny = flash();
    (tiny.write_buffer_bytes, tiny.channels) = (5000, 1);
    let mut through = flash();
    through.write_buffer_bytes = 0;
    for description in [
        Description::Hdd(small),
        Description::Hdd(bare),
        Description::Ssd(tiny),
        Description::Ssd(through),
    ] {
        for kind in [Kind::Read, Kind::Write] {
            for (random, outstanding) in [(true, 1), (true, 40), (false, 3), (false, 100)] {
                let mut device = Device::new(&description);
                assert!(all_done_ns(&mut device, kind, random, outstanding, 2000) > 0);
            }
        }
    }
}
