//! The hosts of a study: its fleet, and what its agents need from this process.

use std::path::Path;

use stormeter_agent::{Fleet, FleetOptions, Guest, Timeouts};
use stormeter_datastore::{DatastoreUrl, Location};
use stormeter_lab::{GuestAgent, agents};
use stormeter_study::{Reach, StudyPlan, WorkloadKind};

use crate::exit::Failure;

/// The environment variable with the CHAP password of URLs without one.
const PASSWORD: &str = "STORMETER_ISCSI_PASSWORD";

/// The fleet of a study's hosts; `None` if it has none. `lab` is the directory of a lab, if there is one.
pub(crate) fn fleet(
    plan: &StudyPlan,
    agent_binary: Option<&Path>,
    lab: &Path,
) -> Result<Option<Fleet>, Failure> {
    if plan.hosts.is_empty() {
        return match agent_binary {
            Some(_) => Err(Failure::Usage(
                "--agent-binary is for hosts, and the study names none; add hosts, or leave it out"
                    .into(),
            )),
            None => Ok(None),
        };
    }
    let urls = plan.urls();
    if let Some(url) = urls.iter().find(|url| url.starts_with("embedded:"))
        && plan.hosts.iter().any(|host| host.reached_by != Reach::Local)
    {
        return Err(Failure::Usage(format!(
            "{url} is started on this machine and nowhere else; name a server that the hosts reach, or \
             only hosts that are local"
        )));
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::File(format!("this program cannot be found: {error}")))?;
    let options = FleetOptions {
        program,
        agent_binary: agent_binary.map(Into::into),
        version: env!("CARGO_PKG_VERSION").into(),
        guests: guests(plan, lab)?,
        patience: Timeouts::default(),
    };
    let fleet = Fleet::new(&plan.hosts, options)?;
    let is_transfer = |kind: &WorkloadKind| matches!(kind, WorkloadKind::Transfer(_));
    if plan.workloads.iter().any(|workload| is_transfer(&workload.kind)) {
        fleet.check_transfers()?;
    }
    Ok(Some(fleet))
}

/// The guests of the lab, if the study has hosts among them.
fn guests(plan: &StudyPlan, lab: &Path) -> Result<Vec<Guest>, Failure> {
    if !plan.hosts.iter().any(|host| matches!(host.reached_by, Reach::Lab(_))) {
        return Ok(Vec::new());
    }
    let guest = |agent: GuestAgent| Guest {
        name: agent.name,
        socket: agent.socket,
        accelerator: agent.accelerator,
        address: agent.address,
    };
    Ok(agents(lab)?.into_iter().map(guest).collect())
}

/// Passwords from the environment of this process that agents need, as pairs of the datastore's URL and the
/// password: the environment of agents has none. Passwords in files are those of the hosts.
pub(crate) fn passwords(plan: &StudyPlan) -> Vec<(String, String)> {
    let Ok(password) = std::env::var(PASSWORD) else { return Vec::new() };
    if plan.hosts.is_empty() || password.is_empty() {
        return Vec::new();
    }
    let needs = |url: &str| {
        let Ok(url) = DatastoreUrl::parse(url) else { return false };
        matches!(url.location, Location::Iscsi(lun) if lun.user.is_some() && lun.password_file.is_none())
    };
    let urls = plan.urls().into_iter().filter(|url| needs(url));
    urls.map(|url| (url.to_owned(), password.clone())).collect()
}
