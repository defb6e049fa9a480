//! The ceilings of the ways to a comparison's datastores in the network, through servers that answer from nothing.

use std::time::Instant;

use stormeter_results::{Attempt, Phase, TrialRecord};
use stormeter_study::{Timing, trial_seed};

use crate::ceiling::{is_sound_beside, measure_ceiling, until_sound};
use crate::comparison::{Run, number_of};
use crate::error::RunError;
use crate::journal::{event, outcome_of, unix_ms};
use crate::progress::Progress;
use crate::threads::TrialRun;
use crate::ways::{NULL_WAY_NS, Way, disk_bytes, ways};

impl Run<'_> {
    /// Measures them all, if there is a way to start servers. A failure is reported and leaves that ceiling out.
    pub(crate) fn way_ceilings(&mut self, progress: &mut dyn Progress) -> Result<(), RunError> {
        if self.null_servers.is_none() {
            return Ok(());
        }
        let url = |store: &usize| self.stores[*store].description().url;
        let urls: Vec<_> = self.store_of.iter().map(url).enumerate().collect();
        for (way, datastores) in ways(urls.into_iter()) {
            match until_sound(|attempt| self.way_ceiling(&way, &datastores, attempt, progress)) {
                Ok(()) => {}
                Err(_) if self.is_cancelled() => return Err(RunError::Interrupted),
                Err(error) => {
                    let text = format!("the ceiling of a way to storage is not known: {error}");
                    progress.note(&text);
                    self.file.append_event(&event(text))?;
                }
            }
        }
        if let Some(servers) = &mut self.null_servers {
            servers.stop();
        }
        Ok(())
    }

    fn way_ceiling(
        &mut self,
        way: &Way,
        datastores: &[usize],
        attempt: u32,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let Some(servers) = &mut self.null_servers else { return Ok(true) };
        let started = servers.start(way.protocol());
        let server = started.map_err(|error| RunError::NullServer(error.to_string()))?;
        let url = way.through(&server)?;
        let duration_ns = self.plan.timing.duration_ns.min(NULL_WAY_NS);
        let timing = Timing { ramp_ns: duration_ns / 5, duration_ns, interval_ns: duration_ns };
        let number = number_of(Phase::Ceiling, 0);
        let workload = self.plan.workload.clone();
        let run = TrialRun {
            disk_bytes: disk_bytes(&workload, self.plan.disk_bytes),
            ..self.trial_run(&workload, timing, 0, number)
        };
        let (started_unix_ms, began) = (unix_ms(), Instant::now());
        // Without verifying: a server that keeps nothing returns nothing that could be verified.
        let end = measure_ceiling(&url, &run, None, self.clock, self.cancel, progress)?;
        if self.is_cancelled() {
            return Err(RunError::Interrupted);
        }
        progress.trial_ended(&url.to_string(), Ok(end.sample.iops()));
        let sound = is_sound_beside(&end, attempt);
        for &datastore in datastores {
            let mut end = end.clone();
            self.store(TrialRecord {
                id: 0,
                block: 0,
                position: attempt,
                attempt: Attempt::default(),
                datastore: Some(datastore),
                cell: None,
                phase: Phase::Ceiling,
                started_unix_ms,
                elapsed_ns: began.elapsed().as_nanos() as u64,
                seed: trial_seed(self.plan.seed, number),
                incidents: std::mem::take(&mut end.incidents),
                monitor: std::mem::take(&mut end.monitor),
                outcome: outcome_of(end),
                components: Vec::new(),
            })?;
        }
        Ok(sound)
    }
}
