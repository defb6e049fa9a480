//! Closing a session: waits for outstanding operations, flushes the cache if requested and present,
//! and logs out.

use stormeter_disk::StorageEvent;
use stormeter_wire::{Memory, Outbox};

use super::action::Action;
use super::closing_stage::Closing;
use super::command::{Asker, Command};
use super::machine::Session;
use super::tasks::Owner;
use crate::pdu::{Data, LogoutRequest, flags, put};
use crate::scsi::{cdb, mode_sense_6};

const MODE_DATA_BYTES: u8 = 192;

impl Session {
    /// Continues closing, as far as possible now.
    pub(super) fn advance_closing(&mut self) {
        if !self.is_full() || self.logout.is_some() {
            return;
        }
        match self.closing {
            Closing::Draining if self.operations.live() == 0 && self.controls.is_idle() => {
                if self.options.flush_on_close {
                    let question = cdb::mode_sense_6(cdb::mode_page::CACHING, MODE_DATA_BYTES);
                    let command = Command::reading(question, MODE_DATA_BYTES.into());
                    self.controls.add(command, Asker::Session);
                    self.closing = Closing::Asking;
                } else {
                    self.closing = Closing::Leaving;
                }
            }
            Closing::Asking => {
                let Some(answer) = self.controls.own_result() else { return };
                // If a unit does not report this, its cache is flushed anyway: that does no harm.
                let cache = answer.ok().and_then(|data| mode_sense_6(&data)?.write_cache);
                if cache == Some(false) {
                    self.closing = Closing::Leaving;
                } else {
                    let command = Command::writing(cdb::synchronize_cache(), Vec::new());
                    self.controls.add(command, Asker::Session);
                    self.closing = Closing::Flushing;
                }
            }
            Closing::Flushing => {
                let Some(answer) = self.controls.own_result() else { return };
                if let Err(error) = answer {
                    let reason = Some(error.to_string().into());
                    self.incidents.note(StorageEvent::CacheNotFlushed { reason });
                }
                self.closing = Closing::Leaving;
            }
            _ => {}
        }
    }

    /// Whether a logout is due that was not sent.
    pub(super) fn owes_logout(&self) -> bool {
        self.is_full() && self.closing == Closing::Leaving && self.logout.is_none()
    }

    /// Sends a logout that closes the session. It is immediate: it does not wait for the window.
    pub(super) fn send_logout(&mut self, now_ns: u64, out: &mut Outbox) {
        if self.logout.is_some() || !self.tasks.has_room() {
            return;
        }
        let task = self.tasks.allocate(Owner::Logout, Action::Read, 0, 0);
        self.tasks.sent(task, 0, now_ns);
        let mut bhs = LogoutRequest {
            immediate: true,
            flags: flags::FINAL,
            task_tag: self.tasks.tag(task),
            cmd_sn: self.sequence.cmd_sn,
            exp_stat_sn: self.sequence.exp_stat_sn,
            ..LogoutRequest::default()
        }
        .encode();
        put(out, &mut bhs, Data::Bytes(&[]), self.digests());
        self.logout = Some((now_ns, task));
    }

    /// Without a connection there is no session to log out of; outstanding operations still count.
    pub(super) fn closing_disconnected(&mut self) {
        if self.closing == Closing::No || self.operations.live() > 0 {
            return;
        }
        if self.options.flush_on_close && !matches!(self.closing, Closing::Leaving | Closing::Done)
        {
            self.incidents.note(StorageEvent::CacheNotFlushed { reason: None });
        }
        self.controls.surrender();
        self.closing = Closing::Done;
    }

    /// Sends what is waiting for the target's window, then what closing requires.
    pub(super) fn pump(&mut self, now_ns: u64, memory: &impl Memory, out: &mut Outbox) {
        self.send_waiting(now_ns, memory, out);
        if self.closing != Closing::No {
            self.note_blocked(now_ns);
            self.advance_closing();
            self.send_waiting(now_ns, memory, out);
            if self.owes_logout() {
                self.send_logout(now_ns, out);
            }
        }
    }
}
