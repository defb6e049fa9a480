//! Small sites for trying out a machine: used by tests and benchmarks.

use stormeter_site::*;

/// A queueing station in a host: CPU at no cost, one device with a number of servers.
pub fn one_device(device: Device) -> Site {
    Site {
        name: "one device".into(),
        hosts: vec![HostGroup {
            name: "host".into(),
            count: 1,
            cores: 1,
            clock_hz: 1e9,
            vms_per_host: None,
            vm_path_cycles: 0.0,
            page_cache: None,
            adapters: vec![],
        }],
        stacks: vec![Stack {
            name: "local".into(),
            protocol: Protocol::Local,
            cost: Cost::default(),
            path_switch_cycles: 0.0,
            options: ProtocolOptions::default(),
        }],
        groups: vec![DiskGroup {
            name: "disk".into(),
            raid: Raid::Raid0,
            disks: 1,
            groups: 1,
            spares: 0,
            stripe_bytes: 1 << 40,
            rebuild_bytes_per_s: None,
            device,
        }],
        datastores: vec![SiteDatastore {
            name: "local".into(),
            also: vec![],
            hosts: 0,
            stack: 0,
            adapter: None,
            policy: PathPolicy::Fixed,
            networks: vec![],
            target: Target::Group(0),
            placement: Placement::Spread,
        }],
        ..Site::default()
    }
}

/// Eight hosts, two controllers with 80 disks, connected by Fibre Channel.
pub fn fibre_channel() -> Site {
    let port = |name: &str, count| Adapter {
        name: name.into(),
        kind: PortKind::FibreChannel { credits: 16 },
        rate_bytes_per_s: 425e6,
        count,
        aggregation: Aggregation::ActiveBackup,
        latency_ns: 5000.0,
        coalescing: Coalescing::default(),
    };
    let cost = Cost {
        per_read_cycles: 60_000.0,
        per_write_cycles: 60_000.0,
        per_byte_cycles: 0.5,
        per_packet_cycles: 2000.0,
        per_batch_cycles: 0.0,
    };
    let mut site = one_device(Device::Queue(Queue {
        servers: 1,
        read_ns: 5e6,
        write_ns: 2e6,
        per_byte_ns: 10.0,
        per_written_byte_ns: 10.0,
        shared_per_byte_ns: 0.0,
        shared_per_written_byte_ns: 0.0,
        shared_per_io_ns: 0.0,
        shared_per_write_ns: 0.0,
        spread: Spread::Exponential,
        service: Service::Single,
        write_cache: None,
        flush_ns: 0.0,
    }));
    site.hosts[0].count = 8;
    site.hosts[0].cores = 8;
    site.hosts[0].clock_hz = 2.5e9;
    site.hosts[0].adapters = vec![port("hba", 2)];
    site.stacks[0].protocol = Protocol::Fc;
    site.stacks[0].cost = cost;
    site.groups[0].disks = 16;
    site.groups[0].groups = 5;
    site.groups[0].stripe_bytes = 65536;
    site.networks = vec![Network {
        name: "fabric".into(),
        rate_bytes_per_s: None,
        latency_ns: 2000.0,
        buffer_bytes: None,
        label_bytes: 0,
        failover_ns: 0,
    }];
    site.controllers = vec![Controller {
        name: "filer".into(),
        count: 2,
        cores: 4,
        clock_hz: 2.6e9,
        ports: vec![port("fc", 2)],
        costs: vec![(Protocol::Fc, cost)],
        cache: Cache {
            read_bytes: 0,
            hits: Hits::WorkingSet,
            write: WriteCache::Through,
            layout: Layout::InPlace,
        },
        group: 0,
    }];
    site.datastores[0].adapter = Some(0);
    site.datastores[0].networks = vec![0];
    site.datastores[0].target = Target::Controller { controller: 0, port: 0 };
    site
}
