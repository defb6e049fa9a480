//! How an agent handles messages, well-formed or not.

use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;
use stormeter_agent::{Command, FrameError, PROTOCOL, Report, ServeError, read_frame, write_frame};
use stormeter_datastore::Durability;
use stormeter_runner::{OpenOrder, Password};
use stormeter_trial::Ended;

use crate::session::{Session, folders, hello, open, prepare, trial};

/// The value after encoding and decoding.
fn again<T: Serialize + DeserializeOwned>(message: &T) -> T {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, message).unwrap();
    read_frame(&mut bytes.as_slice()).unwrap()
}

#[test]
fn every_message_of_a_whole_session_is_understood_as_it_was_meant() {
    let place = tempfile::tempdir().unwrap();
    let url = place.path().to_str().unwrap();
    let mut session = Session::start();
    let mut reports = Vec::new();
    let ask = |session: &mut Session, command: &Command| {
        assert_eq!(&again(command), command);
        session.say(command);
    };
    let mut hear = |session: &mut Session| {
        let report = session.hear();
        reports.push(report.clone());
        report
    };
    ask(&mut session, &hello());
    let Report::Hello { protocol, version, capabilities, facts } = hear(&mut session) else {
        panic!("no hello")
    };
    assert_eq!((protocol, version.as_str()), (PROTOCOL, "1.2.3"));
    assert!(capabilities.contains(&"trial".into()));
    assert!(facts.environment.cpus > 0 && facts.boot_id.is_some());
    ask(&mut session, &open(url));
    let opened = match hear(&mut session) {
        Report::Opened(opened) => opened,
        other => panic!("not opened: {other:?}"),
    };
    assert_eq!((opened.store_of.as_slice(), opened.datastores.len()), ([0].as_slice(), 1));
    assert_eq!(folders(place.path()), [".stormeter-0123456789abcdef-3"], "its own number");
    ask(&mut session, &prepare());
    loop {
        match hear(&mut session) {
            Report::Preparing { done, total } => assert!(done <= total),
            Report::Prepared(prepared) => break assert!(!prepared.reused),
            other => panic!("{other:?}"),
        }
    }
    // Long enough for a directory that other tests keep busy to answer at least once.
    ask(&mut session, &trial(Some(0), 600));
    assert_eq!(hear(&mut session), Report::Ready);
    ask(&mut session, &Command::Ping { sent_ns: 17 });
    let Report::Pong { sent_ns: 17, now_ns, unix_ns } = hear(&mut session) else {
        panic!("no pong")
    };
    assert!(unix_ns > 1_600_000_000_000_000_000);
    ask(&mut session, &Command::Start { at_ns: now_ns + 20_000_000 });
    assert!(matches!(hear(&mut session), Report::Starting { .. }));
    let mut intervals = 0;
    let end = loop {
        match hear(&mut session) {
            Report::Interval(_) => intervals += 1,
            Report::Done(end) => break end,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(end.sample.ended, Ended::Completed);
    assert!(end.sample.operations() > 0 && end.sample.disks.len() == 2);
    assert!(intervals >= 5, "{intervals} rows were streamed");
    // The ceiling needs no datastore.
    ask(&mut session, &trial(None, 20));
    assert_eq!(hear(&mut session), Report::Ready);
    ask(&mut session, &Command::Start { at_ns: 0 });
    let Report::Starting { late_ns } = session.hear() else { panic!("not heard") };
    assert!(late_ns > 0, "the start was gone by");
    assert!(matches!(session.answer(), Report::Done(_)));
    ask(&mut session, &Command::CleanUp);
    assert_eq!(hear(&mut session), Report::CleanedUp { left: vec![] });
    assert!(folders(place.path()).is_empty());
    ask(&mut session, &Command::Cancel);
    assert_eq!(hear(&mut session), Report::Cancelled);
    ask(&mut session, &Command::Goodbye);
    assert_eq!(hear(&mut session), Report::Goodbye);
    session.ended().unwrap();
    reports.push(Report::Failed { reason: "full".into() });
    for report in reports {
        assert_eq!(again(&report), report);
    }
}

#[test]
fn a_password_arrives_and_is_never_printed() {
    let Command::Open(order) = open("null:") else { unreachable!() };
    let secrets = vec![("iscsi://u@h/t/0".to_owned(), Password("sesame".into()))];
    let order = Command::Open(OpenOrder { secrets, ..order });
    assert_eq!(again(&order), order);
    assert!(!format!("{order:?}").contains("sesame"));
}

#[test]
fn what_the_workloads_ask_of_storage_arrives() {
    let Command::Open(order) = open("null:") else { unreachable!() };
    let durability = Durability { flushes: true, durable_writes: false };
    let order = Command::Open(OpenOrder { durability, ..order });
    assert_eq!(again(&order), order);
}

#[test]
fn another_protocol_is_answered_with_none_and_a_missing_hello_ends_the_session() {
    let mut session = Session::start();
    session.say(&Command::Hello { protocols: vec![PROTOCOL + 1], version: "9.9.9".into() });
    assert!(matches!(session.hear(), Report::Hello { protocol: 0, .. }));
    session.end().unwrap();
    let mut session = Session::start();
    session.say(&Command::CleanUp);
    assert!(matches!(session.ended(), Err(ServeError::NoHello)));
    // A controller that sends nothing at all is not an error.
    Session::start().end().unwrap();
}

/// An agent mostly waits: this many are cut off at a time, each in its own directory.
const CUT_AT_A_TIME: usize = 8;

#[test]
fn a_controller_cut_off_at_any_byte_leaves_nothing() {
    thread::scope(|scope| {
        for first in 0..CUT_AT_A_TIME {
            scope.spawn(move || cut_off(first));
        }
    });
}

/// Disconnects a controller at every [`CUT_AT_A_TIME`]th byte from `first` on.
fn cut_off(first: usize) {
    let place = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    for command in [open(place.path().to_str().unwrap()), prepare()] {
        write_frame(&mut bytes, &command).unwrap();
    }
    for cut in (first..=bytes.len()).step_by(CUT_AT_A_TIME) {
        let mut session = Session::greeted();
        session.send(&bytes[..cut]);
        match session.end() {
            Ok(()) | Err(ServeError::Frame(FrameError::Truncated { .. })) => {}
            other => panic!("{cut}: {other:?}"),
        }
        assert!(folders(place.path()).is_empty(), "{cut}");
    }
}

#[test]
fn garbage_ends_an_agent_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    for garbage in
        [b"\xff\xff\xff\xffnonsense".as_slice(), b"\x04\0\0\0{{{{", b"\x06\0\0\0\"what\""]
    {
        let mut session = Session::greeted();
        session.say(&open(place.path().to_str().unwrap()));
        assert!(matches!(session.hear(), Report::Opened(_)));
        session.send(garbage);
        assert!(matches!(session.ended(), Err(ServeError::Frame(_))));
        assert!(folders(place.path()).is_empty());
    }
}

#[test]
fn a_trial_is_given_up_when_it_is_cancelled_and_the_next_one_works() {
    let mut session = Session::greeted();
    session.say(&open("null:"));
    assert!(matches!(session.hear(), Report::Opened(_)));
    session.say(&prepare());
    assert!(matches!(session.answer(), Report::Prepared(_)));
    // Before its start, and while it runs.
    for started in [false, true] {
        session.say(&trial(Some(0), 1_000_000));
        assert_eq!(session.hear(), Report::Ready);
        if started {
            session.say(&Command::Start { at_ns: 0 });
            assert!(matches!(session.hear(), Report::Starting { .. }));
            assert!(matches!(session.hear(), Report::Interval(_)));
        }
        session.say(&Command::Cancel);
        match session.answer() {
            Report::Failed { reason } if !started => assert!(reason.contains("interrupted")),
            Report::Done(end) if started => assert_eq!(end.sample.ended, Ended::Cancelled),
            other => panic!("{other:?}"),
        }
        assert_eq!(session.answer(), Report::Cancelled);
    }
    session.say(&trial(Some(0), 20));
    assert_eq!(session.hear(), Report::Ready);
    session.say(&Command::Start { at_ns: 0 });
    assert!(matches!(session.answer(), Report::Done(_)));
    session.end().unwrap();
}

#[test]
fn a_controller_that_is_gone_ends_a_trial() {
    let place = tempfile::tempdir().unwrap();
    let mut session = Session::greeted();
    session.say(&open(place.path().to_str().unwrap()));
    session.say(&prepare());
    session.say(&trial(Some(0), 1_000_000));
    session.say(&Command::Start { at_ns: 0 });
    while session.hear() != Report::Ready {}
    session.end().unwrap();
    assert!(folders(place.path()).is_empty());
}

#[test]
fn what_makes_no_sense_is_refused_and_the_agent_lives() {
    let mut session = Session::greeted();
    let mut refused = |command: &Command| {
        session.say(command);
        let Report::Failed { reason } = session.answer() else { panic!("done") };
        reason
    };
    assert!(refused(&prepare()).contains("no datastore was opened"));
    assert!(refused(&trial(Some(0), 10)).contains("no datastore was opened"));
    assert!(refused(&open("/no/such/place")).contains("/no/such/place"));
    session.say(&open("null:"));
    assert!(matches!(session.answer(), Report::Opened(_)));
    session.say(&trial(Some(5), 10));
    let Report::Failed { reason } = session.answer() else { panic!("done") };
    assert!(reason.contains("number 5"), "{reason}");
    session.end().unwrap();
}
