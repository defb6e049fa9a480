//! How a cluster is: its health, its OSDs, its pools and how full they are.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::CephError;
use crate::cluster::Cluster;
use crate::command::ceph;
use crate::daemon::{Daemon, running};
use crate::state::State;

/// What `ceph status` says in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// `HEALTH_OK`.
    Ok,
    /// `HEALTH_WARN`.
    Warning,
    /// `HEALTH_ERR`, and what is new to us.
    Error,
}

/// A check that the cluster does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its code, such as `OSD_DOWN`.
    pub code: String,
    /// How bad it is.
    pub severity: Health,
    /// What it says.
    pub message: String,
}

/// An OSD of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OsdStatus {
    /// Its number.
    pub id: u32,
    /// The node it belongs to.
    pub node: String,
    /// The id of its process, if it runs.
    pub pid: Option<u32>,
    /// Whether it takes part.
    pub up: bool,
    /// Whether data is placed on it.
    #[serde(rename = "in")]
    pub is_in: bool,
    /// The size of its store, in bytes.
    pub total_bytes: u64,
    /// What is used of it, in bytes.
    pub used_bytes: u64,
    /// The placement groups that have a copy on it.
    pub placement_groups: u64,
}

/// A pool of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolStatus {
    /// Its name.
    pub name: String,
    /// Copies of each object (`size`).
    pub replicas: u64,
    /// Copies that must be there for I/O (`min_size`).
    pub min_replicas: u64,
    /// Its placement groups.
    pub placement_groups: u64,
    /// What is stored in it, in bytes, copies not counted.
    pub stored_bytes: u64,
    /// What more can be stored, in bytes.
    pub available_bytes: u64,
    /// Its quota, in bytes; 0 for none.
    pub quota_bytes: u64,
    /// Whether it is full: nothing can be written.
    pub full: bool,
}

/// The state of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// In one word.
    pub health: Health,
    /// The reasons, without those that are muted.
    pub checks: Vec<Check>,
    /// Placement groups by their state, such as `active+clean`.
    pub placement_groups: BTreeMap<String, u64>,
    /// The OSDs, by their numbers.
    pub osds: Vec<OsdStatus>,
    /// The pools.
    pub pools: Vec<PoolStatus>,
    /// Flags of the cluster, such as `pauserd` or `noout`.
    pub flags: Vec<String>,
    /// Copies of objects that are missing.
    pub degraded_objects: u64,
    /// Copies of objects that are not yet where they belong.
    pub misplaced_objects: u64,
    /// All OSDs' stores, in bytes.
    pub total_bytes: u64,
    /// What is used of them, in bytes.
    pub used_bytes: u64,
}

impl Status {
    /// Whether all placement groups are active and clean.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.placement_groups.is_empty()
            && self.placement_groups.keys().all(|state| state == "active+clean")
    }
}

impl Cluster {
    /// How the cluster is now.
    ///
    /// # Errors
    /// The monitor has died, or does not answer.
    pub fn status(&self) -> Result<Status, CephError> {
        const QUESTIONS: [&str; 4] = ["status", "osd dump", "osd df", "df"];
        let state = State::read(&self.directory)?;
        let daemon = Daemon::Monitor;
        if self.process(daemon)?.is_none() {
            let daemon = daemon.name();
            return Err(CephError::Died { log: self.directory.tail(&daemon), daemon });
        }
        let answers = ceph(&self.directory, &QUESTIONS.map(str::to_owned))?;
        let [status, dump, usage, df] = answers.as_slice() else {
            let what = format!("{} answers", answers.len());
            return Err(CephError::Answer { command: QUESTIONS.join("; "), what });
        };
        let processes = running(&self.directory)?;
        let osds = state.osds.iter().map(|osd| {
            let pid = processes.iter().find(|process| process.daemon == Daemon::Osd(osd.id));
            osd_status(osd.id, &osd.options.node, pid.map(|process| process.pid), dump, usage)
        });
        let groups = &status["pgmap"];
        Ok(Status {
            health: health(&status["health"]["status"]),
            checks: checks(&status["health"]["checks"]),
            placement_groups: list(&groups["pgs_by_state"])
                .map(|state| (text(&state["state_name"]), number(&state["count"])))
                .collect(),
            osds: osds.collect(),
            pools: list(&dump["pools"]).map(|pool| pool_status(pool, df)).collect(),
            flags: flags(&dump["flags"]),
            degraded_objects: number(&groups["degraded_objects"]),
            misplaced_objects: number(&groups["misplaced_objects"]),
            total_bytes: number(&groups["bytes_total"]),
            used_bytes: number(&groups["bytes_used"]),
        })
    }
}

