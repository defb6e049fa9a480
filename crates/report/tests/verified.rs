//! What verifying came to is on every kind of report.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod study_fixture;

use fixture::{LOCAL, NAS, report};
use stormeter_report::compact::{Compact, html, terminal};
use stormeter_report::{TerminalOptions, json};
use stormeter_trial::{BlockName, Corruption, ExpectedBlock, FoundBlock, Verified};

fn verified() -> Compact {
    let mut report = report(&[LOCAL, NAS]);
    report.header.plan.verify = true;
    let clean = Verified { blocks: 123_456, ..Verified::default() };
    report.datastores[0].verified = Some(clean.clone());
    report.datastores[1].verified = Some(Verified {
        unknown_blocks: 7,
        wrong_blocks: 2,
        corruptions: vec![Corruption {
            expected: ExpectedBlock { disk: 1, offset_bytes: 8192, generations: vec![5] },
            found: FoundBlock::Block(BlockName { disk: 1, offset_bytes: 8192, generation: 3 }),
            at_ns: 7,
            covered: false,
        }],
        ..clean
    });
    report
}

#[test]
fn the_text_says_how_many_blocks_were_read_back_and_how_many_were_wrong() {
    let text = terminal(&verified(), TerminalOptions::default());
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    assert!(text.contains("Verified: "), "{text}");
    assert!(text.contains("123 456 blocks read back, none wrong; "), "{text}");
    assert!(text.contains("2 wrong (7 by offset and checksum only, after resuming)."), "{text}");
    let plain = terminal(&report(&[LOCAL, NAS]), TerminalOptions::default());
    assert!(!plain.contains("erified"), "{plain}");
}

#[test]
fn so_does_the_page() {
    let page = html(&verified());
    assert!(page.contains("Verified") && page.contains("blocks read back, none wrong"));
    assert!(!html(&report(&[LOCAL, NAS])).contains("Verified"));
}

#[test]
fn the_json_has_both_values_of_a_wrong_block() {
    let mut comparison = study_fixture::comparison();
    for (cell, of) in comparison.analysis.cells.iter_mut().zip(verified().datastores) {
        cell.verified = of.verified;
    }
    let json = json(&comparison);
    assert_eq!(json["cells"][0]["verified"]["wrong_blocks"], 0);
    let wrong = &json["cells"][1]["verified"]["corruptions"][0];
    assert_eq!(wrong["expected"]["generations"][0], 5);
    assert_eq!(wrong["found"]["generation"], 3);
    assert_eq!(wrong["what"], "disk 1 at 8192: generation 3 instead of generation 5");
    assert!(report(&[LOCAL, NAS]).datastores[0].verified.is_none());
}
