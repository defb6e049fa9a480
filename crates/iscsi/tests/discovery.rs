//! A discovery from login to logout, and portals that never finish.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use common::options;
use stormeter_iscsi::login::Identity;
use stormeter_iscsi::pdu::{
    Bhs, Data, Digests, LoginResponse, LogoutResponse, NO_TAG, TextRequest, TextResponse, flags,
    parse, put,
};
use stormeter_iscsi::{Discovery, Error, Parameters, Timeouts};
use stormeter_wire::{Heap, Outbox, Session as _, SessionState};

struct Portal {
    discovery: Discovery,
    out: Outbox,
    stat_sn: u32,
}

impl Portal {
    fn new() -> Self {
        let options = options(Parameters::default());
        let identity =
            Identity { initiator_name: options.initiator_name, isid: options.isid, chap: None };
        let mut discovery = Discovery::new(identity, Timeouts::default(), options.random);
        let mut out = Outbox::default();
        discovery.connected(0, &Heap::default(), &mut out);
        Self { discovery, out, stat_sn: 1 }
    }

    fn say(&mut self, mut bhs: Bhs, data: &[u8]) -> Result<usize, Error> {
        let mut out = Outbox::default();
        put(&mut out, &mut bhs, Data::Bytes(data), Digests::default());
        let bytes = out.gather(&Heap::default());
        self.stat_sn += 1;
        let memory = &mut Heap::default();
        self.discovery.receive(&bytes, 0, memory, &mut self.out, &mut Vec::new())
    }

    fn heard(&mut self) -> (Bhs, Vec<u8>) {
        let bytes = self.out.gather(&Heap::default());
        let whole = parse(&bytes, Digests::default(), 8192).unwrap().unwrap();
        assert_eq!(whole.total_bytes, bytes.len());
        (whole.bhs, whole.data.to_vec())
    }

    fn log_in(&mut self) {
        for (bits, tsih) in [(0x81, 0), (0x87, 3)] {
            let response = LoginResponse {
                flags: bits,
                isid: [0x80, 1, 2, 3, 0, 1],
                tsih,
                stat_sn: self.stat_sn,
                ..LoginResponse::default()
            };
            let (_, said) = self.heard();
            assert!(bits != 0x81 || said.windows(9).any(|part| part == b"Discovery"));
            self.say(response.encode(), b"").unwrap();
        }
    }

    fn tell(&mut self, bits: u8, transfer_tag: u32, text: &[u8]) -> Result<usize, Error> {
        let response = TextResponse {
            flags: bits,
            lun: 5,
            task_tag: 1,
            transfer_tag,
            stat_sn: self.stat_sn,
            ..TextResponse::default()
        };
        self.say(response.encode(), text)
    }
}

#[test]
fn targets_are_listed_in_pieces() {
    let mut portal = Portal::new();
    portal.log_in();
    assert_eq!(portal.heard().1, b"SendTargets=All\0");
    portal.tell(flags::CONTINUE, 42, b"TargetName=iqn.2026-01.org.example:a\0TargetAddr").unwrap();
    assert_eq!(portal.discovery.targets(), None);
    let (bhs, text) = portal.heard();
    let request = TextRequest::decode(&bhs);
    assert_eq!((request.transfer_tag, request.lun, request.cmd_sn), (42, 5, 2));
    assert!(text.is_empty());
    portal.tell(flags::FINAL, NO_TAG, b"ess=10.0.0.1:3260,1\0").unwrap();
    let targets = portal.discovery.targets().unwrap();
    assert_eq!(
        (targets[0].name.as_str(), targets[0].portals[0].port),
        ("iqn.2026-01.org.example:a", 3260)
    );
    assert_eq!(portal.discovery.state(), SessionState::Ready);
    portal.discovery.close(0, &Heap::default(), &mut portal.out);
    assert_eq!(portal.heard().0.opcode(), 6);
    let response = LogoutResponse { stat_sn: portal.stat_sn, ..LogoutResponse::default() };
    portal.say(response.encode(), b"").unwrap();
    assert_eq!(portal.discovery.state(), SessionState::Closed);
}

#[test]
fn a_portal_without_end_is_given_up() {
    let mut portal = Portal::new();
    portal.log_in();
    let end = (0..100).find_map(|_| portal.tell(flags::CONTINUE, 1, b"").err());
    assert!(matches!(end, Some(Error::Protocol { .. })));

    let mut portal = Portal::new();
    portal.log_in();
    let end = (0..100).find_map(|_| portal.tell(flags::CONTINUE, 1, &[b'x'; 30_000]).err());
    assert!(matches!(end, Some(Error::Login(_))));

    let mut portal = Portal::new();
    portal.log_in();
    assert!(portal.tell(0, NO_TAG, b"").is_err());
    let mut portal = Portal::new();
    portal.log_in();
    portal.stat_sn += 1;
    assert!(matches!(portal.tell(flags::FINAL, NO_TAG, b""), Err(Error::StatusLost { .. })));

    let portal = Portal::new();
    assert_eq!(portal.discovery.deadline_ns(), Some(15_000_000_000));
}
