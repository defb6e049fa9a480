//! A user of an FTP server: the machine of the session with its two connections.

use std::net::SocketAddr;
use std::time::Instant;

use stormeter_disk::{Kind, SessionChange};
use stormeter_wire::Secret;

use crate::connection::{Connection, Received};
use crate::conversation::{AT_ONCE_BYTES, Conversation, PATIENCE, SET_UP_LIMIT, Way, Which};
use crate::error::Trouble;
use crate::ftp::{FtpAction, FtpFiles, FtpSession};

/// The distances in the content between the starts of sessions' first files, and of a session's files: no multiples of a
/// block, so that blocks of different files differ.
const BETWEEN_SESSIONS: u64 = 65_537;
const BETWEEN_FILES: u64 = 257_003;

/// The connection of one file.
struct Data {
    connection: Connection,
    is_open: bool,
    /// Bytes that have passed.
    moved_bytes: u64,
    sending: Sending,
}

/// Whether a file is sent over a data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// Not, or not yet.
    No,
    /// For the user, or to make the session ready.
    Now { counts: bool },
    /// All was sent.
    Done,
}

/// A user.
pub(crate) struct FtpUser {
    port: u16,
    user: String,
    password: Secret,
    files: FtpFiles,
    /// `None` while not connected.
    control: Option<Connection>,
    machine: FtpSession,
    data: Option<Data>,
    /// Where in the content the next file starts: no two files are alike.
    start: u64,
    /// Why the data connection failed, while the server's word on it is awaited: it may say more.
    broken: Option<Trouble>,
    ready: bool,
    over: bool,
    /// When something last happened while something was expected.
    progress: Option<Instant>,
}

impl FtpUser {
    /// The session with this number over all threads.
    pub(crate) fn new(
        number: u32,
        port: u16,
        user: String,
        password: Secret,
        files: FtpFiles,
    ) -> Self {
        let machine = FtpSession::new(user.clone(), password.clone(), files.clone());
        Self {
            port,
            user,
            password,
            files,
            control: None,
            machine,
            data: None,
            start: u64::from(number) * BETWEEN_SESSIONS,
            broken: None,
            ready: false,
            over: false,
            progress: None,
        }
    }

    fn control_stirred(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        let Some(control) = &mut self.control else { return Ok(()) };
        if !control.is_open()? {
            return Ok(());
        }
        control.flush()?;
        loop {
            match control.receive(way.buffer)? {
                Received::Nothing => break,
                Received::Bytes(count) => self.machine.received(&way.buffer[..count])?,
                Received::End => {
                    // What was said last still counts.
                    self.carry_out(way)?;
                    if self.over {
                        break;
                    }
                    return Err(Trouble::Closed { doing: self.machine.doing() });
                }
            }
        }
        self.carry_out(way)?;
        match self.broken.take_if(|_| self.machine.is_said_complete()) {
            Some(trouble) => Err(trouble),
            None => Ok(()),
        }
    }

    /// Says and does what the machine wants.
    fn carry_out(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        loop {
            let out = self.machine.take_out();
            if let (false, Some(control)) = (out.is_empty(), &mut self.control) {
                control.say(&out)?;
            }
            let actions = self.machine.take_actions();
            if actions.is_empty() && out.is_empty() {
                return Ok(());
            }
            for action in actions {
                self.act(action, way)?;
            }
        }
    }

    fn act(&mut self, action: FtpAction, way: &mut Way<'_>) -> Result<(), Trouble> {
        match action {
            FtpAction::Connect(port) => {
                let address = SocketAddr::new(way.server, port);
                let token = way.token(Which::Data);
                // The earlier one is closed first: its last events must not be taken for this one's.
                (self.data, self.broken) = (None, None);
                let connection = Connection::start(way.registry, token, address)?;
                self.data =
                    Some(Data { connection, is_open: false, moved_bytes: 0, sending: Sending::No });
            }
            FtpAction::Send { counts } => {
                if let Some(data) = &mut self.data {
                    data.sending = Sending::Now { counts };
                }
                self.start += BETWEEN_FILES;
                self.data_stirred(way)?;
            }
            FtpAction::Ready => {
                self.ready = true;
                self.progress = None;
            }
            FtpAction::Ended => {
                self.progress = None;
                self.data = None;
                let kind = self.kind();
                way.tell(SessionChange::Ended { kind });
            }
            FtpAction::Over => self.over = true,
        }
        Ok(())
    }

    fn data_stirred(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        let Err(trouble) = self.move_data(way) else { return Ok(()) };
        if !self.machine.awaits_word() {
            return Err(trouble);
        }
        // A server that gives a transfer up closes the connection, and then says why.
        (self.data, self.broken) = (None, Some(trouble));
        Ok(())
    }

