//! Headers that are encoded once a session rather than once a command.

use super::action::Action;
use crate::pdu::{Bhs, ScsiCommand, flags};
use crate::scsi::Lun;

/// Headers of the commands for operations, in which only the differences are written each time.
#[derive(Debug, Clone)]
pub(super) struct Templates {
    read: Bhs,
    write: Bhs,
}

impl Templates {
    pub(super) fn new(lun: Lun) -> Self {
        let template = |direction| {
            let flags = direction | flags::SIMPLE;
            ScsiCommand { flags, lun: lun.0, ..ScsiCommand::default() }.encode()
        };
        Self { read: template(flags::READ), write: template(flags::WRITE) }
    }

    #[inline]
    pub(super) fn of(&self, action: Action) -> Bhs {
        match action {
            Action::Read => self.read,
            // A flush is encoded as a whole.
            _ => self.write,
        }
    }
}
