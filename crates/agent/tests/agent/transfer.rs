//! Trials of fixed work through an agent: transfers whose clients are elsewhere, and file tests.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;

use stormeter_agent::{Command, Report};
use stormeter_datastore::RealClock;
use stormeter_disk::Clock;
use stormeter_runner::{
    ClientStart, ListenOrder, Password, Silent, TransferClient, TrialEnd, TrialOrder, run_clients,
};
use stormeter_study::WorkloadKind;
use stormeter_trial::{
    Deployment, Ended, FileOperation, FileTest, Transfer, TransferDirection, TransferSink,
};

use crate::session::{Session, fixed_work, open, prepare};

const WORD: &str = "00112233445566778899aabbccddeeff";
const VMS: u32 = 2;

fn transfer(direction: TransferDirection, sink: TransferSink, messages: u32) -> WorkloadKind {
    WorkloadKind::Transfer(Transfer { message_bytes: 100_000, direction, sink, messages })
}

fn listener() -> Option<ListenOrder> {
    Some(ListenOrder { everywhere: false, port: 0, token: Password(WORD.into()) })
}

/// An agent with prepared disks in `place`.
fn prepared(place: &tempfile::TempDir) -> Session {
    let mut session = Session::greeted();
    session.say(&open(place.path().to_str().unwrap()));
    assert!(matches!(session.hear(), Report::Opened(_)));
    session.say(&prepare());
    assert!(matches!(session.answer(), Report::Prepared(_)));
    session
}

/// Orders a transfer and returns the address of its listener.
fn ordered(session: &mut Session, order: &TrialOrder) -> SocketAddr {
    session.say(&Command::Trial(Box::new(order.clone())));
    let Report::Listening { port } = session.answer() else { panic!("no listener") };
    (Ipv4Addr::LOCALHOST, port).into()
}

fn connect(address: SocketAddr, token: &str) -> std::io::Result<Vec<TcpStream>> {
    let (addresses, token) = ([address], Password(token.into()));
    let client = TransferClient { addresses: &addresses, token: &token };
    (0..VMS).map(|vm| client.connect(vm)).collect()
}

fn done(session: &mut Session) -> TrialEnd {
    match session.answer() {
        Report::Done(end) => *end,
        other => panic!("not done: {other:?}"),
    }
}

#[test]
fn messages_go_between_clients_here_and_servers_behind_an_agent() {
    let place = tempfile::tempdir().unwrap();
    let mut session = prepared(&place);
    let file = place.path().join(".stormeter-0123456789abcdef-3/disk-00001");
    for sink in [TransferSink::Memory, TransferSink::Disk] {
        for direction in [TransferDirection::Write, TransferDirection::Read] {
            let order = fixed_work(transfer(direction, sink, 20), listener());
            let before = std::fs::read(&file).unwrap();
            let sockets = connect(ordered(&mut session, &order), WORD).unwrap();
            assert_eq!(session.answer(), Report::Ready);
            session.say(&Command::Start { at_ns: 0 });
            let mut clock = RealClock::new();
            let cancel = AtomicBool::new(false);
            let start = ClientStart { at_ns: clock.now_ns(), first_cpu: 0 };
            let run = order.fixed_work();
            let end = run_clients(&run, sockets, &clock, &cancel, start, &mut Silent).unwrap();
            assert_eq!(end.sample.ended, Ended::Completed);
            assert_eq!(end.sample.operations(), 40);
            assert_eq!(end.sample.bytes(), 4_000_000);
            let served = done(&mut session);
            assert_eq!(served.failure(), None);
            assert_eq!(served.sample.operations(), 0, "messages are counted by clients alone");
            let is_kept = (sink, direction) == (TransferSink::Disk, TransferDirection::Write);
            assert_eq!(std::fs::read(&file).unwrap() != before, is_kept);
        }
    }
    session.end().unwrap();
}

