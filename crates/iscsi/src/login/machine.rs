//! Login as a state machine (RFC 7143 §6.3): security, then operational parameters, then full
//! feature phase; each answer of the target leads to the next request, the end or an error.

use stormeter_wire::Outbox;

use super::error::LoginError;
use super::identity::Identity;
use super::negotiated::Negotiated;
use super::negotiation::Negotiation;
use super::parameters::Parameters;
use super::{FIRST_CMD_SN, MAX_TEXT_BYTES};
use crate::chap::{self, Expectation, Sent};
use crate::pdu::{Data, Digests, LoginRequest, LoginResponse, flags, put};
use crate::text::{self, TextError};

/// The purpose of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// To list targets.
    Discovery,
    /// To use this target.
    Normal(String),
}

/// Stages as encoded in CSG and NSG (RFC 7143 §11.12.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// SecurityNegotiation.
    Security = 0,
    /// LoginOperationalNegotiation.
    Operational = 1,
    /// FullFeaturePhase.
    FullFeature = 3,
}

impl Stage {
    fn of(bits: u8) -> Option<Self> {
        match bits & 3 {
            0 => Some(Self::Security),
            1 => Some(Self::Operational),
            3 => Some(Self::FullFeature),
            _ => None,
        }
    }
}

/// The last request, which determines the expected answer.
#[derive(Debug, Clone)]
enum Said {
    Method,
    Algorithms,
    Response(Option<Expectation>),
    Operational,
}

/// A login is given up after this many answers: a real one takes three or four.
const MAX_ROUNDS: u32 = 32;

/// A login in progress.
#[derive(Debug, Clone)]
pub struct Login {
    identity: Identity,
    purpose: Purpose,
    stage: Stage,
    said: Said,
    /// The stage that our last request proposed.
    asked: Option<Stage>,
    negotiation: Negotiation,
    text: Vec<u8>,
    exp_stat_sn: Option<u32>,
    rounds: u32,
    outcome: Negotiated,
}

/// The result of a login: the rules, and the initial numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The negotiated values.
    pub negotiated: Negotiated,
    /// The next StatSN.
    pub exp_stat_sn: u32,
    /// ExpCmdSN in the last answer.
    pub exp_cmd_sn: u32,
    /// MaxCmdSN in the last answer.
    pub max_cmd_sn: u32,
}

impl Login {
    /// A login that has not started.
    pub fn new(identity: Identity, purpose: Purpose, wished: Parameters) -> Self {
        let discovery = purpose == Purpose::Discovery;
        Self {
            identity,
            purpose,
            stage: Stage::Security,
            said: Said::Method,
            asked: None,
            negotiation: Negotiation::new(wished, discovery),
            text: Vec::new(),
            exp_stat_sn: None,
            rounds: 0,
            outcome: Negotiated::default(),
        }
    }

    /// Sends the first request.
    pub fn begin(&mut self, out: &mut Outbox) {
        let mut text = Vec::new();
        text::put(&mut text, "InitiatorName", &self.identity.initiator_name);
        match &self.purpose {
            Purpose::Discovery => text::put(&mut text, "SessionType", "Discovery"),
            Purpose::Normal(target) => {
                text::put(&mut text, "SessionType", "Normal");
                text::put(&mut text, "TargetName", target);
            }
        }
        text::put(&mut text, "AuthMethod", self.method());
        // If CHAP has to follow, the stage cannot be left yet.
        let next = self.identity.chap.is_none().then_some(Stage::Operational);
        self.request(&text, next, out);
    }

