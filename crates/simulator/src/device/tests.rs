//! Devices by themselves, without a machine: cases that no site can express yet.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use stormeter_disk::Kind;
use stormeter_site::{Device as Description, Queue, Service, Spread, Ssd};

use super::hdd::tests::cheetah;
use super::{Access, Bench, Device};
use crate::machine::EventQueue;
use crate::slab::Slab;

/// A number of accesses of 4 KiB with constant queue depth; returns when the last one completed.
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

/// Readers and writers with constant queue depth each, at random places; returns how many reads and
/// writes completed between the times.
fn done_between(
    device: &mut Device,
    reads: u32,
    writes: u32,
    from_ns: u64,
    to_ns: u64,
) -> [u32; 2] {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut accesses, mut events) = (Slab::default(), EventQueue::default());
    let (mut noise, mut done) = (Xoshiro256PlusPlus::seed_from_u64(6), Vec::new());
    let mut found = [0, 0];
    let mut due = vec![Kind::Read; reads as usize];
    due.resize((reads + writes) as usize, Kind::Write);
    let mut now_ns = 0;
    while now_ns < to_ns {
        let (accesses, events) = (&mut accesses, &mut events);
        let mut bench = Bench { now_ns, accesses, events, random: &mut noise, done: &mut done };
        for kind in due.drain(..) {
            let access = bench.accesses.insert(Access {
                store: 0,
                device: 0,
                kind,
                background: false,
                offset_bytes: generator.next_u64() % 70_000_000 * 4096,
                length_bytes: 4096,
                arrived_ns: now_ns,
                owner: 0,
                purpose: 0,
            });
            device.arrive(access, &mut bench);
        }
        let (at_ns, token) = bench.events.pop().expect("an event while accesses are outstanding");
        (now_ns, bench.now_ns) = (at_ns, at_ns);
        device.event(token & ((1 << 30) - 1), &mut bench);
        while let Some(access) = bench.done.pop() {
            let kind = bench.accesses[access].kind;
            found[usize::from(kind == Kind::Write)] += u32::from(now_ns >= from_ns);
            due.push(kind);
            bench.accesses.free(access);
        }
    }
    found
}

/// What is read from the buffer was read earlier: no period has more work than its length, and
/// rereading makes none.
#[test]
fn heads_are_never_busier_than_the_clock() {
    let mut device = Device::new(&Description::Hdd(cheetah()));
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(8);
    let (mut accesses, mut events) = (Slab::default(), EventQueue::default());
    let (mut noise, mut done) = (Xoshiro256PlusPlus::seed_from_u64(9), Vec::new());
    let (mut now_ns, mut before) = (0, (0, 0));
    let mut again = (0, 0);
    for turn in 0..3000u64 {
        // A stream from the buffer, random reads, and the same bytes from the buffer.
        let block = match turn {
            0..1000 => turn,
            1000..2000 if turn % 8 < 4 => generator.next_u64() % 4_000_000,
            1000..2000 => turn,
            _ => 2000 + turn % 4,
        };
        let (accesses, events) = (&mut accesses, &mut events);
        let mut bench = Bench { now_ns, accesses, events, random: &mut noise, done: &mut done };
        let access = bench.accesses.insert(Access {
            store: 0,
            device: 0,
            kind: Kind::Read,
            background: false,
            offset_bytes: block * 65_536,
            length_bytes: 65_536,
            arrived_ns: now_ns,
            owner: 0,
            purpose: 0,
        });
        device.arrive(access, &mut bench);
        while bench.done.is_empty() {
            let (at_ns, token) = bench.events.pop().expect("an event");
            (now_ns, bench.now_ns) = (at_ns, at_ns);
            device.event(token & ((1 << 30) - 1), &mut bench);
        }
        bench.accesses.free(bench.done.pop().expect("done"));
        let busy_ns = device.usage(now_ns).busy_ns;
        assert!(
            busy_ns - before.1 <= now_ns - before.0,
            "turn {turn}: {now_ns} {busy_ns} {before:?}"
        );
        before = (now_ns, busy_ns);
        if turn == 999 {
            // 64 MB at 125 MB/s, losing hardly a revolution.
            let share = busy_ns as f64 / now_ns as f64;
            assert!(share > 0.9, "{share}");
        }
        if turn == 2500 {
            again = before;
        }
    }
    // The interface, not the heads: 164 us of each 264 us.
    let share = (before.1 - again.1) as f64 / (before.0 - again.0) as f64;
    assert!(share < 0.65, "{share}");
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
        queue_depth: 4096,
        write_buffer_bytes: 1 << 20,
        power_loss_protection: true,
    }
}

