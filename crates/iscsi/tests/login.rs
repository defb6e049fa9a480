//! Logins with well-behaved and misbehaving targets.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests.

mod common;

use common::options;
use common::wire::Line;
use stormeter_iscsi::chap::{Algorithm, ChapError, Credentials, Mutual};
use stormeter_iscsi::login::Digest;
use stormeter_iscsi::pdu::{LoginResponse, TextResponse, flags};
use stormeter_iscsi::{Error, LoginError, Options, Parameters, Secret};
use stormeter_wire::{Session as _, SessionState};

const ANSWERS: &str = "HeaderDigest=None DataDigest=CRC32C DefaultTime2Wait=3 DefaultTime2Retain=0 \
    ErrorRecoveryLevel=0 InitialR2T=Yes ImmediateData=Yes FirstBurstLength=65536 \
    MaxBurstLength=131072 MaxOutstandingR2T=1 MaxConnections=1 DataPDUInOrder=Yes \
    DataSequenceInOrder=Yes MaxRecvDataSegmentLength=8192 TargetAlias=store";

fn text(line: &mut Line) -> String {
    let heard = line.heard();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].0.opcode(), 3);
    String::from_utf8(heard[0].1.clone()).unwrap().replace('\0', " ")
}

fn with_chap(mutual: bool) -> Options {
    Options {
        chap: Some(Credentials {
            name: "us".into(),
            secret: Secret::new("open sesame, now!"),
            algorithms: Algorithm::ALL.to_vec(),
            mutual: mutual.then(|| Mutual { name: None, secret: Secret::new("theirs") }),
        }),
        ..options(Parameters::default())
    }
}

