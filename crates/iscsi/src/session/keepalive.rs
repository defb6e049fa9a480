//! Timers: delayed retries, checking that the target still answers, and waits that have taken too
//! long.

use stormeter_wire::{Memory, Outbox};

use super::action::Action;
use super::error::Error;
use super::machine::{Phase, Ping, Session};
use super::tasks::Owner;
use crate::pdu::{Data, NO_TAG, NopOut, flags, put};

impl Session {
    /// Asks the target for a sign of life now, where this can be done: in a complete session, with no such question open.
    pub fn ping(&mut self, now_ns: u64, out: &mut Outbox) {
        if self.is_full() && self.ping.is_none() && self.logout.is_none() && self.tasks.has_room() {
            self.send_ping(now_ns, out);
        }
    }

    /// Whether the target still owes an answer to a NOP-Out.
    #[must_use]
    pub fn is_pinging(&self) -> bool {
        self.ping.is_some()
    }

    /// The next time at which something is due.
    pub(super) fn next_deadline_ns(&self) -> Option<u64> {
        if self.fault.is_some() || !self.early.is_empty() {
            return Some(0);
        }
        let timeouts = &self.options.timeouts;
        match self.phase {
            Phase::Disconnected => None,
            Phase::Login(_) => Some(self.connected_ns.saturating_add(timeouts.login_ns)),
            Phase::Full => {
                let silent = self.silent_since().map(|(since, _)| since);
                let delayed = self.delayed.iter().map(|one| one.0).min();
                let flush = self.flushing_since_ns();
                let flush = flush.map(|since| since.saturating_add(timeouts.flush_ns));
                [silent.map(|since| since.saturating_add(timeouts.reply_ns)), self.ping_due_ns()]
                    .into_iter()
                    .flatten()
                    .chain(delayed)
                    .chain(flush)
                    .min()
            }
        }
    }

    /// The start of the longest current wait, and what it waits for.
    fn silent_since(&self) -> Option<(u64, &'static str)> {
        if let Some((sent_ns, _)) = self.logout {
            return Some((sent_ns, "answer to the logout"));
        }
        let blocked = self.is_waiting().then_some((self.blocked_ns, "room in the target's window"));
        let ping = self.ping.map(|ping| (ping.sent_ns, "answer to a ping"));
        let task = self.tasks.oldest_since_ns().map(|since| (since, "answer to a command"));
        [blocked, ping, task].into_iter().flatten().min_by_key(|one| one.0)
    }

    /// Since when the flush that has been at the target longest is there.
    fn flushing_since_ns(&self) -> Option<u64> {
        self.flushing.iter().map(|one| one.0).min()
    }

    /// When to send a ping: after silence, or when a command has been silent for as long; then
    /// again at the same interval.
    fn ping_due_ns(&self) -> Option<u64> {
        if self.ping.is_some() || self.logout.is_some() {
            return None;
        }
        let quiet_ns = self.tasks.oldest_since_ns().unwrap_or(self.heard_ns);
        Some(quiet_ns.max(self.pinged_ns).saturating_add(self.options.timeouts.ping_ns))
    }

    pub(super) fn pass_time(
        &mut self,
        now_ns: u64,
        memory: &impl Memory,
        out: &mut Outbox,
    ) -> Result<(), Error> {
        match self.phase {
            Phase::Disconnected => return Ok(()),
            Phase::Login(_) => {
                let waited_ns = now_ns.saturating_sub(self.connected_ns);
                if waited_ns >= self.options.timeouts.login_ns {
                    return Err(Error::Silent { awaited: "completed login", waited_ns });
                }
                return Ok(());
            }
            Phase::Full => {}
        }
        if let Some((since_ns, awaited)) = self.silent_since() {
            let waited_ns = now_ns.saturating_sub(since_ns);
            if waited_ns >= self.options.timeouts.reply_ns {
                return Err(Error::Silent { awaited, waited_ns });
            }
        }
        if let Some(since_ns) = self.flushing_since_ns() {
            let waited_ns = now_ns.saturating_sub(since_ns);
            if waited_ns >= self.options.timeouts.flush_ns {
                return Err(Error::Silent { awaited: "answer to a flush", waited_ns });
            }
        }
        let mut at = 0;
        while let Some(&(due_ns, task)) = self.delayed.get(at) {
            if due_ns > now_ns {
                at += 1;
                continue;
            }
            self.delayed.swap_remove(at);
            self.note_blocked(now_ns);
            self.retries.push_back(task);
        }
        self.pump(now_ns, memory, out);
        if self.ping_due_ns().is_some_and(|due_ns| due_ns <= now_ns) && self.tasks.has_room() {
            self.send_ping(now_ns, out);
        }
        Ok(())
    }

    fn send_ping(&mut self, now_ns: u64, out: &mut Outbox) {
        let task = self.tasks.allocate(Owner::Ping, Action::Read, 0, 0);
        self.tasks.sent(task, 0, now_ns);
        let mut bhs = NopOut {
            immediate: true,
            flags: flags::FINAL,
            lun: 0,
            task_tag: self.tasks.tag(task),
            transfer_tag: NO_TAG,
            cmd_sn: self.sequence.cmd_sn,
            exp_stat_sn: self.sequence.exp_stat_sn,
            data_bytes: 0,
        }
        .encode();
        put(out, &mut bhs, Data::Bytes(&[]), self.digests());
        self.ping = Some(Ping { task, sent_ns: now_ns });
        self.pinged_ns = now_ns;
    }
}
