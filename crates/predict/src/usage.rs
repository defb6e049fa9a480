//! The usage of a machine's components in the terms of a measured trial: CPU time, and host activity over time.

use stormeter_site::{Site, SiteDatastore, Target};
use stormeter_trial::{
    ComponentKind, ComponentUse, CpuUsage, HostCpu, MonitorRow, Sample, TransferSink,
};

/// Points kept of a component over time: enough for a chart.
const MOST_POINTS: usize = 60;

/// CPU time in the window. The host is all hosts of the datastore's group together, whether or not a VM runs on them;
/// all of its time is the initiator's. The target is the controllers.
pub(crate) fn cpu(
    site: &Site,
    datastore: &SiteDatastore,
    sample: &Sample,
    uses: &[ComponentUse],
) -> CpuUsage {
    let hosts = &site.hosts[datastore.hosts];
    let cpus = hosts.count.saturating_mul(hosts.cores);
    let capacity_ns = sample.window_ns.saturating_mul(u64::from(cpus));
    let of = |kind| uses.iter().filter(move |one| one.kind == kind);
    let sum = |kind| of(kind).map(|one| one.busy_ns).sum::<u64>();
    let of_hosts = of_hosts(site, datastore, uses);
    let busy_ns = of_hosts.map(|one| one.busy_ns).sum::<u64>().min(capacity_ns);
    let controllers = of(ComponentKind::ControllerCpu).count() > 0;
    CpuUsage {
        threads_system_ns: busy_ns,
        process_ns: busy_ns,
        host: HostCpu {
            system_ns: busy_ns,
            idle_ns: capacity_ns - busy_ns,
            cpus,
            ..HostCpu::default()
        },
        target_ns: controllers.then(|| sum(ComponentKind::ControllerCpu)),
        ..CpuUsage::default()
    }
}

/// The CPUs of the hosts on which VMs run, without those of transfer clients.
fn of_hosts<'a>(
    site: &Site,
    datastore: &SiteDatastore,
    uses: &'a [ComponentUse],
) -> impl Iterator<Item = &'a ComponentUse> + use<'a> {
    let name = format!("{} cpu", site.hosts[datastore.hosts].name);
    let is_host = move |one: &&ComponentUse| one.kind == ComponentKind::HostCpu && one.name == name;
    uses.iter().filter(is_host)
}

/// The hosts over time, from the start of the window, which is `ramp_ns` after that of the trial. Networks and disks
/// carry the payload of the requests that ended in the interval; transfers use the network, whether or not their data
/// is kept on a disk.
pub(crate) fn monitor(
    (site, datastore): (&Site, &SiteDatastore),
    transfer: Option<TransferSink>,
    sample: &Sample,
    uses: &[ComponentUse],
    ramp_ns: u64,
) -> Vec<MonitorRow> {
    let hosts = &site.hosts[datastore.hosts];
    let is_local = matches!(datastore.target, Target::Group(_));
    let cpus = f64::from(hosts.count) * f64::from(hosts.cores);
    let busy = |interval: usize| -> f64 {
        let busy = of_hosts(site, datastore, uses).filter_map(|one| {
            let cores = f64::from(one.units) * f64::from(hosts.cores);
            Some(one.series.get(interval)? * cores / cpus)
        });
        busy.sum::<f64>().min(1.0)
    };
    let rows = sample.intervals.iter().enumerate().map(|(interval, row)| {
        let rate = |bytes: u64| bytes as f64 * 1e9 / row.length_ns.max(1) as f64;
        let (read, written) = (rate(row.reads.bytes), rate(row.writes.bytes));
        let mut monitor = MonitorRow {
            at_ns: ramp_ns + row.start_ns,
            length_ns: row.length_ns,
            cpu_busy: busy(interval),
            ..MonitorRow::default()
        };
        match transfer {
            Some(TransferSink::Memory) => {}
            _ if is_local => {
                (monitor.disk_read_bytes_per_s, monitor.disk_write_bytes_per_s) = (read, written);
            }
            _ => {
                monitor.network_receive_bytes_per_s = read;
                monitor.network_transmit_bytes_per_s = written;
            }
        }
        if transfer.is_some() {
            monitor.network_receive_bytes_per_s += written;
            monitor.network_transmit_bytes_per_s += read;
        }
        monitor
    });
    rows.collect()
}

/// Reduces the points of components over time to those kept, as means of neighbours.
pub(crate) fn thinned(mut uses: Vec<ComponentUse>) -> Vec<ComponentUse> {
    for one in &mut uses {
        let group = one.series.len().div_ceil(MOST_POINTS).max(1);
        let mean = |chunk: &[f64]| chunk.iter().sum::<f64>() / chunk.len() as f64;
        one.series = one.series.chunks(group).map(mean).collect();
    }
    uses
}
