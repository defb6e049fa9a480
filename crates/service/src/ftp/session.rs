//! The machine of an FTP session: logs in, sees to its files, and transfers them one after another.
//!
//! Commands are sent one at a time, as interactive programs and libraries do, so that an operation's latency contains the
//! round trips that a user's transfer has.

use stormeter_wire::Secret;

use super::reply::{Replies, Reply, port_of};
use crate::error::Trouble;

/// The files of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FtpFiles {
    /// Their names at the server.
    pub(crate) names: Vec<String>,
    /// Size of each, in bytes.
    pub(crate) bytes: u64,
    /// From the session to the server; otherwise from it, and the session must see to it that they are there.
    pub(crate) upload: bool,
}

/// What the transport has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FtpAction {
    /// Connect the data connection to this port of the server.
    Connect(u16),
    /// Send a file over the data connection and close it. What the set-up sends is not the user's.
    Send {
        /// Whether the user waits for it.
        counts: bool,
    },
    /// The session is ready for its first operation.
    Ready,
    /// The outstanding operation has ended.
    Ended,
    /// The session is over.
    Over,
}

/// Why a data connection is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transfer {
    /// A file that will be downloaded is put there.
    Prepare,
    /// The user's upload.
    Upload,
    /// The user's download.
    Download,
}

impl Transfer {
    fn sends(self) -> bool {
        self != Transfer::Download
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Waits for the server's first words.
    Greeting,
    User,
    Password,
    Binary,
    /// Asks for the size of a file that must be there.
    Size,
    /// Asks for the port of a data connection.
    Passive(Transfer),
    /// Waits until the data connection is open.
    Connecting(Transfer),
    /// Waits for the word that the transfer begins.
    Opening(Transfer),
    /// Bytes pass. Whether the server said that it is complete, and whether the data connection is done.
    Moving {
        transfer: Transfer,
        said: bool,
        moved: bool,
    },
    Idle,
    /// Removes its files and says goodbye; the number of replies to come.
    Ending(usize),
}

/// A session by its commands and replies.
#[derive(Debug)]
pub(crate) struct FtpSession {
    user: String,
    password: Secret,
    files: FtpFiles,
    state: State,
    replies: Replies,
    /// Commands to send.
    out: Vec<u8>,
    /// The file that is seen to or transferred.
    file: usize,
    /// Bytes of a data connection that was done before the word that the transfer begins.
    early_bytes: Option<u64>,
    actions: Vec<FtpAction>,
}

impl FtpSession {
    /// A session whose control connection is being opened.
    pub(crate) fn new(user: String, password: Secret, files: FtpFiles) -> Self {
        Self {
            user,
            password,
            files,
            state: State::Greeting,
            replies: Replies::default(),
            out: Vec::new(),
            file: 0,
            early_bytes: None,
            actions: Vec::new(),
        }
    }

    /// What it is doing, for messages.
    pub(crate) fn doing(&self) -> &'static str {
        match self.state {
            State::Greeting => "before it said a word",
            State::User | State::Password => "during the login",
            State::Binary | State::Size => "before the first file",
            State::Connecting(_) => {
                "while a data connection was opened (are its passive ports open?)"
            }
            State::Passive(_) | State::Opening(_) => "before a transfer",
            State::Moving { .. } => "during a transfer",
            State::Idle => "between two files",
            State::Ending(_) => "at the end",
        }
    }

    /// Whether the server has let it in.
    pub(crate) fn is_logged_in(&self) -> bool {
        !matches!(self.state, State::Greeting | State::User | State::Password)
    }

    /// Whether a transfer is open whose outcome the server has not said.
    pub(crate) fn awaits_word(&self) -> bool {
        matches!(self.state, State::Opening(_) | State::Moving { said: false, .. })
    }

    /// Whether the server has said that the transfer is complete.
    pub(crate) fn is_said_complete(&self) -> bool {
        matches!(self.state, State::Moving { said: true, .. })
    }

