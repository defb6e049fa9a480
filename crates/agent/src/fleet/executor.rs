//! The fleet as an executor: what the runner orders is done on all hosts, and comes back as one result.

use std::sync::atomic::AtomicBool;

use stormeter_results::{DatastoreFact, DatastoreNote};
use stormeter_runner::{
    Executor, OpenOrder, Opened, PrepareOrder, PreparedStore, Progress, RunError, TrialEnd,
    TrialOrder,
};

use super::drivers::Drivers;
use super::{Fleet, merge};
use crate::message::{Command, Report};

impl Executor for Fleet {
    fn open(
        &mut self,
        order: &OpenOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<Opened, RunError> {
        self.prepared.clear();
        let all = self.all();
        self.drivers = Drivers::new(order.urls.len(), self.hosts.len(), &order.drivers);
        let opened = self.reach(&all, order, cancel, progress)?;
        self.drivers.find_stores(&opened);
        self.opened = Some(order.clone());
        let stores = merge::opened(&self.hosts, opened, &self.drivers);
        Ok(Opened { hosts: self.described(), stores })
    }

    fn prepare(
        &mut self,
        order: &PrepareOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<PreparedStore, RunError> {
        self.reach_again(cancel, progress)?;
        let all = self.all();
        let prepared = self.write(&all, order, cancel, progress)?;
        self.prepared.retain(|earlier| earlier.store != order.store);
        self.prepared.push(*order);
        let hosts = self.drivers.parts(order.store, 0).map(|part| &self.hosts[part.host]);
        Ok(merge::prepared(hosts, prepared))
    }

    fn trial(
        &mut self,
        order: &TrialOrder,
        cancel: &AtomicBool,
        progress: &mut dyn Progress,
    ) -> Result<TrialEnd, RunError> {
        self.reach_again(cancel, progress)?;
        self.carry_out(order, cancel, progress)
    }

    fn remove(&mut self) -> Vec<DatastoreNote> {
        let never = AtomicBool::new(false);
        let mut left = Vec::new();
        // An agent that was killed could not clean up; a new one can. One attempt.
        let lost: Vec<usize> =
            self.all().into_iter().filter(|&host| self.hosts[host].link.is_none()).collect();
        if let Some(order) = self.opened.take() {
            self.prepared.clear();
            for host in lost {
                if let Err(error) =
                    self.reach(&[host], &order, &never, &mut stormeter_runner::Silent)
                {
                    let fact = DatastoreFact::Unreached { said: error.to_string() };
                    let host = Some(self.hosts[host].name.clone());
                    left.push(DatastoreNote { host, fact });
                }
            }
        }
        let live = self.live();
        for &host in &live {
            self.say(host, Command::CleanUp);
        }
        let cleaned = self.gather(&live, "remove the disks", &never, |_, report| match report {
            Report::CleanedUp { left } => Ok(Some(left)),
            other => Err(other),
        });
        match cleaned {
            Ok(all) => {
                for (host, stays) in live.into_iter().zip(all) {
                    let name = &self.hosts[host].name;
                    let of_host = |note| DatastoreNote { host: Some(name.clone()), ..note };
                    left.extend(stays.into_iter().map(of_host));
                }
            }
            Err(error) => {
                left.push(DatastoreFact::RemovalFailed { said: error.to_string() }.into());
            }
        }
        self.part(&self.all());
        left
    }
}