    /// With a secret configured, login without authentication is not offered: an attacker in the
    /// middle could choose it.
    fn method(&self) -> &'static str {
        if self.identity.chap.is_some() { "CHAP" } else { "None" }
    }

    fn request(&mut self, text: &[u8], next: Option<Stage>, out: &mut Outbox) {
        self.asked = next;
        let transit = next.map_or(0, |stage| flags::TRANSIT | stage as u8);
        let mut bhs = LoginRequest {
            immediate: true,
            flags: (self.stage as u8) << 2 | transit,
            isid: self.identity.isid.0,
            cmd_sn: FIRST_CMD_SN,
            exp_stat_sn: self.exp_stat_sn.unwrap_or(0),
            ..LoginRequest::default()
        }
        .encode();
        put(out, &mut bhs, Data::Bytes(text), Digests::default());
    }

    /// Handles an answer; `Some` when the login is complete.
    ///
    /// # Errors
    /// A refusal, or an invalid answer.
    pub fn answer(
        &mut self,
        response: &LoginResponse,
        data: &[u8],
        sent: &mut Sent,
        random: &mut dyn FnMut() -> u64,
        out: &mut Outbox,
    ) -> Result<Option<Finished>, LoginError> {
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS {
            return Err(LoginError::Endless { rounds: self.rounds });
        }
        if response.status_class != 0 {
            return Err(self.refusal(response, data));
        }
        self.check(response)?;
        if self.text.len() + data.len() > MAX_TEXT_BYTES {
            return Err(TextError::TooLong { limit_bytes: MAX_TEXT_BYTES }.into());
        }
        self.text.extend_from_slice(data);
        if response.flags & flags::CONTINUE != 0 {
            // An empty request asks for the rest.
            self.request(&[], None, out);
            return Ok(None);
        }
        let text = std::mem::take(&mut self.text);
        let mut reply = Vec::new();
        if self.stage == Stage::Security {
            self.security(&text, sent, random, &mut reply)?;
        } else {
            for pair in text::pairs(&text) {
                let (key, value) = pair?;
                self.negotiation.take(key, value, &mut reply)?;
            }
        }
        let moved = response.flags & flags::TRANSIT != 0;
        if moved {
            // Only to the stage that we proposed; otherwise the stage in which we make our offers
            // could be skipped.
            let next = Stage::of(response.flags).filter(|next| self.asked == Some(*next));
            self.stage = next.ok_or(LoginError::OutOfPlace { what: "another next stage" })?;
        }
        if self.stage == Stage::FullFeature {
            return self.finish(response, &reply).map(Some);
        }
        self.proceed(moved, reply, out)?;
        Ok(None)
    }

    /// Sends the next request, in the current stage.
    fn proceed(
        &mut self,
        moved: bool,
        mut reply: Vec<u8>,
        out: &mut Outbox,
    ) -> Result<(), LoginError> {
        if self.stage == Stage::Operational {
            if moved {
                self.said = Said::Operational;
                self.negotiation.offer(&mut reply);
            }
            self.request(&reply, Some(Stage::FullFeature), out);
            return Ok(());
        }
        let ready = match &self.said {
            Said::Method => true,
            Said::Algorithms => false,
            Said::Response(_) => true,
            Said::Operational => {
                return Err(LoginError::OutOfPlace { what: "back to the security stage" });
            }
        };
        self.request(&reply, ready.then_some(Stage::Operational), out);
        Ok(())
    }

    /// Handles an answer in the security stage: appends the next step of CHAP.
    fn security(
        &mut self,
        text: &[u8],
        sent: &mut Sent,
        random: &mut dyn FnMut() -> u64,
        reply: &mut Vec<u8>,
    ) -> Result<(), LoginError> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for pair in text::pairs(text) {
            let (key, value) = pair?;
            match key {
                "AuthMethod" | "CHAP_A" | "CHAP_I" | "CHAP_C" | "CHAP_N" | "CHAP_R" => {
                    if found.iter().any(|pair| pair.0 == key) {
                        return Err(LoginError::Twice { key: key.to_owned() });
                    }
                    found.push((key, value));
                }
                _ => self.negotiation.take(key, value, reply)?,
            }
        }
        let find = |key: &str| found.iter().find(|pair| pair.0 == key).map(|pair| pair.1);
        let offered = self.method();
        if let Some(method) = find("AuthMethod")
            && method != offered
        {
            let found = text::excerpt(method.as_bytes());
            return Err(LoginError::Method { found, offered });
        }
        let Some(credentials) = &self.identity.chap else { return Ok(()) };
        match &self.said {
            Said::Method if find("AuthMethod").is_some() => {
                text::put(reply, "CHAP_A", &chap::offer(&credentials.algorithms));
                self.said = Said::Algorithms;
            }
            // Nothing of substance yet: an empty answer asks for more.
            Said::Method => return Err(LoginError::OutOfPlace { what: "no AuthMethod" }),
            Said::Algorithms => {
                let (algorithm, expectation) =
                    chap::answer(credentials, find, sent, random, reply)?;
                self.outcome.chap = Some(algorithm);
                self.said = Said::Response(expectation);
            }
            Said::Response(Some(expectation)) => {
                chap::verify(expectation, find)?;
                self.outcome.mutual_chap = true;
                self.said = Said::Response(None);
            }
            Said::Response(None) | Said::Operational => {}
        }
        Ok(())
    }

    fn check(&mut self, response: &LoginResponse) -> Result<(), LoginError> {
        let out_of_place = |what| Err(LoginError::OutOfPlace { what });
        if response.isid != self.identity.isid.0 || response.task_tag != 0 {
            return out_of_place("another session's identifier or tag");
        }
        if response.version_active != 0 {
            return out_of_place("a version of iSCSI that was not offered");
        }
        if Stage::of(response.flags >> 2) != Some(self.stage) {
            return out_of_place("another stage");
        }
        let transit = response.flags & flags::TRANSIT != 0;
        if transit && (self.asked.is_none() || response.flags & flags::CONTINUE != 0) {
            return out_of_place("it leaves the stage before we are ready");
        }
        if self.exp_stat_sn.is_some_and(|expected| expected != response.stat_sn) {
            return out_of_place("a gap in StatSN");
        }
        self.exp_stat_sn = Some(response.stat_sn.wrapping_add(1));
        Ok(())
    }

    fn finish(&self, response: &LoginResponse, reply: &[u8]) -> Result<Finished, LoginError> {
        if !reply.is_empty() {
            return Err(LoginError::OutOfPlace { what: "it ends the login with a question" });
        }
        let unproven = match &self.identity.chap {
            Some(credentials) => {
                self.outcome.chap.is_none()
                    || credentials.mutual.is_some() && !self.outcome.mutual_chap
            }
            None => false,
        };
        if unproven {
            return Err(LoginError::OutOfPlace { what: "it ends the login without proof" });
        }
        if response.tsih == 0 {
            return Err(LoginError::OutOfPlace { what: "a session without a handle" });
        }
        let negotiated = Negotiated {
            tsih: response.tsih,
            chap: self.outcome.chap,
            mutual_chap: self.outcome.mutual_chap,
            ..self.negotiation.clone().finish()?
        };
        Ok(Finished {
            negotiated,
            exp_stat_sn: response.stat_sn.wrapping_add(1),
            exp_cmd_sn: response.exp_cmd_sn,
            max_cmd_sn: response.max_cmd_sn,
        })
    }

    fn refusal(&self, response: &LoginResponse, data: &[u8]) -> LoginError {
        let address = text::pairs(data)
            .filter_map(Result::ok)
            .find(|pair| pair.0 == "TargetAddress")
            .map(|pair| text::excerpt(pair.1.as_bytes()));
        let target = match &self.purpose {
            Purpose::Discovery => None,
            Purpose::Normal(target) => Some(target.as_str()),
        };
        LoginError::of_status(
            response.status_class,
            response.status_detail,
            &self.identity,
            target,
            address.as_deref(),
        )
    }
}