    /// Whether the data connection, if there is one, is that of a download.
    pub(crate) fn downloads(&self) -> bool {
        use State::{Connecting, Moving, Opening};
        let (Connecting(transfer) | Opening(transfer) | Moving { transfer, .. }) = self.state
        else {
            return false;
        };
        !transfer.sends()
    }

    /// Bytes to send over the control connection.
    pub(crate) fn take_out(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// What the transport has to do, in order.
    pub(crate) fn take_actions(&mut self) -> Vec<FtpAction> {
        std::mem::take(&mut self.actions)
    }

    /// Begins the next operation of an idle session.
    pub(crate) fn begin(&mut self) {
        let transfer = if self.files.upload { Transfer::Upload } else { Transfer::Download };
        self.passive(transfer);
    }

    /// Bytes of the control connection arrived.
    pub(crate) fn received(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        self.replies.add(bytes);
        // A server may repeat what it did not understand.
        let secret = String::from_utf8_lossy(self.password.expose()).into_owned();
        while let Some(mut reply) = self.replies.next()? {
            if reply.code >= 400 {
                reply.text = reply.text.replace(&secret, "***");
            }
            self.replied(reply)?;
        }
        Ok(())
    }

    /// The data connection is open.
    pub(crate) fn data_opened(&mut self) {
        if let State::Connecting(transfer) = self.state {
            let command = if transfer.sends() { "STOR" } else { "RETR" };
            self.say(&format!("{command} {}", self.files.names[self.file]));
            self.state = State::Opening(transfer);
        }
    }

    /// The data connection is done: all was sent, or the server has closed it after this many bytes.
    pub(crate) fn data_done(&mut self, moved_bytes: u64) -> Result<(), Trouble> {
        match self.state {
            State::Moving { transfer, said, .. } => {
                self.check_length(moved_bytes)?;
                self.state = State::Moving { transfer, said, moved: true };
                self.perhaps_transferred();
                Ok(())
            }
            // The server closed it and says why in its reply, or a small file came before the word that it begins.
            State::Opening(_) => {
                self.early_bytes = Some(moved_bytes);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends the session: removes the files, says goodbye.
    pub(crate) fn end(&mut self) {
        if !self.is_logged_in() {
            self.actions.push(FtpAction::Over);
            return;
        }
        // The reply to a transfer that was cut off comes, too.
        let due = match self.state {
            State::Moving { said: true, .. } | State::Idle | State::Ending(_) => 0,
            _ => 1,
        };
        for name in self.files.names.clone() {
            self.say(&format!("DELE {name}"));
        }
        self.say("QUIT");
        self.state = State::Ending(due + self.files.names.len() + 1);
    }

    fn say(&mut self, command: &str) {
        self.out.extend_from_slice(command.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    fn passive(&mut self, transfer: Transfer) {
        self.early_bytes = None;
        self.say("EPSV");
        self.state = State::Passive(transfer);
    }

    fn check_length(&self, arrived_bytes: u64) -> Result<(), Trouble> {
        let stored_bytes = self.files.bytes;
        if arrived_bytes == stored_bytes {
            return Ok(());
        }
        Err(Trouble::Length { stored_bytes, arrived_bytes })
    }

    fn replied(&mut self, reply: Reply) -> Result<(), Trouble> {
        let Reply { code, text } = reply;
        let refused = |doing| Err(Trouble::Reply { doing, code, said: text.clone() });
        // The server ends the session (RFC 959, section 4.2: 421 may be the reply to anything).
        if code == 421 && !matches!(self.state, State::Ending(_)) {
            return refused("the session");
        }
        match self.state {
            State::Greeting => match code {
                220 => {
                    self.say(&format!("USER {}", self.user));
                    self.state = State::User;
                }
                // It will be ready in a while.
                120 => {}
                _ => return refused("the session"),
            },
            State::User => match code {
                331 => {
                    let password = String::from_utf8_lossy(self.password.expose()).into_owned();
                    self.say(&format!("PASS {password}"));
                    self.state = State::Password;
                }
                230 => self.logged_in(),
                _ => return Err(Trouble::Login { said: Some(format!("{code} {text}")) }),
            },
            State::Password => match code {
                230 | 202 => self.logged_in(),
                _ => return Err(Trouble::Login { said: Some(format!("{code} {text}")) }),
            },
            State::Binary => match code {
                200 => self.see_to_files(),
                _ => return refused("binary transfers (TYPE I)"),
            },
            State::Size => {
                let is_there = code == 213 && text.trim().parse() == Ok(self.files.bytes);
                match is_there {
                    true => self.seen_to(),
                    false => self.passive(Transfer::Prepare),
                }
            }
            State::Passive(transfer) => {
                let port = if code == 229 { port_of(&text) } else { None };
                let Some(port) = port else { return refused("a passive connection (EPSV)") };
                self.state = State::Connecting(transfer);
                self.actions.push(FtpAction::Connect(port));
            }
            State::Connecting(_) | State::Idle => {
                let what = format!("it sent a reply that nothing was waiting for: {code} {text}");
                return Err(Trouble::Protocol { protocol: "FTP", what });
            }
            State::Opening(transfer) => match code {
                125 | 150 => {
                    self.state = State::Moving { transfer, said: false, moved: false };
                    if let Some(bytes) = self.early_bytes.take().filter(|_| !transfer.sends()) {
                        self.data_done(bytes)?;
                    }
                    if transfer.sends() {
                        let counts = transfer == Transfer::Upload;
                        self.actions.push(FtpAction::Send { counts });
                    }
                }
                _ => return refused(if transfer.sends() { "an upload" } else { "a download" }),
            },
            State::Moving { transfer, moved, .. } => match code {
                125 | 150 => {}
                226 | 250 => {
                    self.state = State::Moving { transfer, said: true, moved };
                    self.perhaps_transferred();
                }
                _ => return refused(if transfer.sends() { "an upload" } else { "a download" }),
            },
            State::Ending(left) => {
                // 1yz only announces a reply.
                let left = if code < 200 { left } else { left.saturating_sub(1) };
                self.state = State::Ending(left);
                if left == 0 || code == 221 {
                    self.actions.push(FtpAction::Over);
                }
            }
        }
        Ok(())
    }

    fn logged_in(&mut self) {
        self.say("TYPE I");
        self.state = State::Binary;
    }

    /// Starts to see to the files that are downloaded.
    fn see_to_files(&mut self) {
        self.file = 0;
        match self.files.upload {
            true => self.ready(),
            false => self.ask_for_size(),
        }
    }

    fn ask_for_size(&mut self) {
        self.say(&format!("SIZE {}", self.files.names[self.file]));
        self.state = State::Size;
    }

    /// The file is there.
    fn seen_to(&mut self) {
        self.file += 1;
        match self.file < self.files.names.len() {
            true => self.ask_for_size(),
            false => self.ready(),
        }
    }

    fn ready(&mut self) {
        self.file = 0;
        self.state = State::Idle;
        self.actions.push(FtpAction::Ready);
    }

    fn perhaps_transferred(&mut self) {
        let State::Moving { transfer, said: true, moved: true } = self.state else { return };
        if transfer == Transfer::Prepare {
            self.seen_to();
            return;
        }
        self.file = (self.file + 1) % self.files.names.len();
        self.state = State::Idle;
        self.actions.push(FtpAction::Ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(upload: bool) -> FtpSession {
        let files = FtpFiles { names: vec!["a".into(), "b".into()], bytes: 10, upload };
        FtpSession::new("u".into(), Secret::new("secret"), files)
    }

    /// Gives replies and returns what is said and done after each.
    fn after(session: &mut FtpSession, reply: &str) -> (String, Vec<FtpAction>) {
        session.received(format!("{reply}\r\n").as_bytes()).unwrap();
        let said = String::from_utf8(session.take_out()).unwrap();
        (said.replace("\r\n", ";"), session.take_actions())
    }

    fn logged_in(upload: bool) -> FtpSession {
        let mut session = session(upload);
        for (reply, said) in
            [("220 hi", "USER u;"), ("331 ?", "PASS secret;"), ("230 ok", "TYPE I;")]
        {
            assert_eq!(after(&mut session, reply), (said.into(), vec![]));
        }
        session
    }

    #[test]
    fn an_upload_ends_when_all_is_sent_and_the_server_has_it() {
        let mut session = logged_in(true);
        assert_eq!(after(&mut session, "200 ok"), (String::new(), vec![FtpAction::Ready]));
        for (name, said_first) in [("a", true), ("b", false), ("a", true)] {
            session.begin();
            assert_eq!(session.take_out(), b"EPSV\r\n");
            let (_, actions) = after(&mut session, "229 ok (|||77|)");
            assert_eq!(actions, [FtpAction::Connect(77)]);
            session.data_opened();
            assert_eq!(session.take_out(), format!("STOR {name}\r\n").into_bytes());
            let (_, actions) = after(&mut session, "150 go on");
            assert_eq!(actions, [FtpAction::Send { counts: true }]);
            if said_first {
                assert_eq!(after(&mut session, "226 done").1, []);
                session.data_done(10).unwrap();
                assert_eq!(session.take_actions(), [FtpAction::Ended]);
            } else {
                session.data_done(10).unwrap();
                assert_eq!(session.take_actions(), []);
                assert_eq!(after(&mut session, "226 done").1, [FtpAction::Ended]);
            }
        }
        session.end();
        assert_eq!(session.take_out(), b"DELE a\r\nDELE b\r\nQUIT\r\n");
        assert_eq!(after(&mut session, "250 gone").1, []);
        assert_eq!(after(&mut session, "550 was not there").1, []);
        assert_eq!(after(&mut session, "221 bye").1, [FtpAction::Over]);
    }

    #[test]
    fn files_to_download_are_put_there_unless_they_are_there() {
        let mut session = logged_in(false);
        assert_eq!(after(&mut session, "200 ok").0, "SIZE a;");
        assert_eq!(after(&mut session, "213 10").0, "SIZE b;");
        assert_eq!(after(&mut session, "550 none").0, "EPSV;");
        assert_eq!(after(&mut session, "229 (|||78|)").1, [FtpAction::Connect(78)]);
        session.data_opened();
        assert_eq!(session.take_out(), b"STOR b\r\n");
        assert_eq!(after(&mut session, "150 go on").1, [FtpAction::Send { counts: false }]);
        session.data_done(10).unwrap();
        assert_eq!(after(&mut session, "226 done").1, [FtpAction::Ready]);
        session.begin();
        session.take_out();
        after(&mut session, "229 (|||79|)");
        session.data_opened();
        assert_eq!(session.take_out(), b"RETR a\r\n");
        // A small file may be there before the word that it comes.
        session.data_done(10).unwrap();
        assert_eq!(after(&mut session, "150 here it is").1, []);
        assert_eq!(after(&mut session, "226 done").1, [FtpAction::Ended]);
        session.begin();
        session.take_out();
        after(&mut session, "229 (|||79|)");
        session.data_opened();
        after(&mut session, "150 here it is");
        let short = session.data_done(9).unwrap_err();
        assert_eq!(short, Trouble::Length { stored_bytes: 10, arrived_bytes: 9 });
    }

    #[test]
    fn each_refusal_has_its_reason() {
        let refusal = |replies: &[&str]| {
            let mut session = session(true);
            let (last, before) = replies.split_last().unwrap();
            before.iter().for_each(|reply| {
                after(&mut session, reply);
            });
            session.received(format!("{last}\r\n").as_bytes()).unwrap_err().to_string()
        };
        let cases: [(&[&str], &str); 5] = [
            (&["530 full"], "refused the session: 530 full"),
            (&["220 hi", "530 no"], "refused the login (530 no)"),
            (&["220 hi", "331 ?", "530 wrong"], "refused the login (530 wrong): check the user"),
            (&["220 hi", "331 ?", "230 ok", "504 no"], "binary transfers (TYPE I): 504 no"),
            (&["220 hi", "331 ?", "230 ok", "200 ok", "421 idle"], "the session: 421 idle"),
        ];
        for (replies, words) in cases {
            let said = refusal(replies);
            assert!(said.contains(words), "{said}");
            assert!(!said.contains("secret"));
        }
    }
}
