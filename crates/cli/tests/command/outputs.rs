//! Where results go, and that it is said.

use crate::place::{Place, STEADY, SURE};

#[test]
fn a_page_is_named_by_a_url_or_is_all_of_standard_output() {
    let place = Place::new();
    let command = format!("compare a b {STEADY} {SURE} --max-blocks 5 --output r.db");
    let outcome = place.run(&format!("{command} --html r.html")).expect(&[0, 4, 5]);
    let url = outcome.stderr.lines().find_map(|line| line.strip_prefix("Page: file://"));
    let path = url.unwrap_or_else(|| panic!("{outcome:#?}"));
    assert!(path.starts_with('/') && path.ends_with("/r.html"), "{path}");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(outcome.stdout.contains("Repeat it: "), "{outcome:#?}");

    let outcome = place.run("report r.db --html -").expect(&[0, 4, 5]);
    assert!(outcome.stdout.starts_with("<!DOCTYPE html>"), "{:.200}", outcome.stdout);
    assert_eq!(outcome.stdout.lines().count(), page.lines().count());
    assert_eq!(outcome.stderr, "", "no path to name");
    assert!(!place.path("-").exists());
    for wrong in ["report r.db --html - --json", "compare a b --output -", "run s.yaml --output -"]
    {
        std::fs::write(place.path("s.yaml"), "datastores: {a: ./a}\nworkloads: [vm-4k]\n").unwrap();
        let outcome = place.run(wrong).expect(&[2]);
        assert!(outcome.stderr.contains("standard output"), "{wrong}: {outcome:?}");
    }
    assert!(!place.path("-").exists());
}