    fn move_data(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        let Some(data) = &mut self.data else { return Ok(()) };
        if !data.is_open {
            if !data.connection.is_open()? {
                return Ok(());
            }
            data.is_open = true;
            self.machine.data_opened();
            return self.carry_out(way);
        }
        match data.sending {
            Sending::Now { counts } => self.send(counts, way),
            Sending::No if self.machine.downloads() => self.receive(way),
            Sending::No | Sending::Done => Ok(()),
        }
    }

    /// Sends as much of the file as the connection takes.
    fn send(&mut self, counts: bool, way: &mut Way<'_>) -> Result<(), Trouble> {
        let Some(data) = &mut self.data else { return Ok(()) };
        let before = data.moved_bytes;
        while data.moved_bytes < self.files.bytes && data.moved_bytes - before < AT_ONCE_BYTES {
            let left = self.files.bytes - data.moved_bytes;
            // The content goes round; its length is prime to that of blocks, so that no two blocks of a file are alike.
            let from = ((self.start + data.moved_bytes) % way.content.len() as u64) as usize;
            let part = &way.content[from..];
            let part = &part[..part.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            let count = data.connection.offer(part)?;
            if count == 0 {
                break;
            }
            data.moved_bytes += count as u64;
        }
        let moved_bytes = data.moved_bytes;
        if counts {
            way.moved(Kind::Write, moved_bytes - before);
        }
        if moved_bytes < self.files.bytes {
            way.more = (moved_bytes - before >= AT_ONCE_BYTES).then_some(Which::Data);
            return Ok(());
        }
        data.sending = Sending::Done;
        data.connection.close_writing()?;
        self.machine.data_done(moved_bytes)?;
        self.carry_out(way)
    }

    fn receive(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        let Some(data) = &mut self.data else { return Ok(()) };
        let before = data.moved_bytes;
        let mut is_over = false;
        while !is_over && data.moved_bytes - before < AT_ONCE_BYTES {
            match data.connection.receive(way.buffer)? {
                Received::Nothing => break,
                Received::Bytes(count) => data.moved_bytes += count as u64,
                Received::End => is_over = true,
            }
        }
        let moved_bytes = data.moved_bytes;
        way.moved(Kind::Read, moved_bytes - before);
        if !is_over {
            way.more = (moved_bytes - before >= AT_ONCE_BYTES).then_some(Which::Data);
            return Ok(());
        }
        self.data = None;
        self.machine.data_done(moved_bytes)?;
        self.carry_out(way)
    }
}

impl Conversation for FtpUser {
    fn kind(&self) -> Kind {
        if self.files.upload { Kind::Write } else { Kind::Read }
    }

    fn connect(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        self.drop_connections();
        self.machine =
            FtpSession::new(self.user.clone(), self.password.clone(), self.files.clone());
        self.progress = Some(way.now);
        let address = SocketAddr::new(way.server, self.port);
        self.control = Some(Connection::start(way.registry, way.token(Which::Main), address)?);
        Ok(())
    }

    fn is_ready(&self) -> bool {
        self.ready
    }

    fn begin(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        self.progress = Some(way.now);
        self.machine.begin();
        self.carry_out(way)
    }

    fn stirred(&mut self, which: Which, way: &mut Way<'_>) -> Result<(), Trouble> {
        // The login has its limit as a whole.
        if let Some(progress) = &mut self.progress
            && self.machine.is_logged_in()
        {
            *progress = way.now;
        }
        match which {
            Which::Main => self.control_stirred(way),
            Which::Data => self.data_stirred(way),
        }
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.progress.map(|since| since + if self.ready { PATIENCE } else { SET_UP_LIMIT })
    }

    fn tick(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        match self.wakes_at() {
            Some(at) if at <= way.now => {
                let limit = if self.ready { PATIENCE } else { SET_UP_LIMIT };
                Err(Trouble::Silent { seconds: limit.as_secs(), doing: self.machine.doing() })
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, way: &mut Way<'_>) -> Result<(), Trouble> {
        if let Some(data) = &self.data {
            // What the system still has to send is of no use, and the server would wait for it.
            data.connection.forget_unsent();
        }
        self.data = None;
        self.progress = None;
        if self.control.is_none() {
            self.over = true;
            return Ok(());
        }
        self.machine.end();
        self.carry_out(way)
    }

    fn is_over(&self) -> bool {
        self.over || self.control.is_none()
    }

    fn drop_connections(&mut self) {
        (self.control, self.data, self.broken) = (None, None, None);
        (self.ready, self.over) = (false, false);
        self.progress = None;
    }
}
