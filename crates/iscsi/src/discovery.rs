//! A discovery session (RFC 7143 §4.3 and Appendix C): asks a portal for its targets and their
//! addresses.

use stormeter_disk::{Completion, Incident, Operation};
use stormeter_wire::{Memory, Outbox, Session as WireSession, SessionState, Span};

use crate::chap;
use crate::login::{self, Identity, Login, Parameters, Purpose};
use crate::pdu::{
    AsyncMessage, Data, Digests, LoginResponse, LogoutRequest, LogoutResponse, NO_TAG, NopIn,
    NopOut, Reject, TextRequest, TextResponse, Whole, async_event, flags, opcode_name, parse, put,
    reject_reason,
};
use crate::session::{Error, Timeouts};
use crate::text::{self, TextError};

/// The default port.
pub const DEFAULT_PORT: u16 = 3260;

/// The largest data segment that a discovery accepts: a whole PDU fits into what a session may
/// leave unread.
const MAX_SEGMENT_BYTES: u32 = 32 << 10;

/// The most text that is collected: enough for thousands of targets.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The most answers in a row that add nothing.
const MAX_EMPTY_ANSWERS: u32 = 16;

/// An address of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portal {
    /// Name or address; IPv6 without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Target portal group.
    pub group: Option<u16>,
}

/// A target that a portal reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its portals; empty if it is reachable only at the portal that was asked.
    pub portals: Vec<Portal>,
}

/// Parses `host[:port][,group]`, the format of TargetAddress.
///
/// # Errors
/// Anything else.
pub fn portal(value: &str) -> Result<Portal, TextError> {
    let bad = || text::bad("TargetAddress", value, "host:port,group");
    let (address, group) = match value.rsplit_once(',') {
        Some((address, group)) => (address, Some(group.parse().map_err(|_| bad())?)),
        None => (value, None),
    };
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or_else(bad)?;
            let port = match port {
                "" => None,
                _ => Some(port.strip_prefix(':').ok_or_else(bad)?),
            };
            (host, port)
        }
        None => match address.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    let port = port.map_or(Ok(DEFAULT_PORT), |port| port.parse().map_err(|_| bad()))?;
    let sound = !host.is_empty()
        && host.bytes().all(|one| one.is_ascii_alphanumeric() || b".-_:%".contains(&one));
    if !sound || port == 0 {
        return Err(bad());
    }
    Ok(Portal { host: host.to_owned(), port, group })
}

/// Parses the complete answer to SendTargets.
///
/// # Errors
/// Text that is not a list of keys, or an address before any name.
pub fn targets(text: &[u8]) -> Result<Vec<Target>, TextError> {
    let mut targets: Vec<Target> = Vec::new();
    for pair in text::pairs(text) {
        let (key, value) = pair?;
        match key {
            "TargetName" => {
                targets.push(Target { name: text::excerpt_name(value), portals: Vec::new() });
            }
            "TargetAddress" => targets
                .last_mut()
                .ok_or_else(|| text::bad(key, value, "a TargetName before it"))?
                .portals
                .push(portal(value)?),
            _ => {}
        }
    }
    Ok(targets)
}

#[derive(Debug)]
enum Phase {
    Disconnected,
    Login(Box<Login>),
    Asked,
    Known,
    Leaving,
    Closed,
}

/// A discovery session. It accepts no operations; its result is [`targets`](Self::targets).
pub struct Discovery {
    identity: Identity,
    timeouts: Timeouts,
    random: Box<dyn FnMut() -> u64 + Send>,
    phase: Phase,
    closing: bool,
    challenges: chap::Sent,
    exp_stat_sn: u32,
    cmd_sn: u32,
    text: Vec<u8>,
    empty_answers: u32,
    targets: Option<Vec<Target>>,
    refused: Vec<Operation>,
    since_ns: u64,
}

impl std::fmt::Debug for Discovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discovery")
            .field("identity", &self.identity)
            .field("phase", &self.phase)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

const FIRST_TAG: u32 = 1;
const LOGOUT_TAG: u32 = 2;

impl Discovery {
    /// A discovery that is not connected.
    pub fn new(
        identity: Identity,
        timeouts: Timeouts,
        random: Box<dyn FnMut() -> u64 + Send>,
    ) -> Self {
        Self {
            identity,
            timeouts,
            random,
            phase: Phase::Disconnected,
            closing: false,
            challenges: chap::Sent::default(),
            exp_stat_sn: 0,
            cmd_sn: login::FIRST_CMD_SN,
            text: Vec::new(),
            empty_answers: 0,
            targets: None,
            refused: Vec::new(),
            since_ns: 0,
        }
    }

    /// The targets, once the portal has sent all of them.
    pub fn targets(&self) -> Option<&[Target]> {
        self.targets.as_deref()
    }

    fn ask(&mut self, text: &[u8], lun: u64, transfer_tag: u32, out: &mut Outbox) {
        let mut bhs = TextRequest {
            immediate: false,
            flags: flags::FINAL,
            lun,
            task_tag: FIRST_TAG,
            transfer_tag,
            cmd_sn: self.cmd_sn,
            exp_stat_sn: self.exp_stat_sn,
            data_bytes: 0,
        }
        .encode();
        self.cmd_sn = self.cmd_sn.wrapping_add(1);
        put(out, &mut bhs, Data::Bytes(text), Digests::default());
    }

