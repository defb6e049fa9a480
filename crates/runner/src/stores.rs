//! Opens the datastores of a run, and checks them against the plan.
//!
//! Everything that can be refused is refused here, before anything is written.

use std::path::PathBuf;

use stormeter_datastore::{Datastore, DatastoreUrl, DiskSpec, Location, OpenOptions, Secret};

use crate::error::RunError;
use crate::free_space::check_room;
use crate::progress::Progress;

/// Open datastores, and the one that each datastore of the plan stands for.
pub(crate) struct Stores {
    pub(crate) stores: Vec<Datastore>,
    /// A device named twice (an A/A test) can be opened only once.
    pub(crate) store_of: Vec<usize>,
}

/// Opens the datastores for these disks; `first_number` is the number of the first.
pub(crate) fn open_stores(
    urls: &[DatastoreUrl],
    (run_id, first_number): (&str, u32),
    spec: &DiskSpec,
    destroy_data: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Stores, RunError> {
    let mut stores: Vec<Datastore> = Vec::new();
    let mut store_of = Vec::new();
    for (number, url) in urls.iter().enumerate() {
        if matches!(url.location, Location::Device(_) | Location::Iscsi(_))
            && let Some(first) = urls[..number].iter().position(|earlier| earlier == url)
        {
            store_of.push(store_of[first]);
            continue;
        }
        let options = OpenOptions {
            run_id: run_id.into(),
            number: first_number.saturating_add(number as u32),
            destroy_data: destroy_data.to_vec(),
            must_exist: false,
        };
        progress.opening(&url.to_string());
        let opened = Datastore::open(url, options).and_then(|datastore| {
            datastore.check(spec)?;
            datastore.check_apart_from(&stores)?;
            Ok(datastore)
        });
        store_of.push(stores.len());
        stores.push(opened.map_err(|source| RunError::Datastore { url: url.to_string(), source })?);
    }
    check_room(&stores, spec)?;
    Ok(Stores { stores, store_of })
}

/// A datastore's URL with its password, if `secrets` has one for it.
pub(crate) fn with_secret(
    name: &str,
    secrets: &[(String, Secret)],
) -> Result<DatastoreUrl, RunError> {
    let mut url = DatastoreUrl::parse(name)?;
    if let Some((_, secret)) = secrets.iter().find(|(of, _)| of == name) {
        url.set_secret(secret.clone());
    }
    Ok(url)
}