#[test]
fn a_client_without_the_token_is_not_served_and_a_cancel_closes_the_listener() {
    let place = tempfile::tempdir().unwrap();
    let mut session = prepared(&place);
    let write = || transfer(TransferDirection::Write, TransferSink::Memory, 1);
    let address = ordered(&mut session, &fixed_work(write(), listener()));
    let error = connect(address, &WORD.replace('f', "e")).unwrap_err();
    assert!(error.to_string().contains("closed the connection"), "{error}");
    session.say(&Command::Cancel);
    let Report::Failed { reason } = session.answer() else { panic!("not ended") };
    assert!(reason.contains("interrupted"), "{reason}");
    assert_eq!(session.answer(), Report::Cancelled);
    assert!(TcpStream::connect(address).is_err(), "the port is still open");
    // The controller has to name a listener.
    session.say(&Command::Trial(Box::new(fixed_work(write(), None))));
    let Report::Failed { reason } = session.answer() else { panic!("served") };
    assert!(reason.contains("no listener"), "{reason}");
    session.end().unwrap();
}

#[test]
fn clients_and_servers_that_are_cut_off_end_the_trial_of_the_others() {
    let place = tempfile::tempdir().unwrap();
    for sink in [TransferSink::Memory, TransferSink::Disk] {
        let order = fixed_work(transfer(TransferDirection::Write, sink, u32::MAX), listener());
        // The clients are gone: the servers' own results still count.
        let mut session = prepared(&place);
        drop(connect(ordered(&mut session, &order), WORD).unwrap());
        assert_eq!(session.answer(), Report::Ready);
        session.say(&Command::Start { at_ns: 0 });
        assert_eq!(done(&mut session).sample.ended, Ended::Completed);
        // The agent is gone, as seen by its clients.
        let sockets = connect(ordered(&mut session, &order), WORD).unwrap();
        assert_eq!(session.answer(), Report::Ready);
        session.say(&Command::Start { at_ns: 0 });
        let mut clock = RealClock::new();
        let cancel = AtomicBool::new(false);
        let start = ClientStart { at_ns: clock.now_ns(), first_cpu: 0 };
        let clients = std::thread::spawn(move || {
            let run = order.fixed_work();
            run_clients(&run, sockets, &clock, &cancel, start, &mut Silent).unwrap()
        });
        session.end().unwrap();
        let end = clients.join().unwrap();
        let reason = end.failure().unwrap().to_string();
        assert!(reason.contains("gone") || reason.contains("reset"), "{reason}");
    }
}

#[test]
fn a_file_is_rewritten_and_read_again_on_a_host() {
    let place = tempfile::tempdir().unwrap();
    let mut session = prepared(&place);
    for operation in FileOperation::ALL {
        let (record_bytes, outstanding, client_cache) = (64 << 10, 1, false);
        let test =
            FileTest { operation, record_bytes, outstanding, client_cache, flush_at_end: false };
        session.say(&Command::Trial(Box::new(fixed_work(WorkloadKind::File(test), None))));
        assert_eq!(session.answer(), Report::Ready);
        session.say(&Command::Start { at_ns: 0 });
        let end = done(&mut session);
        assert_eq!(end.failure(), None);
        assert_eq!(end.sample.operations(), 32, "{operation:?}: two files of 16 records");
    }
    let deployment = Deployment {
        copy_bytes: 65536,
        clone: false,
        outstanding: 1,
        customise_writes: 1,
        boot_reads: 1,
    };
    // The second of the two disks is the template.
    let order = TrialOrder { vms: 1, ..fixed_work(WorkloadKind::Deploy(deployment), None) };
    session.say(&Command::Trial(Box::new(order)));
    assert_eq!(session.answer(), Report::Ready);
    session.say(&Command::Start { at_ns: 0 });
    let end = done(&mut session);
    assert_eq!((end.failure(), end.sample.operations()), (None, 1));
    let steps: Vec<&str> = end.sample.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["copy", "customise", "boot"]);
    session.end().unwrap();
}
