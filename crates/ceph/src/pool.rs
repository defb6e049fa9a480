//! Pools, their limits, and the flags that stop a cluster from writing.

use crate::CephError;
use crate::cluster::Cluster;
use crate::command::ceph;
use crate::options::PoolOptions;

/// The commands that make a pool for block devices.
pub(crate) fn create(name: &str, options: &PoolOptions) -> Vec<String> {
    let PoolOptions { replicas, min_replicas, placement_groups: count } = *options;
    let sure = if replicas == 1 { " --yes-i-really-mean-it" } else { "" };
    vec![
        format!("osd pool create {name} {count} {count} replicated --autoscale-mode=off"),
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
        ceph(&self.directory, &create(name, options)).map(drop)
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
