//! `rbd:` without a usable librbd: the message says what to install, and nothing hangs or is left.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::place::Place;

/// What the command says with these two libraries before those of the system.
fn refusal(rados: &dyn Fn(PathBuf), rbd: &dyn Fn(PathBuf)) -> String {
    let place = Place::new();
    let libraries = place.make("libraries");
    rados(libraries.join("librados.so.2"));
    rbd(libraries.join("librbd.so.1"));
    let mut command = place.command("compare a rbd:rbd/vm --size 1MiB");
    command.env("LD_LIBRARY_PATH", libraries);
    let outcome = place.spawn(command).wait().expect(&[1]);
    outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A library of this process that has no function of Ceph's.
fn another(path: PathBuf) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let name = maps.split_whitespace().find(|word| word.contains("/libc.so")).unwrap();
    symlink(name, path).unwrap();
}

#[test]
fn a_library_that_cannot_be_loaded_says_what_to_install() {
    let broken = |path| fs::write(path, "this is no library").unwrap();
    let said = refusal(&broken, &broken);
    assert!(said.contains("librados.so.2 cannot be loaded: "), "{said}");
    assert!(
        said.contains("install librbd, the library with which hypervisors reach Ceph"),
        "{said}"
    );
    assert!(said.contains("librbd1"), "{said}");
}

#[test]
fn a_library_that_is_too_old_names_the_function_that_it_lacks() {
    let said = refusal(&another, &another);
    assert!(said.contains("librados.so.2 has no function rados_create2"), "{said}");
    assert!(said.contains("install librbd of Ceph 12 or later"), "{said}");
}
