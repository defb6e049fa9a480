//! A site file by itself: looked at, changed, refused.

use crate::place::Place;

const STUDIES: [&str; 5] = ["virtual-physical", "nfs-datastore", "tr3808", "vsan", "mpls-servers"];

/// The least that a site can be, with a name that would clear the screen.
const LEAST: &str = "\
site: \"a\\e[2Jb\"
hosts: {pc: {cores: 4, clock: 3GHz}}
stacks: {disk: {protocol: local, per-read: 20000 cycles}}
disk-groups: {ssd: {raid: 10, disks: 4, device: {like: sata-ssd-480gb}}}
datastores: {local: {hosts: pc, stack: disk, disks: ssd}}
";

#[test]
fn the_sites_of_the_published_studies_are_sound_and_printed() {
    let place = Place::new();
    for study in STUDIES {
        let file = format!("{}/../../studies/{study}/site.yaml", env!("CARGO_MANIFEST_DIR"));
        let said = place.run(&format!("site check {file}")).expect(&[0]).said();
        for words in ["Hosts", "Stacks", "Datastores", " → "] {
            assert!(said.contains(words), "{study}: {words}: {said}");
        }
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/tr3808/site.yaml");
    let said = place.run(&format!("site check {file}")).expect(&[0]).said();
    for words in ["esx 8 hosts with 8 cores", "esx.hba → fabric → filer.fc → aggregate", "usable"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_change_is_seen_and_a_bad_one_refused() {
    let place = Place::new();
    std::fs::write(place.path("site.yaml"), LEAST).unwrap();
    let said = place.run("site check site.yaml").expect(&[0]);
    assert!(said.stdout.contains("1 host with 4 cores at 3GHz"), "{said:?}");
    assert!(said.stdout.contains("RAID 10 of 4 disks"), "{said:?}");
    assert!(!said.stdout.contains('\x1b'), "a name does not steer the terminal: {said:?}");
    let said = place.run("site check site.yaml --what-if cores=16 --what-if hosts=3").expect(&[0]);
    assert!(said.stdout.contains("3 hosts with 16 cores"), "{said:?}");
    let bad = place.run("site check site.yaml --what-if cores=-1").expect(&[2]);
    assert!(bad.stderr.contains("cores=-1") && bad.stderr.contains('^'), "{bad:?}");
}

#[test]
fn every_mistake_of_a_site_is_shown_with_its_place() {
    let place = Place::new();
    let bad = LEAST.replace("disks: 4", "disks: 3").replace("disks: ssd", "disks: sdd");
    std::fs::write(place.path("bad.yaml"), bad).unwrap();
    let outcome = place.run("site check bad.yaml").expect(&[2]);
    for words in ["bad.yaml:4:", "bad.yaml:5:", "did you mean ssd", "^^^"] {
        assert!(outcome.stderr.contains(words), "{words}: {outcome:?}");
    }
    assert_eq!(outcome.stdout, "");
    let outcome = place.run("site check none.yaml").expect(&[2]);
    assert!(outcome.stderr.contains("the site file none.yaml cannot be read"), "{outcome:?}");
}

#[test]
fn the_library_is_printed_as_it_is_named() {
    let place = Place::new();
    let library = place.run("site library").expect(&[0]).stdout;
    for words in ["sata-ssd-480gb:", "hba-4gfc:", "xeon-e5540-2:"] {
        assert!(library.contains(words), "{words}");
    }
    place.run("site").expect(&[2]);
}

#[test]
fn the_manual_page_and_completions_have_what_is_below_a_command() {
    let place = Place::new();
    for command in ["predict", "site", "site check", "site library"] {
        let page = place.run(&format!("man {command}")).expect(&[0]).stdout;
        let title = format!(".TH stormeter-{} 1", command.replace(' ', "-"));
        assert!(page.contains(&title), "{title}: {page:.200}");
    }
    // What a script asks the program for.
    let mut asked = place.command("-- stormeter site ");
    asked.arg("").env("STORMETER_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2");
    let offered = place.spawn(asked).wait().expect(&[0]).stdout;
    assert!(offered.contains("library") && offered.contains("check"), "{offered}");
}
