//! What the monitors say of a cluster: whether it is whole, what it does besides serving, and what a pool promises.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Deserialize;

use crate::cluster::Cluster;
use crate::error::RbdError;

/// The state of a cluster at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterStatus {
    /// Placement groups, those that serve, and those that are active and clean.
    pub groups: u32,
    /// See `groups`.
    pub groups_active: u32,
    /// See `groups`.
    pub groups_clean: u32,
    /// Placement groups that copy data: recovery or backfill.
    pub groups_recovering: u32,
    /// Placement groups that are scrubbed.
    pub groups_scrubbed: u32,
    /// Storage daemons (OSDs).
    pub osds: u32,
    /// Those that are up.
    pub osds_up: u32,
    /// A storage daemon or a pool is nearly full.
    pub is_near_full: bool,
    /// A storage daemon or a pool is full: what needs room is refused.
    pub is_full: bool,
    /// Clients' reads wait (flag `pauserd`).
    pub reads_paused: bool,
    /// Clients' writes wait (flag `pausewr`).
    pub writes_paused: bool,
    /// Codes of the cluster's complaints, such as `OSD_DOWN`, sorted.
    pub complaints: Vec<String>,
}

/// What a pool promises.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolFacts {
    /// Copies of each object.
    pub size: u32,
    /// Copies without which the pool does not serve.
    pub min_size: u32,
    /// Placement groups.
    pub groups: u32,
    /// It is erasure-coded.
    pub is_erasure_coded: bool,
}

/// Room in a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolRoom {
    /// Bytes that are stored in it, each counted once.
    pub stored_bytes: u64,
    /// Bytes that can still be stored in it, as the cluster estimates.
    pub free_bytes: u64,
}

#[derive(Deserialize)]
struct Usage {
    pools: Vec<PoolUsage>,
}

#[derive(Deserialize)]
struct PoolUsage {
    name: String,
    stats: PoolStats,
}

#[derive(Deserialize)]
struct PoolStats {
    stored: u64,
    max_avail: u64,
}

#[derive(Deserialize)]
struct Status {
    health: Health,
    osdmap: OsdMap,
    pgmap: PgMap,
}

#[derive(Deserialize)]
struct Health {
    checks: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct OsdMap {
    num_osds: u32,
    num_up_osds: u32,
}

#[derive(Deserialize)]
struct PgMap {
    #[serde(default)]
    pgs_by_state: Vec<PgState>,
    num_pgs: u32,
}

#[derive(Deserialize)]
struct PgState {
    state_name: String,
    count: u32,
}

#[derive(Deserialize)]
struct OsdDump {
    pools: Vec<Pool>,
}

#[derive(Deserialize)]
struct OsdAddresses {
    osds: Vec<Osd>,
}

#[derive(Deserialize)]
struct Osd {
    /// 1: up.
    up: u32,
    public_addrs: Addresses,
}

#[derive(Deserialize)]
struct Addresses {
    addrvec: Vec<Address>,
}

#[derive(Deserialize)]
struct Address {
    addr: String,
}

#[derive(Deserialize)]
struct Pool {
    pool_name: String,
    /// 1: replicated; 3: erasure-coded (`pg_pool_t`).
    #[serde(rename = "type")]
    kind: u32,
    size: u32,
    min_size: u32,
    pg_num: u32,
}

impl Cluster {
    /// The state of the cluster now.
    ///
    /// # Errors
    /// The monitors do not answer, or the user may not ask them.
    pub fn status(&self) -> Result<ClusterStatus, RbdError> {
        let command = r#"{"prefix": "status", "format": "json"}"#;
        status(&self.ask(command)?).ok_or_else(|| RbdError::Answer { command: command.into() })
    }

    /// What the pool promises.
    ///
    /// # Errors
    /// As [`Cluster::status`].
    pub fn pool_facts(&self) -> Result<PoolFacts, RbdError> {
        let command = r#"{"prefix": "osd dump", "format": "json"}"#;
        let answer = self.ask(command)?;
        pool(&answer, self.pool()).ok_or_else(|| RbdError::Answer { command: command.into() })
    }

    /// Where the storage daemons that are up serve clients now.
    ///
    /// # Errors
    /// As [`Cluster::status`].
    pub fn osd_addresses(&self) -> Result<Vec<SocketAddr>, RbdError> {
        let command = r#"{"prefix": "osd dump", "format": "json"}"#;
        let answer = self.ask(command)?;
        addresses(&answer).ok_or_else(|| RbdError::Answer { command: command.into() })
    }

    /// Whether the pool is still there.
    ///
    /// # Errors
    /// As [`Cluster::status`].
    pub fn has_pool(&self) -> Result<bool, RbdError> {
        let command = r#"{"prefix": "osd pool ls", "format": "json"}"#;
        let names = serde_json::from_slice::<Vec<String>>(&self.ask(command)?);
        let names = names.map_err(|_| RbdError::Answer { command: command.into() })?;
        Ok(names.iter().any(|name| name == self.pool()))
    }

