//! Files up and down.

use std::sync::atomic::Ordering;

use stormeter_disk::StorageEvent;
use stormeter_testkit::{FtpManner as Manner, serve_ftp as serve};
use stormeter_trial::{FtpDirection, FtpLoad, ServiceLoad};
use stormeter_wire::Secret;

use crate::{drive, drive_open, open, plan, refusal};

fn load(port: u16, direction: FtpDirection) -> FtpLoad {
    FtpLoad {
        user: "vm".into(),
        password_file: "ftp.txt".into(),
        direction,
        file_bytes: 300_000,
        files: 2,
        pause_ns: 0,
        port,
    }
}

#[test]
fn uploads_arrive_whole_and_nothing_is_left_of_them() {
    let (port, files) = serve(Manner::Well);
    let plan = plan(ServiceLoad::Ftp(load(port, FtpDirection::Upload)), 3);
    let mut sessions = open(&plan).unwrap();
    let sample = drive_open(&plan, &mut sessions, &|operations| operations >= 6);
    assert!(sample.writes.operations >= 6);
    // Bytes of files that were under way at the end count, too.
    let (whole, under_way) = (sample.writes.operations, 3);
    let bytes = sample.writes.bytes;
    assert!((whole * 300_000..=(whole + under_way) * 300_000).contains(&bytes), "{bytes}");
    assert_eq!(sample.reads.operations, 0);
    {
        let stored = files.by_name.lock().unwrap();
        assert_eq!(stored.len(), 6, "two files of each session: {:?}", stored.keys());
        let whole = stored.values().filter(|bytes| bytes.len() == 300_000);
        assert!(whole.clone().count() >= 3);
        // No block is like another, of the same file or of another: storage that deduplicates would store it once.
        let blocks: std::collections::HashSet<&[u8]> =
            whole.clone().flat_map(|bytes| bytes.chunks_exact(4096)).collect();
        assert_eq!(blocks.len(), 73 * whole.count());
    }
    assert!(sessions.finish().is_empty());
    assert_eq!(files.by_name.lock().unwrap().len(), 0);
    assert_eq!(files.sessions.load(Ordering::Relaxed), 3);
}

#[test]
fn files_to_download_are_uploaded_first_which_is_not_measured() {
    let (port, files) = serve(Manner::Well);
    let plan = plan(ServiceLoad::Ftp(load(port, FtpDirection::Download)), 2);
    let (sample, incidents) = drive(&plan, &|operations| operations >= 4);
    assert!(incidents.is_empty(), "{incidents:?}");
    assert_eq!((sample.writes.operations, sample.writes.bytes), (0, 0));
    assert!(sample.reads.bytes >= sample.reads.operations * 300_000);
    assert_eq!(files.by_name.lock().unwrap().len(), 0);
}

#[test]
fn each_refusal_says_what_the_server_said() {
    let up = |port| ServiceLoad::Ftp(load(port, FtpDirection::Upload));
    let down = |port| ServiceLoad::Ftp(load(port, FtpDirection::Download));
    let port = |manner| serve(manner).0;
    let mut wrong = plan(up(port(Manner::Well)), 1);
    wrong.password = Secret::new("wrong");
    let said = refusal(&wrong);
    assert!(said.contains("refused the login (530 Login incorrect.)"), "{said}");
    let cases = [
        (up(port(Manner::Full)), "refused the session: 421 There are too many users."),
        (down(port(Manner::NoPassive)), "a passive connection (EPSV): 502 not here"),
        (down(port(Manner::NoRoom)), "refused an upload: 552 no room"),
    ];
    for (load, words) in cases {
        let said = refusal(&plan(load, 1));
        assert!(said.contains(words), "{said}");
        assert!(!said.contains(crate::PASSWORD));
    }
    // Nobody listens.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = refusal(&plan(up(free), 1));
    assert!(said.contains("connecting: Connection refused"), "{said}");
}

#[test]
fn a_server_that_repeats_the_password_is_not_repeated() {
    let (port, _) = serve(Manner::Echoes);
    let said = refusal(&plan(ServiceLoad::Ftp(load(port, FtpDirection::Upload)), 1));
    assert!(said.contains("500 'PASS ***' not understood"), "{said}");
}

/// The server's words say more than the connection that it closes first.
#[test]
fn a_server_that_gives_an_upload_up_is_heard() {
    let (port, files) = serve(Manner::GivesUp);
    let load = FtpLoad { file_bytes: 30_000_000, ..load(port, FtpDirection::Upload) };
    let enough = |_| files.transfers.load(Ordering::Relaxed) >= 2;
    let (sample, incidents) = drive(&plan(ServiceLoad::Ftp(load), 1), &enough);
    assert!(sample.writes.errors >= 1);
    let StorageEvent::ConnectionLost { reason, .. } = &incidents[0].event else { panic!() };
    assert!(reason.as_str().contains("refused an upload: 451 no space"), "{reason}");
}

#[test]
fn files_of_sessions_that_were_ready_do_not_stay_if_another_is_refused() {
    let (port, files) = serve(Manner::FullAfter(1));
    let said = refusal(&plan(ServiceLoad::Ftp(load(port, FtpDirection::Download)), 5));
    assert!(said.contains("421 There are too many users."), "{said}");
    assert_eq!(files.by_name.lock().unwrap().len(), 0);
}

/// More than a session moves before others have their turn.
#[test]
fn a_large_file_is_moved_in_several_turns() {
    let (port, _) = serve(Manner::Well);
    for direction in [FtpDirection::Upload, FtpDirection::Download] {
        let load = FtpLoad { file_bytes: 5_000_000, ..load(port, direction) };
        let (sample, _) = drive(&plan(ServiceLoad::Ftp(load), 2), &|operations| operations >= 2);
        let most = (sample.operations() + 2) * 5_000_000;
        assert!((sample.operations() * 5_000_000..=most).contains(&sample.bytes()));
        assert_eq!(sample.failed_operations(), 0);
    }
}

#[test]
fn a_session_that_is_stopped_while_a_server_is_silent_ends() {
    let (port, _) = serve(Manner::Silent);
    let plan = plan(ServiceLoad::Ftp(load(port, FtpDirection::Upload)), 1);
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let Err(error) = stormeter_service::ServiceSessions::open(&plan, &stop) else { panic!() };
    assert_eq!(error, stormeter_service::ServiceError::Cancelled);
}

#[test]
fn a_short_file_is_a_failure_and_the_session_goes_on() {
    let (port, files) = serve(Manner::Half);
    let plan = plan(ServiceLoad::Ftp(load(port, FtpDirection::Download)), 1);
    // Two files are put there first.
    let enough = |_| files.transfers.load(Ordering::Relaxed) >= 7;
    let (sample, incidents) = drive(&plan, &enough);
    assert_eq!(sample.reads.operations, 0);
    assert!(sample.reads.errors >= 2, "{}", sample.reads.errors);
    let StorageEvent::ConnectionLost { reason, .. } = &incidents[0].event else { panic!() };
    assert!(reason.as_str().contains("300000 bytes arrived with 150000"), "{reason}");
}

#[test]
fn a_session_that_the_server_closes_comes_back() {
    let (port, files) = serve(Manner::ClosesIn(3));
    let plan = plan(ServiceLoad::Ftp(load(port, FtpDirection::Upload)), 1);
    let (sample, incidents) = drive(&plan, &|operations| operations > 3);
    assert_eq!(sample.writes.errors, 1);
    assert_eq!(files.sessions.load(Ordering::Relaxed), 2);
    assert_eq!(incidents.len(), 1, "{incidents:?}");
}