    fn leave(&mut self, out: &mut Outbox) {
        let mut bhs = LogoutRequest {
            immediate: true,
            flags: flags::FINAL,
            task_tag: LOGOUT_TAG,
            cmd_sn: self.cmd_sn,
            exp_stat_sn: self.exp_stat_sn,
            ..LogoutRequest::default()
        }
        .encode();
        put(out, &mut bhs, Data::Bytes(&[]), Digests::default());
        self.phase = Phase::Leaving;
    }

    fn status(&mut self, stat_sn: u32) -> Result<(), Error> {
        if stat_sn != self.exp_stat_sn {
            return Err(Error::StatusLost { found: stat_sn, expected: self.exp_stat_sn });
        }
        self.exp_stat_sn = stat_sn.wrapping_add(1);
        Ok(())
    }

    fn take(&mut self, whole: &Whole<'_>, out: &mut Outbox) -> Result<(), Error> {
        let bhs = &whole.bhs;
        match (&mut self.phase, bhs.opcode()) {
            (_, Reject::OPCODE) => {
                let code = Reject::decode(bhs).reason;
                let rejected = whole.data.first().map_or("PDU", |opcode| opcode_name(*opcode));
                Err(Error::Rejected { rejected, reason: reject_reason(code), code })
            }
            (Phase::Login(login), LoginResponse::OPCODE) => {
                let response = LoginResponse::decode(bhs);
                let (sent, random) = (&mut self.challenges, &mut self.random);
                if let Some(finished) = login.answer(&response, whole.data, sent, random, out)? {
                    self.exp_stat_sn = finished.exp_stat_sn;
                    self.phase = Phase::Asked;
                    self.ask(b"SendTargets=All\0", 0, NO_TAG, out);
                }
                Ok(())
            }
            (Phase::Asked, TextResponse::OPCODE) => self.answered(bhs, whole.data, out),
            (Phase::Leaving, LogoutResponse::OPCODE) => {
                self.phase = Phase::Closed;
                Ok(())
            }
            (Phase::Asked | Phase::Known | Phase::Leaving, NopIn::OPCODE) => {
                let nop = NopIn::decode(bhs);
                if nop.transfer_tag != NO_TAG {
                    let mut bhs = NopOut {
                        immediate: true,
                        flags: flags::FINAL,
                        lun: nop.lun,
                        task_tag: NO_TAG,
                        transfer_tag: nop.transfer_tag,
                        cmd_sn: self.cmd_sn,
                        exp_stat_sn: self.exp_stat_sn,
                        data_bytes: 0,
                    }
                    .encode();
                    put(out, &mut bhs, Data::Bytes(&[]), Digests::default());
                }
                Ok(())
            }
            (Phase::Asked | Phase::Known | Phase::Leaving, AsyncMessage::OPCODE) => {
                let message = AsyncMessage::decode(bhs);
                self.status(message.stat_sn)?;
                match message.event {
                    1..=3 => Err(Error::Dropped { event: async_event(message.event) }),
                    _ => Ok(()),
                }
            }
            (_, opcode) => Err(Error::Unexpected { found: opcode_name(opcode), opcode }),
        }
    }

    fn answered(
        &mut self,
        bhs: &crate::pdu::Bhs,
        data: &[u8],
        out: &mut Outbox,
    ) -> Result<(), Error> {
        let response = TextResponse::decode(bhs);
        self.status(response.stat_sn)?;
        let refuse = |problem| Err(Error::Protocol { found: "a Text Response", problem });
        if response.task_tag != FIRST_TAG {
            return refuse("carries a tag that was never given");
        }
        if self.text.len() + data.len() > MAX_TEXT_BYTES {
            return Err(login::LoginError::from(TextError::TooLong {
                limit_bytes: MAX_TEXT_BYTES,
            })
            .into());
        }
        self.text.extend_from_slice(data);
        self.empty_answers = if data.is_empty() { self.empty_answers + 1 } else { 0 };
        if self.empty_answers > MAX_EMPTY_ANSWERS {
            return refuse("says that more is to come and brings nothing");
        }
        if response.flags & flags::FINAL == 0 || response.flags & flags::CONTINUE != 0 {
            if response.transfer_tag == NO_TAG {
                return refuse("is to be continued and does not say how");
            }
            self.ask(&[], response.lun, response.transfer_tag, out);
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        self.targets = Some(targets(&text).map_err(login::LoginError::from)?);
        self.phase = Phase::Known;
        if self.closing {
            self.leave(out);
        }
        Ok(())
    }
}

impl WireSession for Discovery {
    type Error = Error;

    fn state(&self) -> SessionState {
        match self.phase {
            Phase::Closed => SessionState::Closed,
            Phase::Disconnected => SessionState::Disconnected,
            _ if self.closing => SessionState::Closing,
            Phase::Login(_) | Phase::Asked => SessionState::Opening,
            Phase::Known | Phase::Leaving => SessionState::Ready,
        }
    }

