//! Pools, their limits, and the flags that stop a cluster from writing.

use crate::CephError;
use crate::cluster::Cluster;
use crate::command::ceph;
use crate::options::{FailureDomain, PoolOptions, check_places};
use crate::state::State;

/// The commands that make a pool for block devices, placed by a rule or by that of all pools.
pub(crate) fn create(name: &str, options: &PoolOptions, rule: &str) -> Vec<String> {
    let PoolOptions { replicas, min_replicas, placement_groups: count } = *options;
    let sure = if replicas == 1 { " --yes-i-really-mean-it" } else { "" };
    vec![
        format!("osd pool create {name} {count} {count} replicated {rule} --autoscale-mode=off"),
        format!("osd pool set {name} size {replicas}{sure}"),
        format!("osd pool set {name} min_size {min_replicas}"),
        // What `rbd pool init` does, besides a test write.
        format!("osd pool application enable {name} rbd"),
    ]
}

impl Cluster {
    /// Creates a pool for block devices.
    ///
    /// # Errors
    /// The name is invalid, or the monitor refuses the pool.
    pub fn create_pool(&self, name: &str, options: &PoolOptions) -> Result<(), CephError> {
        check_name(name)?;
        options.check()?;
        ceph(&self.directory, &create(name, options, "")).map(drop)
    }

    /// Creates a pool on some of the OSDs only, as if the cluster had no others.
    ///
    /// # Errors
    /// The name is invalid, there is no such OSD, or there are fewer OSDs, or nodes if copies may not share one, than
    /// replicas; or the monitor refuses the pool.
    pub fn create_pool_on(
        &self,
        name: &str,
        options: &PoolOptions,
        osds: &[u32],
        domain: FailureDomain,
    ) -> Result<(), CephError> {
        check_name(name)?;
        options.check()?;
        let mut state = State::read(&self.directory)?;
        let mut lines = vec![format!("osd crush add-bucket {name} root")];
        let mut nodes = Vec::new();
        for id in osds {
            let node = &state.osd(*id)?.options.node;
            // The name of a bucket is unique, and an OSD may be in several.
            lines.push(format!("osd crush add {id} 1 root={name} host={name}-{node}"));
            nodes.push(node.clone());
        }
        nodes.sort_unstable();
        nodes.dedup();
        let (kind, places) = match domain {
            FailureDomain::Osd => ("osd", osds.len()),
            FailureDomain::Node => ("host", nodes.len()),
        };
        check_places(options.replicas, domain, places)?;
        lines.push(format!("osd crush rule create-replicated {name} {name} {kind}"));
        lines.extend(create(name, options, name));
        ceph(&self.directory, &lines).map(drop)
    }

    /// Removes a pool and all that is in it.
    ///
    /// # Errors
    /// The name is invalid, or the monitor refuses.
    pub fn remove_pool(&self, name: &str) -> Result<(), CephError> {
        check_name(name)?;
        let line = format!("osd pool delete {name} {name} --yes-i-really-really-mean-it");
        ceph(&self.directory, &[line]).map(drop)
    }

    /// Changes how many copies of each object there are, and how many must be there for I/O.
    ///
    /// # Errors
    /// The numbers are impossible, or the monitor refuses them.
    pub fn set_replicas(&self, pool: &str, all: u32, at_least: u32) -> Result<(), CephError> {
        check_name(pool)?;
        PoolOptions { replicas: all, min_replicas: at_least, placement_groups: 1 }.check()?;
        let sure = if all == 1 { " --yes-i-really-mean-it" } else { "" };
        let lines = [
            // The smaller number may not exceed the larger one, at no time.
            format!("osd pool set {pool} min_size 1"),
            format!("osd pool set {pool} size {all}{sure}"),
            format!("osd pool set {pool} min_size {at_least}"),
        ];
        ceph(&self.directory, &lines).map(drop)
    }

    /// Limits the bytes of a pool; 0 removes the limit. Writing into a full pool stalls or fails, as
    /// the client wants.
    ///
    /// # Errors
    /// The name is invalid, or the monitor refuses.
    pub fn set_quota(&self, pool: &str, bytes: u64) -> Result<(), CephError> {
        check_name(pool)?;
        let line = format!("osd pool set-quota {pool} max_bytes {bytes}");
        ceph(&self.directory, &[line]).map(drop)
    }

    /// Sets how full an OSD may be, as shares of its size: from `near` on it is a warning, from
    /// `full` on nothing is written. Ceph's defaults are 0.85 and 0.95.
    ///
    /// # Errors
    /// The monitor refuses them.
    pub fn set_full_ratios(&self, near: f64, full: f64) -> Result<(), CephError> {
        let between = f64::midpoint(near, full);
        let lines = [
            format!("osd set-nearfull-ratio {near}"),
            format!("osd set-backfillfull-ratio {between}"),
            format!("osd set-full-ratio {full}"),
        ];
        ceph(&self.directory, &lines).map(drop)
    }

    /// Stops all reads and writes of clients, or lets them continue: requests wait meanwhile.
    ///
    /// # Errors
    /// The monitor does not answer.
    pub fn pause(&self, paused: bool) -> Result<(), CephError> {
        self.set_flag("pause", paused)
    }

    /// Sets or removes a flag of the cluster, such as `pausewr`, `noout`, `norecover` or `noscrub`.
    ///
    /// # Errors
    /// There is no such flag, or the monitor does not answer.
    pub fn set_flag(&self, flag: &str, set: bool) -> Result<(), CephError> {
        check_name(flag)?;
        let verb = if set { "set" } else { "unset" };
        ceph(&self.directory, &[format!("osd {verb} {flag}")]).map(drop)
    }

    /// Sends commands to the monitor, each as it would be typed after `ceph`, and returns the answers of those that
    /// give JSON.
    ///
    /// # Errors
    /// The monitor does not answer, or refuses one of them.
    pub fn command(&self, lines: &[&str]) -> Result<Vec<serde_json::Value>, CephError> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        ceph(&self.directory, &lines)
    }
}

fn check_name(name: &str) -> Result<(), CephError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(CephError::Options {
        what: format!("invalid name '{name}': expected letters, digits, '_', '-' and '.'"),
    })
}