fn login_error(outcome: Result<(), Error>) -> LoginError {
    match outcome {
        Err(Error::Login(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_key_is_negotiated() {
    let mut line = Line::new(options(Parameters::default()));
    assert_eq!(line.session.state(), SessionState::Opening);
    assert_eq!(
        text(&mut line),
        "InitiatorName=iqn.2026-01.org.example:us SessionType=Normal \
         TargetName=iqn.2026-01.org.example:them AuthMethod=None "
    );
    line.login(0x81, 0, "TargetPortalGroupTag=7 AuthMethod=None").unwrap();
    let offer = text(&mut line);
    for pair in [
        "HeaderDigest=None,CRC32C",
        "ErrorRecoveryLevel=0",
        "MaxConnections=1",
        "InitialR2T=No",
        "MaxRecvDataSegmentLength=262144",
    ] {
        assert!(offer.contains(pair), "{offer}");
    }
    line.login(0x87, 9, ANSWERS).unwrap();
    assert_eq!(line.session.state(), SessionState::Ready);
    let agreed = line.session.negotiated();
    assert!(agreed.digests.data && !agreed.digests.header && agreed.initial_r2t);
    assert_eq!((agreed.first_burst_bytes, agreed.max_burst_bytes), (65_536, 131_072));
    assert_eq!((agreed.max_send_bytes, agreed.max_receive_bytes), (8192, 262_144));
    assert_eq!((agreed.portal_group_tag, agreed.tsih), (Some(7), 9));
    assert_eq!(agreed.alias.as_deref(), Some("store"));
    assert_eq!(agreed.time2wait_s, 3);
    assert!(agreed.unanswered.is_empty());
    assert_eq!(agreed.rows().len(), 18);
}

#[test]
fn keys_may_come_in_pieces_and_questions_are_answered() {
    let mut line = Line::new(options(Parameters::default()));
    line.heard();
    line.login(0x81, 0, "AuthMethod=None").unwrap();
    line.heard();
    // Split in the middle of a key.
    let (head, tail) = ANSWERS.split_at(30);
    let head_response = LoginResponse {
        flags: flags::CONTINUE | 0x04,
        isid: [0x80, 1, 2, 3, 0, 1],
        stat_sn: line.status(),
        ..LoginResponse::default()
    };
    let head: Vec<u8> = head.replace(' ', "\0").into_bytes();
    line.say(head_response.encode(), &head).unwrap();
    assert_eq!(text(&mut line), "");
    line.login(0x04, 0, &format!("{tail} OFMarker=No X-org.example.key=1 Odd=Reject")).unwrap();
    assert_eq!(text(&mut line), "OFMarker=No X-org.example.key=NotUnderstood ");
    line.login(0x87, 9, "").unwrap();
    assert_eq!(line.session.state(), SessionState::Ready);
    assert!(line.session.negotiated().digests.data);
}

#[test]
fn what_a_target_does_not_know_stays_careful() {
    let line = Line::ready(
        options(Parameters::default()),
        "InitialR2T=Irrelevant ImmediateData=NotUnderstood MaxBurstLength=Reject",
    );
    let agreed = line.session.negotiated();
    assert!(agreed.initial_r2t && !agreed.immediate_data);
    assert_eq!((agreed.max_burst_bytes, agreed.max_outstanding_r2t), (262_144, 1));
    assert!(agreed.unanswered.contains(&("InitialR2T".into(), "Irrelevant".into())));
    assert!(agreed.unanswered.contains(&("MaxConnections".into(), "-".into())));
}

#[test]
fn answers_against_the_rules_end_the_login() {
    for answer in [
        "MaxBurstLength=99999999",
        "MaxBurstLength=511",
        "FirstBurstLength=nonsense",
        "HeaderDigest=CRC16",
        "MaxConnections=2",
        "ErrorRecoveryLevel=1",
        "DataPDUInOrder=No",
        "MaxBurstLength=512 MaxBurstLength=512",
        "X-a=1 X-a=1",
        "MaxRecvDataSegmentLength=1",
        "DefaultTime2Wait=1",
    ] {
        let mut line = Line::new(options(Parameters::default()));
        line.login(0x81, 0, "AuthMethod=None").unwrap();
        let error = login_error(line.login(0x87, 9, answer));
        assert!(error.to_string().contains(':'), "{error}");
    }
    let insists = Parameters { data_digest: vec![Digest::Crc32c], ..Parameters::default() };
    for answer in ["DataDigest=None", "DataDigest=Reject", ""] {
        let mut line = Line::new(options(insists.clone()));
        line.login(0x81, 0, "AuthMethod=None").unwrap();
        assert!(matches!(
            login_error(line.login(0x87, 9, answer)),
            LoginError::Answer { key, .. } if key == "DataDigest"
        ));
    }
}

#[test]
fn responses_out_of_place_end_the_login() {
    let out_of_place = |outcome| {
        assert!(matches!(login_error(outcome), LoginError::OutOfPlace { .. }));
    };
    let fresh = || Line::new(options(Parameters::default()));
    // Straight to full feature phase, before our offers.
    out_of_place(fresh().login(0x83, 9, "AuthMethod=None"));
    // A stage other than ours.
    out_of_place(fresh().login(0x87, 9, ""));
    // No session handle.
    let mut line = fresh();
    line.login(0x81, 0, "").unwrap();
    out_of_place(line.login(0x87, 0, ""));
    // A gap in StatSN.
    let mut line = fresh();
    line.login(0x81, 0, "").unwrap();
    line.stat_sn += 1;
    out_of_place(line.login(0x87, 9, ""));
    // An operational key during the security stage.
    out_of_place(fresh().login(0x81, 0, "MaxBurstLength=512"));
    // The login never ends.
    let mut line = fresh();
    line.login(0x81, 0, "").unwrap();
    let end = (0..100).find_map(|_| line.login(0x04, 0, "").err());
    assert!(matches!(login_error(Err(end.unwrap())), LoginError::Endless { .. }));
    // Not a login response at all.
    let answer = TextResponse::default().encode();
    assert!(matches!(fresh().say(answer, &[]), Err(Error::Unexpected { .. })));
    // A longer answer than allowed before anything is declared.
    let long = LoginResponse { flags: 0x81, ..LoginResponse::default() }.encode();
    assert!(matches!(fresh().say(long, &[0; 8193]), Err(Error::Frame(_))));
}

#[test]
fn every_status_has_its_words() {
    let refused = |class, detail, keys: &str| {
        let mut line = Line::new(options(Parameters::default()));
        let response = LoginResponse {
            status_class: class,
            status_detail: detail,
            ..LoginResponse::default()
        };
        login_error(line.say(response.encode(), format!("{keys}\0").as_bytes()))
    };
    assert_eq!(
        refused(1, 1, "TargetAddress=[fd00::1]:3260,1"),
        LoginError::Redirected { address: "[fd00::1]:3260".into(), permanent: false }
    );
    assert!(refused(1, 2, "TargetAddress=b:1").to_string().contains("is now at b:1"));
    assert_eq!(refused(1, 1, ""), LoginError::RedirectedNowhere);
    assert_eq!(refused(2, 1, ""), LoginError::CredentialsWanted);
    assert!(refused(2, 2, "").to_string().contains("iqn.2026-01.org.example:us"));
    assert!(refused(2, 3, "").to_string().contains("iqn.2026-01.org.example:them"));
    assert!(matches!(refused(2, 4, ""), LoginError::Removed { .. }));
    assert_eq!(refused(2, 6, ""), LoginError::TooManyConnections);
    for detail in [0, 5, 7, 8, 9, 10, 11, 99] {
        assert!(matches!(refused(2, detail, ""), LoginError::Refused { .. }));
    }
    assert_eq!(refused(3, 1, ""), LoginError::Unavailable);
    assert_eq!(refused(3, 2, ""), LoginError::OutOfResources);
    assert_eq!(refused(3, 0, ""), LoginError::TargetFailed { class: 3, detail: 0 });
    assert_eq!(refused(9, 9, ""), LoginError::TargetFailed { class: 9, detail: 9 });
}

#[test]
fn who_is_not_let_in_is_named_without_the_secret() {
    for mutual in [false, true] {
        let mut line = Line::new(with_chap(mutual));
        let response =
            LoginResponse { status_class: 2, status_detail: 1, ..LoginResponse::default() };
        let error = login_error(line.say(response.encode(), &[]));
        assert!(matches!(&error, LoginError::AuthenticationFailed { user, .. } if user == "us"));
        let message = error.to_string();
        assert!(message.contains("user us with this password"), "{message}");
        assert_eq!(message.contains("prove itself"), mutual, "{message}");
    }
}

#[test]
fn chap_goes_its_way_to_the_end() {
    let mut line = Line::new(with_chap(false));
    assert!(text(&mut line).ends_with("AuthMethod=CHAP "));
    line.login(0x00, 0, "AuthMethod=CHAP TargetPortalGroupTag=1").unwrap();
    assert_eq!(text(&mut line), "CHAP_A=8,6,5,7 ");
    line.login(0x00, 0, "CHAP_A=5 CHAP_I=39 CHAP_C=0x000102030405060708090a0b0c0d0e0f").unwrap();
    assert_eq!(text(&mut line), "CHAP_N=us CHAP_R=0xacd324a4a4ee68ccdd534f5e414130ee ");
    line.login(0x81, 0, "").unwrap();
    assert!(text(&mut line).contains("InitialR2T"));
    line.login(0x87, 9, ANSWERS).unwrap();
    let agreed = line.session.negotiated();
    assert_eq!((agreed.chap, agreed.mutual_chap), (Some(Algorithm::Md5), false));
}

#[test]
fn mutual_chap_wants_the_target_s_proof() {
    let until_proof = |line: &mut Line| {
        line.login(0x00, 0, "AuthMethod=CHAP").unwrap();
        line.login(0x00, 0, "CHAP_A=7 CHAP_I=1 CHAP_C=0x0102").unwrap();
        let said = text_last(line);
        let challenge = said.split(' ').find_map(|pair| pair.strip_prefix("CHAP_C=0x")).unwrap();
        (0..challenge.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&challenge[at..at + 2], 16).unwrap())
            .collect::<Vec<u8>>()
    };
    let proof = |challenge: &[u8], secret: &str| {
        let response = Algorithm::Sha256.response(4, &Secret::new(secret), challenge);
        let digits: String = response.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("CHAP_N=them CHAP_R=0x{digits}")
    };
    let mut line = Line::new(with_chap(true));
    let challenge = until_proof(&mut line);
    line.login(0x81, 0, &proof(&challenge, "theirs")).unwrap();
    line.login(0x87, 9, ANSWERS).unwrap();
    assert!(line.session.negotiated().mutual_chap);

    let mut line = Line::new(with_chap(true));
    let challenge = until_proof(&mut line);
    let outcome = line.login(0x81, 0, &proof(&challenge, "a guess"));
    assert_eq!(login_error(outcome), LoginError::Chap(ChapError::NotProven));

    // Without any authentication.
    let mut line = Line::new(with_chap(true));
    until_proof(&mut line);
    let outcome = line.login(0x81, 0, "");
    assert_eq!(login_error(outcome), LoginError::Chap(ChapError::Missing { key: "CHAP_R" }));
}

fn text_last(line: &mut Line) -> String {
    let heard = line.heard();
    String::from_utf8(heard.last().unwrap().1.clone()).unwrap().replace('\0', " ")
}

#[test]
fn a_target_cannot_talk_us_out_of_chap() {
    let mut line = Line::new(with_chap(false));
    assert!(matches!(
        login_error(line.login(0x00, 0, "AuthMethod=None")),
        LoginError::Method { .. }
    ));
    // Nor may it leave the stage before we have authenticated.
    let mut line = Line::new(with_chap(false));
    assert!(matches!(
        login_error(line.login(0x81, 0, "AuthMethod=CHAP")),
        LoginError::OutOfPlace { .. }
    ));
    let mut line = Line::new(options(Parameters::default()));
    assert!(matches!(
        login_error(line.login(0x00, 0, "AuthMethod=CHAP")),
        LoginError::Method { .. }
    ));
}

#[test]
fn a_login_that_takes_too_long_is_given_up() {
    let mut line = Line::new(options(Parameters::default()));
    assert_eq!(line.session.deadline_ns(), Some(15_000_000_000));
    line.now_ns = 14_999_999_999;
    line.tick().unwrap();
    line.now_ns += 1;
    assert!(matches!(line.tick(), Err(Error::Silent { .. })));
}

#[test]
fn secrets_are_in_no_dump() {
    let dump = format!("{:?}", Line::new(with_chap(true)).session);
    assert!(dump.contains("\"us\"") && !dump.contains("sesame") && !dump.contains("theirs"));
    // Nor as numbers.
    assert!(!dump.contains("111, 112, 101, 110"));
}
