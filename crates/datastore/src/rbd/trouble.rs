//! What keeps a cluster from serving as it would at rest, from what its monitors say.

use stormeter_disk::{ClusterTrouble, Incident, StorageEvent};
use stormeter_rbd::{Cluster, ClusterStatus};

/// The troubles of a cluster now. That it cannot be asked is one, too.
pub(super) fn troubles(cluster: &Cluster) -> Vec<ClusterTrouble> {
    match cluster.status() {
        Ok(status) => of_status(&status),
        Err(error) => vec![ClusterTrouble::Silent { said: error.to_string().into() }],
    }
}

/// The same after operations have failed: it is asked, too, whether the pool is still there.
pub(super) fn troubles_after_failures(cluster: &Cluster) -> Vec<ClusterTrouble> {
    let mut all = troubles(cluster);
    if cluster.has_pool() == Ok(false) {
        all.push(ClusterTrouble::NoPool);
    }
    all
}

/// What explains that the cluster did not serve a request, in words; empty if nothing does.
pub(super) fn explanation(cluster: &Cluster) -> &'static str {
    let Ok(status) = cluster.status() else { return "; its monitors do not answer either" };
    match status {
        status if status.reads_paused || status.writes_paused => {
            "; it was told to let clients wait: `ceph osd unpause` ends that"
        }
        status if status.is_full => "; it is full: remove something, or raise the pool's quota",
        status if status.groups_active < status.groups => {
            "; some of its placement groups are not active: too few OSDs are up (`ceph health detail`)"
        }
        _ => "",
    }
}

fn of_status(status: &ClusterStatus) -> Vec<ClusterTrouble> {
    let down = status.osds.saturating_sub(status.osds_up);
    let unclean = status.groups.saturating_sub(status.groups_clean);
    let (reads, writes) = (status.reads_paused, status.writes_paused);
    let all = [
        (down > 0).then_some(ClusterTrouble::DaemonsDown { down, of: status.osds }),
        (unclean > 0).then_some(ClusterTrouble::NotClean { groups: unclean, of: status.groups }),
        (status.groups_recovering > 0)
            .then_some(ClusterTrouble::Recovers { groups: status.groups_recovering }),
        (status.groups_scrubbed > 0)
            .then_some(ClusterTrouble::Scrubs { groups: status.groups_scrubbed }),
        status.is_near_full.then_some(ClusterTrouble::NearFull),
        status.is_full.then_some(ClusterTrouble::Full),
        (reads || writes).then_some(ClusterTrouble::Paused { reads, writes }),
    ];
    all.into_iter().flatten().collect()
}

/// Troubles seen before and after a trial, as events: one that was seen twice is one event.
pub(super) fn incidents(seen: Vec<ClusterTrouble>) -> Vec<Incident> {
    let mut incidents: Vec<Incident> = Vec::new();
    for trouble in seen {
        let incident = Incident::new(StorageEvent::Cluster { trouble });
        if !incidents.contains(&incident) {
            incidents.push(incident);
        }
    }
    incidents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_at_rest_has_none() {
        let rest = ClusterStatus {
            groups: 33,
            groups_clean: 33,
            osds: 3,
            osds_up: 3,
            complaints: vec!["POOL_NO_REDUNDANCY".into()],
            ..ClusterStatus::default()
        };
        assert_eq!(of_status(&rest), []);
        let ill = ClusterStatus {
            groups_clean: 30,
            groups_recovering: 2,
            groups_scrubbed: 1,
            osds_up: 2,
            is_near_full: true,
            is_full: true,
            writes_paused: true,
            ..rest
        };
        let expected = [
            ClusterTrouble::DaemonsDown { down: 1, of: 3 },
            ClusterTrouble::NotClean { groups: 3, of: 33 },
            ClusterTrouble::Recovers { groups: 2 },
            ClusterTrouble::Scrubs { groups: 1 },
            ClusterTrouble::NearFull,
            ClusterTrouble::Full,
            ClusterTrouble::Paused { reads: false, writes: true },
        ];
        assert_eq!(of_status(&ill), expected);
    }

    #[test]
    fn what_was_seen_before_and_after_is_one_event() {
        let seen = vec![ClusterTrouble::NearFull, ClusterTrouble::Full, ClusterTrouble::NearFull];
        assert_eq!(incidents(seen).len(), 2);
    }
}