#[test]
fn a_slow_device_takes_a_factor_longer_for_everything() {
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

#[test]
fn readers_do_not_keep_writers_out_of_a_full_buffer() {
    let mut cached = cheetah();
    cached.write_cache = true;
    let mut device = Device::new(&Description::Hdd(cached));
    let [reads, writes] = done_between(&mut device, 8, 8, 20_000_000_000, 40_000_000_000);
    // Alternating.
    assert!((0.8..1.25).contains(&(f64::from(reads) / f64::from(writes))), "{reads} {writes}");

    let mut device = Device::new(&Description::Ssd(flash()));
    let [reads, writes] = done_between(&mut device, 512, 16, 1_000_000_000, 3_000_000_000);
    // A chore with each read, of which about a third (1 of 2.7 with garbage collection) is a program.
    assert!((0.2..0.5).contains(&(f64::from(writes) / f64::from(reads))), "{reads} {writes}");
}

/// A virtual disk with one thread: 80 us for the wake-up, 10 us for each request.
fn virtual_disk(servers: u32) -> Device {
    Device::new(&Description::Queue(Queue {
        servers,
        read_ns: 80_000.0,
        write_ns: 80_000.0,
        per_byte_ns: 0.0,
        per_written_byte_ns: 0.0,
        shared_per_byte_ns: 0.0,
        shared_per_written_byte_ns: 0.0,
        shared_per_io_ns: 10_000.0,
        shared_per_write_ns: 10_000.0,
        spread: Spread::Constant,
        service: Service::Bulk,
        write_cache: None,
        flush_ns: 0.0,
    }))
}

#[test]
fn bulk_service_wakes_once_for_all_that_wait() {
    for outstanding in [1, 4, 16] {
        let mut disk = virtual_disk(64);
        let each_ns = all_done_ns(&mut disk, Kind::Read, true, outstanding, outstanding * 10) / 10;
        assert_eq!(each_ns, 80_000 + 10_000 * u64::from(outstanding));
    }
    // At most four at once: sixteen are four wake-ups.
    let mut disk = virtual_disk(4);
    assert_eq!(all_done_ns(&mut disk, Kind::Read, true, 16, 16), 4 * 120_000);
    // One server is busy, all the time.
    assert_eq!(disk.usage(480_000).busy_ns, 480_000);
    assert_eq!(disk.usage(480_000).servers, 1);
}

#[test]
fn writes_have_shared_times_of_their_own() {
    let disk = |service| {
        Device::new(&Description::Queue(Queue {
            servers: 64,
            read_ns: 80_000.0,
            write_ns: 80_000.0,
            per_byte_ns: 0.0,
            per_written_byte_ns: 1.0,
            shared_per_byte_ns: 1.0,
            shared_per_written_byte_ns: 2.0,
            shared_per_io_ns: 10_000.0,
            shared_per_write_ns: 30_000.0,
            spread: Spread::Constant,
            service,
            write_cache: None,
            flush_ns: 0.0,
        }))
    };
    let (own, shared) = ([80_000, 80_000 + 4096], [10_000 + 4096, 30_000 + 2 * 4096]);
    for (at, kind) in [Kind::Read, Kind::Write].into_iter().enumerate() {
        let done_ns = |service| all_done_ns(&mut disk(service), kind, true, 16, 16);
        // Sixteen at once: the shared part takes longer than any of them alone.
        assert_eq!(done_ns(Service::Single), 16 * shared[at], "{kind:?}");
        assert_eq!(done_ns(Service::Bulk), own[at] + 16 * shared[at], "{kind:?}");
    }
}

#[test]
fn who_comes_while_others_are_served_waits_for_the_next_time() {
    // One waits in the ring from 85 us on, when the first has been taken; it needs 90 us after 90 us.
    let mut disk = virtual_disk(64);
    let (mut accesses, mut events) = (Slab::default(), EventQueue::default());
    let (mut noise, mut done) = (Xoshiro256PlusPlus::seed_from_u64(4), Vec::new());
    let mut ends = Vec::new();
    let mut arrivals = vec![(85_000, 1), (0, 0)];
    loop {
        let next_event = events.pop();
        let next_arrival = arrivals.last().copied();
        let arrival_first = match (next_event, next_arrival) {
            (Some((at_ns, _)), Some((arrives_ns, _))) => arrives_ns <= at_ns,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if arrival_first && let Some((now_ns, owner)) = arrivals.pop() {
            if let Some((at_ns, token)) = next_event {
                events.push(at_ns, token);
            }
            let (accesses, events) = (&mut accesses, &mut events);
            let access = accesses.insert(Access {
                store: 0,
                device: 0,
                kind: Kind::Read,
                background: false,
                offset_bytes: 0,
                length_bytes: 4096,
                arrived_ns: now_ns,
                owner,
                purpose: 0,
            });
            disk.arrive(
                access,
                &mut Bench { now_ns, accesses, events, random: &mut noise, done: &mut done },
            );
            continue;
        }
        let Some((now_ns, token)) = next_event else { break };
        let (a, e) = (&mut accesses, &mut events);
        let mut bench =
            Bench { now_ns, accesses: a, events: e, random: &mut noise, done: &mut done };
        disk.event(token & ((1 << 30) - 1), &mut bench);
        ends.extend(done.drain(..).map(|access| (accesses[access].owner, now_ns)));
    }
    assert_eq!(ends, [(0, 90_000), (1, 180_000)]);
    assert_eq!(disk.usage(180_000).waited_ns, 5_000);
}

/// Completion time of each access of 4 KiB, all of which arrive at the same time in that order.
fn done_ns(device: &mut Device, asked: &[(Kind, u64)]) -> Vec<u64> {
    let (mut accesses, mut events) = (Slab::default(), EventQueue::default());
    let (mut noise, mut done) = (Xoshiro256PlusPlus::seed_from_u64(7), Vec::new());
    let mut ended_ns = vec![0; asked.len()];
    let (accesses, events) = (&mut accesses, &mut events);
    let mut bench = Bench { now_ns: 0, accesses, events, random: &mut noise, done: &mut done };
    for (number, &(kind, offset_bytes)) in asked.iter().enumerate() {
        let access = bench.accesses.insert(Access {
            store: 0,
            device: 0,
            kind,
            background: false,
            offset_bytes,
            length_bytes: 4096,
            arrived_ns: 0,
            owner: number as u32,
            purpose: 0,
        });
        device.arrive(access, &mut bench);
    }
    while ended_ns.contains(&0) {
        let (at_ns, token) = bench.events.pop().expect("an event while accesses are outstanding");
        bench.now_ns = at_ns;
        device.event(token & ((1 << 30) - 1), &mut bench);
        while let Some(access) = bench.done.pop() {
            ended_ns[bench.accesses[access].owner as usize] = at_ns;
        }
    }
    ended_ns
}

#[test]
fn spindles_do_not_turn_as_one() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut accesses, mut events) = (Slab::default(), EventQueue::default());
    let mut done = Vec::new();
    let random = &mut generator;
    let (accesses, events) = (&mut accesses, &mut events);
    let mut bench = Bench { now_ns: 0, accesses, events, random, done: &mut done };
    let mut devices: Vec<Device> =
        (0..16).map(|_| Device::new(&Description::Hdd(cheetah()))).collect();
    for (number, device) in devices.iter_mut().enumerate() {
        let access = Access {
            store: 0,
            device: number as u32,
            kind: Kind::Read,
            background: false,
            offset_bytes: 1 << 30,
            length_bytes: 4096,
            arrived_ns: 0,
            owner: 0,
            purpose: 0,
        };
        let access = bench.accesses.insert(access);
        device.arrive(access, &mut bench);
    }
    let ends_ns: Vec<u64> = (0..16).map(|_| bench.events.pop().expect("an event").0).collect();
    // The same place: spread over a revolution of 4 ms, and no further.
    let turn_ns = ends_ns[15] - ends_ns[0];
    assert!((2_000_000..4_000_000).contains(&turn_ns), "{ends_ns:?}");
}

