//! Study files that are right: what becomes of them.

use stormeter_study::parse_study;

#[test]
fn smoke() {
    let plan = parse_study(include_str!("good/design.yaml")).unwrap_or_else(|e| panic!("{e}"));
    println!("{plan:#?}\n{}", stormeter_study::plan_text(&plan));
}
