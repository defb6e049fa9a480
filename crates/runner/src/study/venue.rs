//! Where the trials of a study are carried out: on the datastores that this process opened, or on hosts
//! elsewhere.

use std::sync::atomic::AtomicBool;

use stormeter_datastore::{Datastore, Location};
use stormeter_results::{DatastoreDescription, Environment};
use stormeter_study::{StudyPlan, WorkloadKind};

use crate::describe::describe;
use crate::elsewhere::{Elsewhere, OpenOrder, OpenedHosts, Password};
use crate::environment::environment;
use crate::error::RunError;
use crate::free_space::shared_file_system;
use crate::journal::new_run_id;
use crate::progress::Progress;
use crate::stores::{Stores, open_stores};
use crate::study::request::StudyRequest;
use crate::study::setting::{disk_spec, unit_bytes};
use crate::verify::check_room_for;

/// Where trials are carried out.
pub(crate) enum Venue<'a> {
    /// On these datastores, by this process.
    Here(Vec<Datastore>),
    /// On hosts; with the URL of each store.
    There(&'a mut dyn Elsewhere, Vec<String>),
}

/// A venue with everything opened, and what was found.
pub(crate) struct OpenVenue<'a> {
    pub(crate) venue: Venue<'a>,
    /// Which store each datastore of the plan is, and behind them each of its ceilings.
    pub(crate) store_of: Vec<usize>,
    pub(crate) environment: Environment,
    pub(crate) datastores: Vec<DatastoreDescription>,
    /// That two of them share what they should not.
    pub(crate) warning: Option<String>,
}

impl<'a> OpenVenue<'a> {
    /// Opens the datastores of a study: here, or on its hosts if `elsewhere` is given.
    pub(crate) fn open(
        request: &StudyRequest,
        run_id: &str,
        clock: &stormeter_datastore::RealClock,
        elsewhere: Option<&'a mut dyn Elsewhere>,
        (cancel, progress): (&AtomicBool, &mut dyn Progress),
    ) -> Result<Self, RunError> {
        let plan = &request.plan;
        let urls = request.urls()?;
        if let Some(null) = urls.iter().find(|url| url.location == Location::Null)
            && plan.verify
        {
            return Err(RunError::VerifyNull(null.to_string()));
        }
        let spec = disk_spec(plan);
        let mut environment = environment(clock);
        let Some(elsewhere) = elsewhere else {
            if !plan.hosts.is_empty() {
                return Err(RunError::Hosts(
                    "the study names hosts, and nothing was given to reach them by".into(),
                ));
            }
            let Stores { stores, store_of } =
                open_stores(&urls, (run_id, 0), &spec, &request.destroy_data, progress)?;
            if let Some(unit_bytes) = unit_bytes(plan)? {
                check_room_for(unit_bytes, (spec.count, spec.size_bytes), stores.len())?;
            }
            environment.engine = stores.first().map(|store| store.description().engine);
            let datastores = store_of.iter().map(|&store| describe(&stores[store])).collect();
            let warning = shared_file_system(&stores);
            let venue = Venue::Here(stores);
            return Ok(Self { venue, store_of, environment, datastores, warning });
        };
        check_can_be_elsewhere(plan)?;
        let order = OpenOrder {
            run_id: run_id.to_owned(),
            urls: request.plain_urls(),
            disks: spec,
            destroy_data: request.destroy_data.clone(),
            secrets: request
                .passwords
                .iter()
                .map(|(url, password)| (url.clone(), Password(password.clone())))
                .collect(),
            first_number: 0,
        };
        let OpenedHosts { hosts, stores: opened } = elsewhere.open(&order, cancel, progress)?;
        environment.hosts = hosts;
        environment.engine = opened.datastores.first().map(|store| store.engine.clone());
        let count = opened.store_of.iter().max().map_or(0, |most| most + 1);
        let urls = (0..count).map(|store| {
            let first = opened.store_of.iter().position(|of| *of == store);
            first.and_then(|first| order.urls.get(first)).cloned().unwrap_or_default()
        });
        Ok(Self {
            venue: Venue::There(elsewhere, urls.collect()),
            store_of: opened.store_of,
            environment,
            datastores: opened.datastores,
            warning: opened.warning,
        })
    }
}

impl Venue<'_> {
    /// How many stores are open.
    pub(crate) fn stores(&self) -> usize {
        match self {
            Venue::Here(stores) => stores.len(),
            Venue::There(_, urls) => urls.len(),
        }
    }

    /// The URL of a store.
    pub(crate) fn url(&self, store: usize) -> String {
        match self {
            Venue::Here(stores) => stores[store].description().url.to_string(),
            Venue::There(_, urls) => urls[store].clone(),
        }
    }

    /// Removes the disks.
    pub(crate) fn remove(&mut self, progress: &mut dyn Progress) {
        let left = match self {
            Venue::Here(stores) => stores.drain(..).filter_map(Datastore::remove).collect(),
            Venue::There(hosts, _) => hosts.remove(),
        };
        for left in left {
            progress.note(&left);
        }
    }
}

/// Said of what hosts do not do.
const NOT_ELSEWHERE: &str = "deployments and verify are done on this machine only; take hosts out of the \
                             study, or give those a study of their own";

fn check_can_be_elsewhere(plan: &StudyPlan) -> Result<(), RunError> {
    let is_deployment = |kind: &WorkloadKind| matches!(kind, WorkloadKind::Deploy(_));
    if plan.verify || plan.workloads.iter().any(|workload| is_deployment(&workload.kind)) {
        return Err(RunError::Hosts(NOT_ELSEWHERE.into()));
    }
    Ok(())
}

/// The run's name: that of the run to be gone on with, or a new one.
pub(crate) fn run_id_of(
    begun: Option<&stormeter_results::ResultsFile>,
    plan: &StudyPlan,
) -> Result<String, RunError> {
    Ok(match begun {
        Some(file) => file.study_header()?.run_id,
        None => new_run_id(plan.seed),
    })
}