/// A page of a die, by its number there.
fn page(die: u64, number: u64) -> u64 {
    (number * 8 + die) * 4096
}

#[test]
fn a_ready_request_takes_the_interface_and_one_that_waits_for_a_die_keeps_no_other_from_it() {
    // 4 KiB take 40.96 us.
    let slow = Ssd { interface_bytes_per_s: 1e8, ..flash() };
    let mut asked: Vec<(Kind, u64)> = (0..20).map(|number| (Kind::Read, page(0, number))).collect();
    asked.extend([(Kind::Read, page(1, 0)), (Kind::Write, page(2, 0))]);
    let ended_ns = done_ns(&mut Device::new(&Description::Ssd(slow)), &asked);
    // The write is decoded and its bytes are taken at once; a page of an idle die is ready when the
    // busy one's first is, and is sent after it.
    assert_eq!(ended_ns[21], 10_000 + 40_960);
    assert_eq!(ended_ns[0], 60_000 + 40_960);
    assert_eq!(ended_ns[20], 60_000 + 2 * 40_960);
    // The others use the die one after another, which takes longer than the interface.
    assert_eq!(ended_ns[19], 10_000 + 20 * 50_000 + 40_960);
}

#[test]
fn pages_of_one_read_leave_as_they_come() {
    let device = |bytes_per_s| {
        Device::new(&Description::Ssd(Ssd {
            page_bytes: 1024,
            channels: 2,
            interface_bytes_per_s: bytes_per_s,
            ..flash()
        }))
    };
    // Two pages of each die, at 60 us and 110 us: half of the bytes have been sent by 110 us, or as
    // many as the interface has time for.
    let read = [(Kind::Read, 0)];
    assert_eq!(done_ns(&mut device(1e9), &read), [110_000 + 1024]);
    assert_eq!(done_ns(&mut device(4e7), &read), [60_000 + 102_400]);
}