    /// Room in the pool.
    ///
    /// # Errors
    /// As [`Cluster::status`].
    pub fn room(&self) -> Result<PoolRoom, RbdError> {
        let command = r#"{"prefix": "df", "format": "json"}"#;
        let answer = self.ask(command)?;
        room(&answer, self.pool()).ok_or_else(|| RbdError::Answer { command: command.into() })
    }
}

fn room(answer: &[u8], name: &str) -> Option<PoolRoom> {
    let usage: Usage = serde_json::from_slice(answer).ok()?;
    let pool = usage.pools.into_iter().find(|pool| pool.name == name)?;
    Some(PoolRoom { stored_bytes: pool.stats.stored, free_bytes: pool.stats.max_avail })
}

fn status(answer: &[u8]) -> Option<ClusterStatus> {
    let Status { health, osdmap, pgmap } = serde_json::from_slice(answer).ok()?;
    // A state is a list of words: `active+undersized+degraded`.
    let groups_with = |wanted: &[&str]| {
        let has = |state: &&PgState| {
            state.state_name.split('+').any(|word| wanted.iter().any(|it| word.starts_with(it)))
        };
        pgmap.pgs_by_state.iter().filter(has).map(|state| state.count).sum()
    };
    // Whole words: a state may begin with `activating`.
    let groups_that_are = |wanted: &[&str]| {
        let is_so = |state: &&PgState| {
            let words: Vec<&str> = state.state_name.split('+').collect();
            wanted.iter().all(|word| words.contains(word))
        };
        pgmap.pgs_by_state.iter().filter(is_so).map(|state| state.count).sum()
    };
    // `pauserd,pausewr,noout flag(s) set`
    let flags = health.checks.get("OSDMAP_FLAGS").map(|check| &check["summary"]["message"]);
    let flags = flags.and_then(serde_json::Value::as_str).unwrap_or_default();
    let is_set = |flag: &str| flags.split([',', ' ']).any(|word| word == flag);
    let complaints: Vec<String> = health.checks.keys().cloned().collect();
    let complains = |of: &[&str]| complaints.iter().any(|code| of.contains(&code.as_str()));
    Some(ClusterStatus {
        groups: pgmap.num_pgs,
        groups_active: groups_that_are(&["active"]),
        groups_clean: groups_that_are(&["active", "clean"]),
        groups_recovering: groups_with(&["recover", "backfill"]),
        groups_scrubbed: groups_with(&["scrubbing"]),
        osds: osdmap.num_osds,
        osds_up: osdmap.num_up_osds,
        is_near_full: complains(&["OSD_NEARFULL", "POOL_NEARFULL", "POOL_NEAR_FULL"]),
        is_full: complains(&["OSD_FULL", "POOL_FULL"]),
        reads_paused: is_set("pauserd"),
        writes_paused: is_set("pausewr"),
        complaints,
    })
}

fn addresses(answer: &[u8]) -> Option<Vec<SocketAddr>> {
    let dump: OsdAddresses = serde_json::from_slice(answer).ok()?;
    let up = dump.osds.into_iter().filter(|osd| osd.up == 1);
    let addresses = up.flat_map(|osd| osd.public_addrs.addrvec);
    Some(addresses.filter_map(|address| address.addr.parse().ok()).collect())
}

fn pool(answer: &[u8], name: &str) -> Option<PoolFacts> {
    let dump: OsdDump = serde_json::from_slice(answer).ok()?;
    let pool = dump.pools.into_iter().find(|pool| pool.pool_name == name)?;
    Some(PoolFacts {
        size: pool.size,
        min_size: pool.min_size,
        groups: pool.pg_num,
        is_erasure_coded: pool.kind == 3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_counted_by_their_words() {
        let answer = serde_json::json!({
            "health": {"status": "HEALTH_WARN", "checks": {
                "POOL_NEAR_FULL": {},
                "OSDMAP_FLAGS": {"summary": {"message": "pausewr,noout flag(s) set"}},
            }},
            "osdmap": {"num_osds": 3, "num_up_osds": 2},
            "pgmap": {"num_pgs": 33, "pgs_by_state": [
                {"state_name": "active+clean", "count": 20},
                {"state_name": "active+clean+scrubbing+deep", "count": 2},
                {"state_name": "active+undersized+degraded+remapped+backfill_wait", "count": 5},
                {"state_name": "active+recovering+degraded", "count": 4},
                {"state_name": "stale+peering", "count": 2},
            ]},
        });
        let expected = ClusterStatus {
            groups: 33,
            groups_active: 31,
            groups_clean: 22,
            groups_recovering: 9,
            groups_scrubbed: 2,
            osds: 3,
            osds_up: 2,
            is_near_full: true,
            is_full: false,
            reads_paused: false,
            writes_paused: true,
            complaints: vec!["OSDMAP_FLAGS".into(), "POOL_NEAR_FULL".into()],
        };
        assert_eq!(status(answer.to_string().as_bytes()), Some(expected));
        assert_eq!(status(b"{}"), None);
    }

    #[test]
    fn daemons_that_are_up_have_addresses() {
        let osd = |up: u32, addr: &str| serde_json::json!({"osd": 0, "up": up, "public_addrs": {"addrvec": [{"type": "v2", "addr": addr, "nonce": 7}]}});
        let answer = serde_json::json!({"pools": [], "osds": [osd(1, "127.0.0.1:6800"), osd(0, "0.0.0.0:0"), osd(1, "[::1]:6801")]});
        let found = addresses(answer.to_string().as_bytes());
        let expected = ["127.0.0.1:6800", "[::1]:6801"].map(|text| text.parse().unwrap());
        assert_eq!(found, Some(expected.into()));
        assert_eq!(addresses(b"{}"), None);
    }

    #[test]
    fn a_pool_is_found_by_its_name() {
        let one = |name: &str, kind: u32, size: u32| serde_json::json!({"pool_name": name, "type": kind, "size": size, "min_size": 1, "pg_num": 32});
        let answer =
            serde_json::json!({"pools": [one(".mgr", 1, 1), one("vm", 1, 2), one("ec", 3, 4)]});
        let answer = answer.to_string();
        let found = |name| pool(answer.as_bytes(), name);
        let vm = PoolFacts { size: 2, min_size: 1, groups: 32, is_erasure_coded: false };
        assert_eq!(found("vm"), Some(vm));
        assert!(found("ec").unwrap().is_erasure_coded);
        assert_eq!(found("rbd"), None);
    }
}
