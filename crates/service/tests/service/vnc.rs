//! Viewers of a desktop.

use std::sync::atomic::Ordering;

use stormeter_trial::{ScreenArea, ScreenFields, ServiceLoad, VncLoad};
use stormeter_wire::Secret;

use crate::desktop::{Manner, serve};
use crate::{drive, plan, refusal};

fn load(port: u16, keys_at: &str) -> VncLoad {
    VncLoad {
        password_file: "vnc.txt".into(),
        pause_ns: 20_000_000,
        pointer_per_s: 100,
        keys_at: ScreenArea::parse(keys_at),
        fields: None,
        port,
    }
}

const LOWER_HALF: &str = "640x240+0+240";

#[test]
fn keys_are_answered_by_pictures_and_all_else_is_counted() {
    let (port, done) = serve(Manner::Well);
    let plan = plan(ServiceLoad::Vnc(load(port, LOWER_HALF)), 6);
    let enough = |operations| operations > 60 && done.pointers.load(Ordering::Relaxed) > 6;
    let (sample, incidents) = drive(&plan, &enough);
    assert!(incidents.is_empty(), "{incidents:?}");
    let keys = done.keys.lock().unwrap();
    let answered = sample.reads.operations as usize;
    assert!((keys.len() - 6..=keys.len()).contains(&answered), "{answered} of {}", keys.len());
    assert!(keys.iter().all(u8::is_ascii_lowercase));
    let mut different = keys.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 6, "{different:?}");
    // Its picture is not in the area of keys, which begins at 240.
    assert!(done.lowest.load(Ordering::Relaxed) < 210);
    let updates = sample.updates.unwrap();
    assert!(updates > sample.reads.operations, "{updates}");
    // Each update has 25 bytes.
    assert!(sample.reads.bytes >= updates * 25);
    assert_eq!(done.viewers.load(Ordering::Relaxed), 6);
}

/// The desktop shows every key at one place: in the field of this viewer's keys, or not.
#[test]
fn a_key_is_answered_in_its_own_field_only() {
    let answered = |area: &str, enough: &dyn Fn(u64, u32) -> bool| {
        let (port, done) = serve(Manner::Well);
        let fields = ScreenFields::parse("1x26");
        let load = VncLoad { fields, ..load(port, area) };
        let enough = |operations| enough(operations, done.pointers.load(Ordering::Relaxed));
        let (sample, _) = drive(&plan(ServiceLoad::Vnc(load), 1), &enough);
        sample.reads.operations
    };
    // Pictures of keys are 16 pixels high at 300; the first viewer types a and n, whose fields are 19 and 6 of 26.
    let one_high = "640x26+0+281";
    assert!(answered(one_high, &|operations, _| operations > 0) > 0);
    assert_eq!(answered("640x26+0+340", &|_, pointers| pointers > 9), 0);
}

/// What changes elsewhere is not the picture of a key, and without an area it would be.
#[test]
fn only_the_area_of_keys_answers_a_key() {
    let (port, done) = serve(Manner::Elsewhere);
    let with_area = plan(ServiceLoad::Vnc(load(port, LOWER_HALF)), 1);
    let (sample, _) = drive(&with_area, &|_| done.pointers.load(Ordering::Relaxed) > 9);
    assert_eq!(sample.reads.operations, 0);
    assert!(sample.updates.unwrap() > 5);
    assert_eq!(done.keys.lock().unwrap().len(), 1);
    let anywhere = plan(ServiceLoad::Vnc(load(port, "")), 1);
    drive(&anywhere, &|operations| operations > 1);
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
    let (sample, incidents) = drive(&plan, &|operations| operations > 3);
    assert_eq!(sample.reads.errors, 1);
    assert_eq!(done.viewers.load(Ordering::Relaxed), 2);
    assert_eq!(incidents.len(), 1, "{incidents:?}");
}