#[test]
fn flash_works_on_as_many_commands_as_its_queue_is_deep_and_on_others_in_their_order() {
    let ended_ns = |queue_depth| {
        let device = Ssd { queue_depth, interface_bytes_per_s: 4.096e9, ..flash() };
        let asked: Vec<(Kind, u64)> = (0..8).map(|die| (Kind::Read, page(die, 0))).collect();
        done_ns(&mut Device::new(&Description::Ssd(device)), &asked)
    };
    let each = 10_000 + 50_000 + 1000;
    let one: Vec<u64> = (1..=8).map(|turn| turn * each).collect();
    assert_eq!(ended_ns(1), one);
    // Two at a time, of which the second waits for the interface; it and its slot are a microsecond
    // late from then on.
    let two: Vec<u64> = (1..=4).flat_map(|turn| [turn * each, turn * each + 1000]).collect();
    assert_eq!(ended_ns(2), two);
    let all: Vec<u64> = (0..8).map(|die| each + die * 1000).collect();
    assert_eq!(ended_ns(8), all);
    assert_eq!(ended_ns(4096), all);
}

#[test]
fn writes_that_wait_for_room_are_commands_too() {
    // A buffer of one page, which two dies empty every 250 us or later.
    let ended_ns = |queue_depth| {
        let tight = Ssd { queue_depth, channels: 2, write_buffer_bytes: 4096, ..flash() };
        let mut asked: Vec<(Kind, u64)> = (0..12).map(|page| (Kind::Write, page * 4096)).collect();
        asked.push((Kind::Read, 0));
        done_ns(&mut Device::new(&Description::Ssd(tight)), &asked)[12]
    };
    // With space in the queue the read goes in between: at worst after a page that is being
    // programmed, and another one that is the die's turn. Otherwise it enters when the eleventh is
    // done.
    assert!(ended_ns(13) < 1_200_000, "{}", ended_ns(13));
    assert!(ended_ns(2) > 2_000_000, "{}", ended_ns(2));
}
