//! Disks and flash compared with closed-form results from their physics.

mod common;

use stormeter_driver::drive;
use stormeter_simulator::{ComponentUse, Load, Machine, Window};
use stormeter_site::{Device, Hdd, Ssd};
use stormeter_testkit::workload;
use stormeter_trial::{Arrivals, Sample, SizeShare, Trial, Workload};

const SECOND: u64 = 1_000_000_000;

/// The load on a device.
#[derive(Debug, Clone, Copy)]
struct Ask {
    bytes: u32,
    read_percent: f64,
    random_percent: f64,
    outstanding: u32,
    /// Regions of the device with a stream each.
    disks: u32,
    disk_bytes: u64,
    ramp_ns: u64,
    duration_ns: u64,
}

const RANDOM_READS: Ask = Ask {
    bytes: 4096,
    read_percent: 100.0,
    random_percent: 100.0,
    outstanding: 1,
    disks: 1,
    disk_bytes: 300_000_000_000 / 4096 * 4096,
    ramp_ns: SECOND,
    duration_ns: 60 * SECOND,
};

fn run(device: &Device, ask: Ask) -> (Sample, ComponentUse) {
    let trial = Trial {
        workload: Workload {
            sizes: vec![SizeShare { bytes: ask.bytes, share: 1.0 }],
            read_percent: ask.read_percent,
            random_percent: ask.random_percent,
            ..workload(Arrivals::Closed { outstanding: ask.outstanding })
        },
        first_disk: 0,
        disks: ask.disks,
        disk_bytes: ask.disk_bytes,
        seed: 7,
        start: Default::default(),
        content_seed: 0,
        ramp_ns: ask.ramp_ns,
        duration_ns: ask.duration_ns,
        interval_ns: SECOND.min(ask.duration_ns),
        limits: Default::default(),
        verify: false,
    };
    let load = Load {
        vms: ask.disks,
        disk_bytes: ask.disk_bytes,
        working_set_bytes: ask.disk_bytes,
        random: ask.random_percent / 100.0,
        zipf: None,
        flushes: false,
    };
    let window = Window { from_ns: trial.ramp_ns, interval_ns: trial.interval_ns };
    let site = common::one_device(device.clone());
    let mut machine = Machine::new(&site, 0, load, window, 7).expect("a machine");
    let mut clock = machine.time().clock();
    let sample = drive(&trial, || Some(0), &mut machine, &mut clock, &mut ()).expect("a trial");
    let uses = machine.usage();
    let disk = uses.into_iter().find(|usage| usage.name == "disk").expect("the disk");
    (sample, disk)
}

fn iops(device: &Device, ask: Ask) -> f64 {
    run(device, ask).0.iops()
}

fn rate(device: &Device, ask: Ask) -> f64 {
    iops(device, ask) * f64::from(ask.bytes)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
}

/// A Fibre Channel disk of 15 000 rpm like the Cheetah 15K.4 and 15K.5: 3.5 ms average read seek,
/// 4.0 ms write.
fn cheetah() -> Hdd {
    Hdd {
        rpm: 15_000.0,
        seek_track_ns: 0.2e6,
        seek_average_ns: 3.5e6,
        seek_full_ns: 7.4e6,
        write_settle_ns: 0.5e6,
        outer_bytes_per_s: 125e6,
        inner_bytes_per_s: 73e6,
        capacity_bytes: 300_000_000_000,
        interface_bytes_per_s: 400e6,
        overhead_ns: 100e3,
        queue_depth: 64,
        buffer_bytes: 16 << 20,
        write_cache: false,
    }
}

/// A SATA disk of 7200 rpm: 8.5 ms average seek.
fn nearline() -> Hdd {
    Hdd {
        rpm: 7200.0,
        seek_track_ns: 0.8e6,
        seek_average_ns: 8.5e6,
        seek_full_ns: 18.0e6,
        write_settle_ns: 1.0e6,
        outer_bytes_per_s: 140e6,
        inner_bytes_per_s: 70e6,
        capacity_bytes: 1_000_000_000_000,
        interface_bytes_per_s: 300e6,
        overhead_ns: 200e3,
        queue_depth: 32,
        buffer_bytes: 32 << 20,
        write_cache: false,
    }
}

const SEQUENTIAL_READS: Ask =
    Ask { bytes: 131_072, random_percent: 0.0, outstanding: 2, ..RANDOM_READS };