fn osd_status(id: u32, node: &str, pid: Option<u32>, dump: &Value, usage: &Value) -> OsdStatus {
    let null = Value::Null;
    let of = |osds: &Value, name: &str| {
        list(osds).find(|osd| osd[name].as_u64() == Some(u64::from(id))).cloned()
    };
    let (dump, usage) = (of(&dump["osds"], "osd"), of(&usage["nodes"], "id"));
    let (dump, usage) = (dump.as_ref().unwrap_or(&null), usage.as_ref().unwrap_or(&null));
    OsdStatus {
        id,
        node: node.to_owned(),
        pid,
        up: number(&dump["up"]) == 1,
        is_in: number(&dump["in"]) == 1,
        total_bytes: 1024 * number(&usage["kb"]),
        used_bytes: 1024 * number(&usage["kb_used"]),
        placement_groups: number(&usage["pgs"]),
    }
}

fn pool_status(pool: &Value, df: &Value) -> PoolStatus {
    let name = text(&pool["pool_name"]);
    let usage = list(&df["pools"]).find(|one| one["name"] == pool["pool_name"]);
    let stats = usage.map_or(&Value::Null, |one| &one["stats"]);
    PoolStatus {
        replicas: number(&pool["size"]),
        min_replicas: number(&pool["min_size"]),
        placement_groups: number(&pool["pg_num"]),
        stored_bytes: number(&stats["stored"]),
        available_bytes: number(&stats["max_avail"]),
        quota_bytes: number(&pool["quota_max_bytes"]),
        full: flags(&pool["flags_names"]).iter().any(|flag| flag == "full"),
        name,
    }
}

fn health(word: &Value) -> Health {
    match word.as_str() {
        Some("HEALTH_OK") => Health::Ok,
        Some("HEALTH_WARN") => Health::Warning,
        _ => Health::Error,
    }
}

fn checks(checks: &Value) -> Vec<Check> {
    let checks = checks.as_object().into_iter().flatten();
    checks
        .filter(|(_, check)| check["muted"] != true)
        .map(|(code, check)| Check {
            code: code.clone(),
            severity: health(&check["severity"]),
            message: text(&check["summary"]["message"]),
        })
        .collect()
}

fn flags(names: &Value) -> Vec<String> {
    // Those that say how the cluster was made, not what holds it up.
    const USUAL: [&str; 4] =
        ["sortbitwise", "recovery_deletes", "purged_snapdirs", "pglog_hardlimit"];
    let names = names.as_str().unwrap_or_default().split(',');
    names.filter(|name| !name.is_empty() && !USUAL.contains(name)).map(str::to_owned).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_muted_is_no_check() {
        let found = checks(&json!({
            "MGR_MODULE_ERROR": { "severity": "HEALTH_ERR", "summary": { "message": "m" }, "muted": true },
            "OSD_DOWN": { "severity": "HEALTH_WARN", "summary": { "message": "1 osds down" } },
        }));
        let check = Check {
            code: "OSD_DOWN".into(),
            severity: Health::Warning,
            message: "1 osds down".into(),
        };
        assert_eq!(found, [check]);
    }

    #[test]
    fn only_flags_that_hold_something_up_are_listed() {
        assert_eq!(flags(&json!("sortbitwise,pauserd,pausewr")), ["pauserd", "pausewr"]);
        assert!(flags(&Value::Null).is_empty());
    }

    #[test]
    fn clean_means_all_of_them_and_at_least_one() {
        let status = |states: &[&str]| Status {
            health: Health::Ok,
            checks: Vec::new(),
            placement_groups: states.iter().map(|state| ((*state).to_owned(), 1)).collect(),
            osds: Vec::new(),
            pools: Vec::new(),
            flags: Vec::new(),
            degraded_objects: 0,
            misplaced_objects: 0,
            total_bytes: 0,
            used_bytes: 0,
        };
        assert!(status(&["active+clean"]).is_clean());
        assert!(!status(&["active+clean", "active+undersized"]).is_clean());
        assert!(!status(&[]).is_clean());
    }
}
