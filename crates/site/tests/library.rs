//! The library: every entry can be used, and every figure has a source.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_site::{Device, Site, library_text, parse_site};

/// The names of a section of the library.
fn entries(section: &str) -> Vec<&'static str> {
    let lines = library_text().lines();
    let lines = lines.skip_while(|line| *line != format!("{section}:")).skip(1);
    lines
        .take_while(|line| line.is_empty() || line.starts_with(' ') || line.starts_with('#'))
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.trim().split(':').next().unwrap())
        .collect()
}

/// A site that is like those entries.
fn site(host: &str, controller: &str, adapter: &str, device: &str) -> Site {
    let text = format!(
        "hosts: {{h: {{like: {host}, adapters: {{a: {{like: {adapter}}}}}}}}}\n\
         stacks: {{disk: {{protocol: local}}}}\n\
         disk-groups: {{d: {{device: {{like: {device}}}}}}}\n\
         controllers: {{c: {{like: {controller}, disks: d, ports: {{p: {{like: {adapter}}}}}}}}}\n\
         datastores: {{s: {{hosts: h, stack: disk, disks: d}}}}\n"
    );
    parse_site(&text).unwrap_or_else(|errors| panic!("{errors}")).site
}

#[test]
fn every_entry_can_be_used() {
    for host in entries("hosts") {
        let found = &site(host, "fas3170", "gbe", "nvme-2tb").hosts[0];
        assert!(found.cores >= 1 && (1e9..6e9).contains(&found.clock_hz), "{host}");
    }
    for controller in entries("controllers") {
        let found = &site("desktop-4", controller, "gbe", "nvme-2tb").controllers[0];
        assert!(found.cores >= 1 && (1e9..6e9).contains(&found.clock_hz), "{controller}");
    }
    for adapter in entries("adapters") {
        let found = &site("desktop-4", "fas3170", adapter, "nvme-2tb").hosts[0].adapters[0];
        assert!((1e7..2e10).contains(&found.rate_bytes_per_s), "{adapter}");
    }
    assert!(entries("hosts").len() >= 10 && entries("adapters").len() >= 15);
    assert_eq!(entries("devices").len(), 7);
}

/// The figures of a device must together reproduce what its data sheet says as a whole.
#[test]
fn derived_figures_give_back_what_the_data_sheets_say() {
    let device = |name| site("desktop-4", "fas3170", "gbe", name).groups[0].device.clone();
    // Sequential writes: all dies program a page at the same time.
    for (name, bytes_per_s) in
        [("sata-ssd-240gb", 270e6), ("sata-ssd-480gb", 470e6), ("nvme-2tb", 2000e6)]
    {
        let Device::Ssd(ssd) = device(name) else { panic!("{name}") };
        let rate = f64::from(ssd.channels * ssd.page_bytes) / (ssd.program_ns / 1e9);
        assert!((rate / bytes_per_s - 1.0).abs() < 0.01, "{name} {rate}");
        // The host sees whole dies of 16 GiB minus the spare share.
        let flash = f64::from(ssd.channels) * (16u64 << 30) as f64;
        let seen = flash * (1.0 - ssd.spare_share);
        assert!((seen / ssd.capacity_bytes as f64 - 1.0).abs() < 0.01, "{name} {seen}");
    }
    // 4096 random reads in 55.9 s, which are 105 % of the time (Deskstar 7K80, table 14).
    let Device::Hdd(hdd) = device("ide-7200-80gb") else { panic!() };
    let read_ns = hdd.overhead_ns + hdd.seek_average_ns + 30e9 / hdd.rpm;
    assert!((4096.0 * read_ns * 1.05 / 55.9e9 - 1.0).abs() < 0.01, "{read_ns}");
    // 677 557 bytes per track on average (Savvio 10K.4, 4.1).
    let Device::Hdd(hdd) = device("sas-10k-600gb") else { panic!() };
    let track = (hdd.outer_bytes_per_s + hdd.inner_bytes_per_s) / 2.0 * 60.0 / hdd.rpm;
    assert!((track / 677_557.0 - 1.0).abs() < 0.01, "{track}");
}

#[test]
fn every_figure_has_its_source() {
    for (index, line) in library_text().lines().enumerate() {
        let Some((entry, value)) = line.strip_prefix("    ").and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        if entry != "kind" {
            let source = value.split_once(" # ").map(|(_, source)| source.trim());
            assert!(source.is_some_and(|source| source.len() > 8), "line {}: {line}", index + 1);
        }
    }
}