fn writes(ask: Ask) -> Ask {
    Ask { read_percent: 0.0, ..ask }
}

#[test]
fn random_reads_one_at_a_time_take_overhead_seek_half_a_revolution_and_transfer() {
    // The interface sends while the heads read. Media rate in the middle, by bytes.
    let takes_s = 0.1e-3 + 3.5e-3 + 2e-3 + 4096.0 / 100e6;
    let found = iops(&Device::Hdd(cheetah()), RANDOM_READS);
    near(found, 1.0 / takes_s, 0.02);
    // The typical rate of such disks.
    assert!((170.0..190.0).contains(&found), "{found}");
    let takes_s = 0.1e-3 + 3.5e-3 + 0.5e-3 + 2e-3 + 4096.0 / 100e6;
    near(iops(&Device::Hdd(cheetah()), writes(RANDOM_READS)), 1.0 / takes_s, 0.02);
    let takes_s = 0.2e-3 + 8.5e-3 + 60.0 / 7200.0 / 2.0 + 4096.0 / 105e6;
    let found = iops(
        &Device::Hdd(nearline()),
        Ask { disk_bytes: nearline().capacity_bytes / 4096 * 4096, ..RANDOM_READS },
    );
    near(found, 1.0 / takes_s, 0.02);
    assert!((74.0..82.0).contains(&found), "{found}");
}

#[test]
fn the_deeper_the_queue_the_more_a_disk_does() {
    let disk = Device::Hdd(cheetah());
    let depths = [1, 2, 4, 8, 16, 32, 64];
    let found: Vec<f64> = depths
        .iter()
        .map(|&outstanding| iops(&disk, Ask { outstanding, ..RANDOM_READS }))
        .collect();
    assert!(found.windows(2).all(|pair| pair[1] > pair[0]), "{found:?}");
    // With 16, shortest positioning time first is about twice as fast as first come, first served.
    let gain = found[4] / found[0];
    assert!((1.7..2.5).contains(&gain) && found[4] > 300.0, "{found:?}");
    // A disk without queueing gains nothing but the decoding of commands.
    let plain = Device::Hdd(Hdd { queue_depth: 1, ..cheetah() });
    near(
        iops(&plain, Ask { outstanding: 16, ..RANDOM_READS }),
        1.0 / (1.0 / found[0] - 0.1e-3),
        0.02,
    );
}

#[test]
fn a_disk_is_as_busy_as_it_works_and_those_who_wait_are_counted() {
    let (_, usage) = run(&Device::Hdd(cheetah()), Ask { outstanding: 8, ..RANDOM_READS });
    near(usage.utilisation, 1.0, 1e-3);
    near(usage.queue_mean, 8.0, 0.01);
    // Served from read-ahead: the heads read as many bytes as are requested.
    let slow = Ask { bytes: 4096, outstanding: 1, ..SEQUENTIAL_READS };
    let (sample, usage) = run(&Device::Hdd(cheetah()), slow);
    near(usage.utilisation, sample.iops() * 4096.0 / 123.4e6, 0.01);
    let (sample, usage) = run(&Device::Ssd(flash()), Ask { outstanding: 8, ..FLASH_READS });
    near(usage.utilisation, sample.iops() * 60e-6 / 16.0, 0.01);
}

#[test]
fn sequential_access_goes_at_the_media_rate_which_falls_towards_the_hub() {
    let disk = Device::Hdd(cheetah());
    for ask in [
        SEQUENTIAL_READS,
        writes(SEQUENTIAL_READS),
        Ask { outstanding: 1, ..SEQUENTIAL_READS },
        Ask { bytes: 4096, outstanding: 4, ..SEQUENTIAL_READS },
    ] {
        // The middle of the first of 16 zones.
        near(rate(&disk, ask), 125e6 - 52e6 / 32.0, 0.005);
    }
    // All of it takes 300 GB / 99 MB/s = 3030 s.
    let end = Ask { bytes: 1 << 20, ramp_ns: 2900 * SECOND, ..SEQUENTIAL_READS };
    let end = Ask { disk_bytes: end.disk_bytes >> 20 << 20, ..end };
    near(rate(&disk, end), 73e6 + 52e6 / 32.0, 0.02);
}

