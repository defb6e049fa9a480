//! The site file: what was found, what is unknown, and how good it is, in comments before the site itself.

use std::fmt::Write;

use stormeter_study::StudyPlan;

use super::caveat::caveats;
use super::cell_fit::FittedStore;
use super::draft::{Draft, Host, text};
use super::store::Store;
use super::summary::Errors;

/// Width of the comments at the top.
const WIDTH: usize = 100;

/// The text of the site file for these datastores, measured by this plan.
pub fn site_file(host: &Host, plan: &StudyPlan, stores: &[(&Store, &FittedStore)]) -> String {
    let mut head = String::new();
    paragraph(
        &mut head,
        "Made from short measurements. `measured` is a value with its 95 % interval, `assumed` one that nothing was \
         measured about. The search of the values under `fit` can be continued with more measurements.",
    );
    let cell = plan.timing.duration_ns as f64;
    paragraph(
        &mut head,
        &format!(
            "Measured: 4 KiB and 64 KiB, reads and writes, random and sequential, 1 and 16 outstanding I/Os, 1 and \
             4 VMs, {} times {} each; the trial in the middle counts.",
            plan.design.blocks.most(),
            stormeter_units::format_duration_ns(cell)
        ),
    );
    let _ = writeln!(head, "#\n# Error of the mean latency of cells held out of the fit:");
    for (store, fitted) in stores {
        let line = match Errors::of(&fitted.held_out) {
            Some(errors) => format!("{}: {}; {}.", store.name, errors.words(), fitted.form.words()),
            None => format!("{}: no cell was held out; {}.", store.name, fitted.form.words()),
        };
        item(&mut head, &line);
    }
    let _ = writeln!(head, "#\n# Unknown:");
    for caveat in caveats(stores, plan.disks().bytes * u64::from(plan.disks().count)) {
        item(&mut head, &caveat.words());
    }
    head.push('\n');
    let drafts: Vec<Draft<'_>> = stores.iter().map(|(store, fitted)| fitted.draft(store)).collect();
    head + &text(host, &drafts)
}

fn paragraph(head: &mut String, words: &str) {
    if !head.is_empty() {
        head.push_str("#\n");
    }
    wrapped(head, "# ", "# ", words);
}

fn item(head: &mut String, words: &str) {
    wrapped(head, "# - ", "#   ", words);
}

fn wrapped(head: &mut String, first: &str, rest: &str, words: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(head, "{line}");
            line = rest.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(head, "{line}");
}
