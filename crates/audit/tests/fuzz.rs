//! No file of tables makes the reader or a law panic: published tables and planted ones are changed at random.
//! `STORMETER_FUZZ_RUNS` sets how many times.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../import/tests/damage/mod.rs"]
mod damage;

use stormeter_audit::{PrintedAudit, audit_sheet};
use stormeter_replicate::{STUDIES, Sheet};

#[test]
fn no_table_makes_it_panic() {
    let runs: u64 =
        std::env::var("STORMETER_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(40);
    let own = [
        ("planted", include_str!("files/planted.yaml")),
        ("sound", include_str!("files/sound.yaml")),
    ];
    let mut audited = 0;
    for (name, text) in own.into_iter().chain(STUDIES) {
        // Published tables are long: a whole one for each tenth run.
        let runs = if text.len() > 20_000 { runs.div_ceil(10) } else { runs };
        for seed in 1..=runs {
            let damaged = damage::damaged(text, seed);
            let Ok(sheet) = Sheet::read(&damaged) else { continue };
            let Ok(findings) = audit_sheet(&sheet) else { continue };
            let printed = PrintedAudit::new(vec![name.to_string()], &findings).terminal(80);
            assert!(!printed.is_empty(), "{name}, run {seed}");
            audited += 1;
        }
    }
    assert!(runs < 40 || audited > 0);
}