#[test]
fn several_streams_are_faster_than_random_reads_and_share_the_media_rate() {
    for (disk, media) in [(cheetah(), 125e6), (nearline(), 140e6)] {
        let disk = Device::Hdd(disk);
        let ask = Ask { outstanding: 1, bytes: 4096, disk_bytes: 2 << 30, ..RANDOM_READS };
        let ask = Ask { duration_ns: 10 * SECOND, ..ask };
        let alone = rate(&disk, Ask { random_percent: 0.0, ..ask });
        for disks in [2, 5, 20, 50] {
            let random = rate(&disk, Ask { disks, ..ask });
            let streams = rate(&disk, Ask { disks, random_percent: 0.0, ..ask });
            assert!(streams > random, "{disks}: {streams} {random}");
            // As many as the drive can distinguish lose no more than the seeks between them, about
            // as much as they read each time.
            let all = (alone * f64::from(disks)).min(media);
            assert!(disks > 20 || streams > 0.4 * all, "{disks}: {streams} of {all}");
        }
    }
}

#[test]
fn random_reads_of_small_files_are_not_taken_for_streams() {
    let disk = Device::Hdd(nearline());
    let ask = Ask { outstanding: 1, bytes: 4096, disks: 5, ..RANDOM_READS };
    let ask = Ask { duration_ns: 10 * SECOND, ..ask };
    let [small, large] =
        [8 << 20, 2 << 30].map(|disk_bytes| iops(&disk, Ask { disk_bytes, ..ask }));
    assert!(small > 1.2 * large, "{small} {large}");
}

#[test]
fn a_sequential_write_that_comes_too_late_loses_a_revolution() {
    let disk = Device::Hdd(cheetah());
    let one = writes(Ask { bytes: 4096, outstanding: 1, ..SEQUENTIAL_READS });
    near(iops(&disk, one), 250.0, 0.02);
    let cached = Device::Hdd(Hdd { write_cache: true, ..cheetah() });
    // Overhead and interface.
    near(iops(&cached, one), 1.0 / (100e-6 + 4096.0 / 400e6), 0.01);
    near(rate(&cached, Ask { outstanding: 8, ..one }), 125e6 - 52e6 / 32.0, 0.005);
}

#[test]
fn a_write_cache_hides_the_platters_until_it_is_full() {
    let cached = Device::Hdd(Hdd { write_cache: true, ..cheetah() });
    let ask = writes(RANDOM_READS);
    let (sample, _) = run(&cached, Ask { ramp_ns: 0, duration_ns: SECOND / 10, ..ask });
    near(sample.total().latency_mean_ns().expect("writes"), 100e3 + 4096.0 / 0.4, 0.01);
    let (sample, usage) = run(&cached, Ask { ramp_ns: 10 * SECOND, ..ask });
    near(usage.utilisation, 1.0, 1e-3);
    // In the order of addresses. Where the sweep is, writes have waited longest and are twice as
    // dense as on average, so the next is a 4096th of the way off, exponentially distributed: the
    // mean root of that is sqrt(pi) / 2 times the root of the mean. The seek curve has b = 5.92 ms.
    let seek_ns = 0.2e6 + 5.92e6 * (1.0 / 4096.0_f64).sqrt() * 0.886;
    near(sample.iops(), 1e9 / (seek_ns + 0.5e6 + 2e6 + 0.04e6), 0.03);
    // Better than without, but still mechanical.
    let uncached = iops(&Device::Hdd(cheetah()), ask);
    assert!(sample.iops() > 1.5 * uncached && sample.iops() < 4.0 * uncached, "{}", sample.iops());
}

#[test]
fn reads_get_their_turn_while_a_full_write_cache_empties() {
    let cached = Device::Hdd(Hdd { write_cache: true, ..cheetah() });
    let ask = Ask { read_percent: 50.0, outstanding: 8, ramp_ns: 20 * SECOND, ..RANDOM_READS };
    let (sample, _) = run(&cached, ask);
    let reads = sample.reads.operations as f64;
    near(reads / (reads + sample.writes.operations as f64), 0.5, 0.03);
    assert!(sample.iops() > 177.0 && sample.iops() < 500.0, "{}", sample.iops());
}

/// Flash with 16 dies, all full, a tenth of it spare.
fn flash() -> Ssd {
    Ssd {
        channels: 16,
        page_bytes: 16384,
        read_ns: 60e3,
        program_ns: 600e3,
        erase_ns: 3e6,
        pages_per_block: 256,
        spare_share: 0.1,
        filled_share: 1.0,
        capacity_bytes: 400_000_000_000,
        interface_bytes_per_s: 2e9,
        overhead_ns: 10e3,
        queue_depth: 4096,
        write_buffer_bytes: 16 << 20,
        power_loss_protection: true,
    }
}

