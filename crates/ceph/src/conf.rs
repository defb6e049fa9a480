//! The configuration file of a cluster, for its daemons and for its clients.
//!
//! Names and meanings: Ceph's documentation, "Configuration reference". What concerns daemons only is
//! in their sections, because clients read the same file.

use std::path::PathBuf;

use crate::directory::Directory;
use crate::options::FailureDomain;
use crate::state::{Osd, State};

/// The text of the file.
pub(crate) fn text(directory: &Directory, state: &State) -> String {
    let mut conf = Conf::default();
    global(&mut conf, state);
    for section in ["mon", "mgr", "osd"] {
        conf.section(section);
        daemon(&mut conf, directory);
        match section {
            "mon" => monitor(&mut conf, directory, state),
            "mgr" => manager(&mut conf, directory),
            _ => osd(&mut conf, directory, state),
        }
    }
    for one in &state.osds {
        conf.section(&format!("osd.{}", one.id));
        store(&mut conf, directory, one);
    }
    conf.section("client.admin");
    conf.set("keyring", directory.admin_keyring().display());
    // A section may occur again; the last value of a name holds.
    for (section, name, value) in &state.options.settings {
        conf.section(section);
        conf.set(name, value);
    }
    conf.0
}

#[derive(Default)]
struct Conf(String);

impl Conf {
    fn section(&mut self, name: &str) {
        let between = if self.0.is_empty() { "" } else { "\n" };
        self.0 += &format!("{between}[{name}]\n");
    }

    fn set(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0 += &format!("{name} = {value}\n");
    }

    fn all(&mut self, settings: &[(&str, &str)]) {
        for (name, value) in settings {
            self.set(name, value);
        }
    }
}

fn global(conf: &mut Conf, state: &State) {
    conf.section("global");
    conf.set("fsid", &state.fsid);
    conf.set("mon_host", format_args!("[{}]", monitor_address(state)));
    conf.all(&[
        ("public_addr", "127.0.0.1"),
        ("cluster_addr", "127.0.0.1"),
        ("ms_bind_ipv6", "false"),
        ("ms_bind_msgr1", "false"),
        ("auth_cluster_required", "cephx"),
        ("auth_service_required", "cephx"),
        ("auth_client_required", "cephx"),
        ("auth_allow_insecure_global_id_reclaim", "false"),
    ]);
    let pool = state.options.pool;
    conf.set("osd_pool_default_size", pool.replicas);
    conf.set("osd_pool_default_min_size", pool.min_replicas);
    conf.set("osd_pool_default_pg_autoscale_mode", "off");
    let domain = match state.options.failure_domain {
        FailureDomain::Osd => 0,
        FailureDomain::Node => 1,
    };
    conf.set("osd_crush_chooseleaf_type", domain);
}

/// The monitor's address, in the second version of the protocol only.
pub(crate) fn monitor_address(state: &State) -> String {
    format!("v2:127.0.0.1:{}/0", state.port)
}

fn daemon(conf: &mut Conf, directory: &Directory) {
    let path = directory.path().display();
    conf.set("log_file", format_args!("{path}/log/$name.log"));
    // Relative, because a socket's path must be short: the daemons run in the directory.
    conf.set("admin_socket", "run/$name.asok");
    conf.set("pid_file", format_args!("{path}/run/$name.pid"));
    conf.set("run_dir", format_args!("{path}/run"));
    conf.set("crash_dir", format_args!("{path}/log"));
    conf.all(&[("log_to_stderr", "false"), ("err_to_stderr", "true")]);
}

fn monitor(conf: &mut Conf, directory: &Directory, _: &State) {
    let path = directory.path().display();
    conf.set("mon_data", format_args!("{path}/$name"));
    conf.set("mon_cluster_log_file", format_args!("{path}/log/cluster.log"));
    conf.all(&[
        // The disk below is shared, and how full it is is no matter of this cluster.
        ("mon_data_avail_warn", "1"),
        ("mon_data_avail_crit", "1"),
        ("mon_allow_pool_size_one", "true"),
        ("mon_allow_pool_delete", "true"),
        ("mon_max_pg_per_osd", "1000"),
        ("mon_warn_on_pool_no_redundancy", "false"),
        ("mon_warn_on_pool_pg_num_not_power_of_two", "false"),
        ("mon_osd_crush_smoke_test", "false"),
        ("mon_osd_min_down_reporters", "1"),
        ("mon_osd_reporter_subtree_level", "osd"),
        ("mon_osd_down_out_interval", "600"),
        // Changes are made known at once: there is one monitor, and nobody to collect them for.
        ("mon_tick_interval", "1"),
        ("mon_mgr_digest_period", "1"),
        ("paxos_min_wait", "0.001"),
        ("paxos_propose_interval", "0.05"),
    ]);
}

fn manager(conf: &mut Conf, directory: &Directory) {
    let path = directory.path().display();
    conf.set("mgr_data", format_args!("{path}/$name"));
    // No module is needed; loading all of them takes seconds and 300 MB.
    conf.set("mgr_module_path", format_args!("{path}/modules"));
    conf.all(&[("mgr_initial_modules", ""), ("mgr_stats_period", "1"), ("mgr_tick_period", "1")]);
}

fn osd(conf: &mut Conf, directory: &Directory, state: &State) {
    let path = directory.path().display();
    conf.set("osd_data", format_args!("{path}/$name"));
    conf.set("keyring", format_args!("{path}/$name/keyring"));
    conf.set("bluestore_cache_size", state.options.cache_memory_bytes);
    conf.all(&[
        ("osd_objectstore", "bluestore"),
        ("bluestore_cache_autotune", "false"),
        // Nothing is benchmarked at the start; capacities are set, not guessed.
        ("osd_mclock_skip_benchmark", "true"),
        ("osd_crush_initial_weight", "1"),
        ("osd_class_update_on_start", "false"),
        ("osd_numa_auto_affinity", "false"),
        ("osd_heartbeat_interval", "1"),
        ("osd_heartbeat_grace", "6"),
        ("osd_mon_report_interval", "1"),
        // Scrubs read everything now and then; `scrub` asks for one.
        ("osd_scrub_begin_hour", "0"),
        ("osd_scrub_end_hour", "0"),
        ("osd_scrub_min_interval", "31536000"),
        ("osd_scrub_max_interval", "31536000"),
        ("osd_deep_scrub_interval", "31536000"),
    ]);
}

fn store(conf: &mut Conf, directory: &Directory, osd: &Osd) {
    let options = &osd.options;
    conf.set("crush_location", format_args!("root=default host={}", options.node));
    conf.set("bluestore_block_size", options.store_bytes);
    if let Some(store) = &options.store {
        conf.set("bluestore_block_path", store.display());
    }
    if options.disk.is_some() {
        let disk = directory.disk(osd.id).join(stormeter_timed_disk::DISK);
        conf.set("bluestore_block_path", disk.display());
    }
    if options.cache_bytes > 0 {
        conf.set("bluestore_block_db_create", "true");
        conf.set("bluestore_block_db_size", options.cache_bytes);
        if let Some(path) = separate_cache(osd) {
            conf.set("bluestore_block_db_path", path.display());
        }
    }
}

/// The file of an OSD's cache device outside the cluster's directory.
pub(crate) fn separate_cache(osd: &Osd) -> Option<PathBuf> {
    let directory = osd.options.cache_directory.as_ref().filter(|_| osd.options.cache_bytes > 0)?;
    Some(directory.join(format!("osd.{}-{}.db", osd.id, osd.uuid)))
}