    fn connected(&mut self, now_ns: u64, _memory: &impl Memory, out: &mut Outbox) {
        let wished = Parameters { max_receive_bytes: MAX_SEGMENT_BYTES, ..Parameters::default() };
        let wished = Parameters {
            header_digest: vec![login::Digest::None],
            data_digest: vec![login::Digest::None],
            ..wished
        };
        let mut login = Login::new(self.identity.clone(), Purpose::Discovery, wished);
        login.begin(out);
        self.phase = Phase::Login(Box::new(login));
        self.cmd_sn = login::FIRST_CMD_SN;
        self.since_ns = now_ns;
        self.text.clear();
        (self.targets, self.empty_answers) = (None, 0);
    }

    fn disconnected(&mut self, _now_ns: u64) {
        if self.closing {
            self.phase = Phase::Closed;
        } else if !matches!(self.phase, Phase::Closed) {
            self.phase = Phase::Disconnected;
        }
    }

    fn submit(&mut self, operation: &Operation, _: u64, _: &impl Memory, _: &mut Outbox) {
        self.refused.push(*operation);
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        now_ns: u64,
        _memory: &mut impl Memory,
        out: &mut Outbox,
        _done: &mut Vec<Completion>,
    ) -> Result<usize, Error> {
        let mut taken = 0;
        while let Some(rest) = bytes.get(taken..) {
            if matches!(self.phase, Phase::Closed) {
                return Ok(bytes.len());
            }
            let most = match self.phase {
                Phase::Login(_) => login::DEFAULT_SEGMENT_BYTES,
                _ => MAX_SEGMENT_BYTES,
            };
            let Some(whole) = parse(rest, Digests::default(), most)? else { break };
            taken += whole.total_bytes;
            self.since_ns = now_ns;
            self.take(&whole, out)?;
        }
        Ok(taken)
    }

    fn direct(&self) -> Option<Span> {
        None
    }

    fn received_directly(
        &mut self,
        _: u32,
        _: u64,
        _: &mut impl Memory,
        _: &mut Outbox,
        _: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn deadline_ns(&self) -> Option<u64> {
        match self.phase {
            Phase::Disconnected | Phase::Known | Phase::Closed => None,
            Phase::Login(_) => Some(self.since_ns.saturating_add(self.timeouts.login_ns)),
            Phase::Asked | Phase::Leaving => {
                Some(self.since_ns.saturating_add(self.timeouts.reply_ns))
            }
        }
    }

    fn tick(
        &mut self,
        now_ns: u64,
        _: &impl Memory,
        _: &mut Outbox,
        _: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        match self.deadline_ns() {
            Some(due_ns) if due_ns <= now_ns => Err(Error::Silent {
                awaited: "answer to the discovery",
                waited_ns: now_ns.saturating_sub(self.since_ns),
            }),
            _ => Ok(()),
        }
    }

    /// Operations that were submitted by mistake wait to be surrendered.
    fn outstanding(&self) -> u32 {
        self.refused.len() as u32
    }

    fn surrender(&mut self, operations: &mut Vec<Operation>) {
        operations.append(&mut self.refused);
    }

    fn close(&mut self, now_ns: u64, _: &impl Memory, out: &mut Outbox) {
        if !std::mem::replace(&mut self.closing, true) {
            self.since_ns = now_ns;
            match self.phase {
                Phase::Disconnected => self.phase = Phase::Closed,
                Phase::Known => self.leave(out),
                _ => {}
            }
        }
    }

    fn incidents(&mut self) -> Vec<Incident> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portals_are_read_in_every_form() {
        let read = |value| portal(value).map(|portal| (portal.host, portal.port, portal.group));
        assert_eq!(read("10.0.0.1:3261,1"), Ok(("10.0.0.1".into(), 3261, Some(1))));
        assert_eq!(read("[fe80::1%eth0]:860,2"), Ok(("fe80::1%eth0".into(), 860, Some(2))));
        assert_eq!(read("[::1]"), Ok(("::1".into(), 3260, None)));
        assert_eq!(read("san.example.org"), Ok(("san.example.org".into(), 3260, None)));
        for value in
            ["", ":3260", "[::1", "[::1]x", "a:b", "a:0", "a:65536", "a,b", "a b:1", "[]:1"]
        {
            assert!(portal(value).is_err(), "{value}");
        }
    }

    #[test]
    fn targets_have_the_portals_that_follow_them() {
        let text = b"TargetName=iqn.2026-01.org.example:a\0TargetAddress=10.0.0.1:3260,1\0\
            TargetAddress=[fd00::1]:3260,1\0TargetName=iqn.2026-01.org.example:b\0";
        let read = targets(text).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].portals.len(), 2);
        assert_eq!(read[0].portals[1].host, "fd00::1");
        assert_eq!(
            (read[1].name.as_str(), read[1].portals.len()),
            ("iqn.2026-01.org.example:b", 0)
        );
        assert!(targets(b"TargetAddress=10.0.0.1\0").is_err());
        assert!(targets(b"nonsense\0").is_err());
        assert_eq!(targets(b""), Ok(Vec::new()));
    }
}