const FLASH_READS: Ask = Ask { duration_ns: 2 * SECOND, ..RANDOM_READS };

/// Pages that a die programs per second if each requires `moves` more by garbage collection.
fn pages_per_s(moves: f64) -> f64 {
    1e9 / (600e3 + moves * 660e3 + (1.0 + moves) * 3e6 / 256.0)
}

/// Xiang and Kurkoski, arXiv:1110.4245: by iteration from below, to the smaller root.
fn moves(counting: f64) -> f64 {
    let v = (0..10_000).fold(0.0, |v: f64, _| (-(1.0 - v) / counting).exp());
    1.0 / (1.0 - v) - 1.0
}

#[test]
fn flash_reads_take_a_page_each_and_scale_to_its_dies() {
    let flash = Device::Ssd(flash());
    near(iops(&flash, FLASH_READS), 1.0 / (10e-6 + 60e-6 + 4096.0 / 2e9), 0.002);
    let most = iops(&flash, Ask { outstanding: 512, ..FLASH_READS });
    assert!(most < 16.0 / 60e-6);
    near(most, 16.0 / 60e-6, 0.03);
    // No more than its queue admits.
    let shallow = Device::Ssd(Ssd { queue_depth: 4, ..self::flash() });
    let (sample, usage) = run(&shallow, Ask { outstanding: 64, ..FLASH_READS });
    near(sample.iops(), iops(&flash, Ask { outstanding: 4, ..FLASH_READS }), 0.005);
    assert!(usage.queue_mean > 60.0, "{}", usage.queue_mean);
    // Large ones saturate the interface.
    let large = Ask { bytes: 1 << 18, outstanding: 16, ..FLASH_READS };
    let (sample, usage) = run(&flash, large);
    near(sample.iops() * f64::from(large.bytes), 2e9, 0.01);
    near(usage.utilisation, 1.0, 0.01);
}

#[test]
fn random_writes_amplify_and_sequential_ones_do_not() {
    let device = Device::Ssd(flash());
    let random = writes(Ask { outstanding: 16, ramp_ns: 2 * SECOND, ..FLASH_READS });
    // Four requests share a page.
    near(iops(&device, random), 16.0 * 4.0 * pages_per_s(moves(0.9)), 0.02);
    let half = Device::Ssd(Ssd { filled_share: 0.5, ..flash() });
    near(iops(&half, random), 16.0 * 4.0 * pages_per_s(moves(0.45)), 0.02);
    let sequential = Ask { random_percent: 0.0, ..random };
    near(iops(&device, sequential), 16.0 * 4.0 * pages_per_s(0.0), 0.02);
    // Mixed with reads, each takes its time on the dies.
    let mixed = Ask { read_percent: 70.0, outstanding: 64, ..random };
    let takes_s = 0.7 * 60e-6 + 0.3 / 4.0 / pages_per_s(moves(0.9));
    near(iops(&device, mixed), 16.0 / takes_s, 0.02);
    // Without a buffer each request has its own page.
    let unbuffered = Device::Ssd(Ssd { write_buffer_bytes: 0, ..flash() });
    let deep = Ask { outstanding: 2048, duration_ns: 8 * SECOND, ..random };
    near(iops(&unbuffered, deep), 16.0 * pages_per_s(moves(0.9)), 0.06);
}

#[test]
fn a_write_buffer_hides_the_dies_until_it_is_full() {
    let ask = writes(Ask { ramp_ns: 0, duration_ns: SECOND / 50, ..FLASH_READS });
    let (sample, _) = run(&Device::Ssd(flash()), ask);
    near(sample.total().latency_mean_ns().expect("writes"), 10e3 + 4096.0 / 2.0, 0.005);
}

#[test]
fn the_same_seed_gives_the_same_sample() {
    let ask = Ask { read_percent: 60.0, random_percent: 70.0, outstanding: 8, ..FLASH_READS };
    for device in [
        Device::Hdd(cheetah()),
        Device::Hdd(Hdd { write_cache: true, ..nearline() }),
        Device::Ssd(flash()),
    ] {
        assert_eq!(run(&device, ask), run(&device, ask));
    }
}
