//! Viewers of a desktop.

use std::sync::atomic::Ordering;
use std::time::Duration;

use stormeter_trial::{Ended, ScreenArea, ServiceLoad, VncLoad};
use stormeter_wire::Secret;

use crate::desktop::{Manner, serve};
use crate::{drive, plan, refusal};

fn load(port: u16, keys_at: &str) -> VncLoad {
    VncLoad {
        password_file: "vnc.txt".into(),
        pause_ns: 20_000_000,
        pointer_per_s: 100,
        keys_at: ScreenArea::parse(keys_at),
        port,
    }
}

const LOWER_HALF: &str = "640x240+0+240";

#[test]
fn keys_are_answered_by_pictures_and_all_else_is_counted() {
    let (port, done) = serve(Manner::Well);
    let plan = plan(ServiceLoad::Vnc(load(port, LOWER_HALF)), 6);
    let (sample, incidents) = drive(&plan, Duration::from_millis(400));
    assert!(incidents.is_empty(), "{incidents:?}");
    assert_eq!(sample.ended, Ended::Completed);
    let keys = done.keys.lock().unwrap();
    let answered = sample.reads.operations as usize;
    assert!((keys.len() - 6..=keys.len()).contains(&answered), "{answered} of {}", keys.len());
    assert!(keys.iter().all(u8::is_ascii_lowercase));
    let mut different = keys.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 5, "{different:?}");
    assert!(done.pointers.load(Ordering::Relaxed) > 6);
    let updates = sample.updates.unwrap();
    assert!(updates > sample.reads.operations, "{updates}");
    // Each update has 25 bytes.
    assert!(sample.reads.bytes >= updates * 25);
    assert_eq!(done.viewers.load(Ordering::Relaxed), 6);
}

/// What changes elsewhere is not the picture of a key, and without an area it would be.
#[test]
fn only_the_area_of_keys_answers_a_key() {
    let (port, done) = serve(Manner::Elsewhere);
    let with_area = plan(ServiceLoad::Vnc(load(port, LOWER_HALF)), 1);
    let (sample, _) = drive(&with_area, Duration::from_millis(200));
    assert_eq!(sample.reads.operations, 0);
    assert!(sample.updates.unwrap() > 5);
    assert_eq!(done.keys.lock().unwrap().len(), 1);
    let anywhere = plan(ServiceLoad::Vnc(load(port, "")), 1);
    let (sample, _) = drive(&anywhere, Duration::from_millis(200));
    assert!(sample.reads.operations > 1);
}

#[test]
fn each_refusal_has_its_reason() {
    let of = |manner, keys_at| plan(ServiceLoad::Vnc(load(serve(manner).0, keys_at)), 1);
    let mut wrong = of(Manner::Well, LOWER_HALF);
    wrong.password = Secret::new("another");
    let said = refusal(&wrong);
    assert!(said.contains("refused the login (wrong)") && !said.contains("another"), "{said}");
    let said = refusal(&of(Manner::Full, LOWER_HALF));
    assert!(said.contains("refused the session: Too many"), "{said}");
    let said = refusal(&of(Manner::Well, "10x10+640+0"));
    assert!(said.contains("10x10+640+0, and the screen is 640x480+0+0"), "{said}");
    let files = stormeter_testkit::serve_ftp(stormeter_testkit::FtpManner::Well).0;
    let said = refusal(&plan(ServiceLoad::Vnc(load(files, LOWER_HALF)), 1));
    assert!(said.contains("no VNC server"), "{said}");
}

#[test]
fn a_viewer_that_is_cut_off_comes_back() {
    let (port, done) = serve(Manner::ClosesAt(3));
    let plan = plan(ServiceLoad::Vnc(load(port, LOWER_HALF)), 1);
    let (sample, incidents) = drive(&plan, Duration::from_millis(900));
    assert_eq!((sample.reads.errors, sample.ended), (1, Ended::Completed));
    assert!(sample.reads.operations > 3, "{}", sample.reads.operations);
    assert_eq!(done.viewers.load(Ordering::Relaxed), 2);
    assert_eq!(incidents.len(), 1, "{incidents:?}");
}
