//! The head of the page: what is compared, what is happening, how much is done.

use stormeter_units::{format_bytes, format_duration_ns};

use super::model::{Doing, Moment, RunWord};
use crate::markup::Markup;
use crate::page::typographic;
use crate::quantity::percent;
use crate::wording::plural;

pub(super) fn now(moment: &Moment) -> String {
    let mut part = Markup::default();
    part.tag("p").at("class", "kicker").open();
    part.leaf("strong", "Stormeter");
    let word = match moment.word {
        RunWord::Comparison => "comparison",
        RunWord::Study => "study",
        RunWord::Prediction => "prediction: computed on a model of storage",
    };
    part.text(&format!(" · {word} · "));
    part.tag("span").at("class", "beat").text(if is_over(moment) { "ended" } else { "running" });
    part.close();
    part.leaf("h1", &moment.title);
    if let Some(share) = moment.share {
        let share = share.clamp(0.0, 1.0);
        let done = format!("{:.0} %", share * 100.0);
        part.tag("progress").at("max", "1").at("value", format!("{share:.4}")).text(&done);
    }
    part.tag("p").at("class", "doing").text(&typographic(&doing(&moment.doing)));
    part.tag("p").at("class", "status").text(&typographic(&facts(moment).join(" · ")));
    part.finish()
}

fn is_over(moment: &Moment) -> bool {
    moment.doing == Doing::Ended
}

/// What is happening, as a sentence.
fn doing(doing: &Doing) -> String {
    match doing {
        Doing::Opening(datastore) if datastore.is_empty() => "Starting.".into(),
        Doing::Opening(datastore) => format!("Connecting to {datastore}."),
        Doing::Writing(datastore, done, total) => {
            format!(
                "Writing the disks of {datastore}: {} of {}.",
                format_bytes(*done),
                format_bytes(*total)
            )
        }
        Doing::Ceiling => "Measuring what the load generator can do without storage.".into(),
        Doing::Resetting(datastore) => format!("Resetting the disks of {datastore}."),
        Doing::Trial { cell, block, for_ns, length_ns } => {
            let block = block.map_or(String::new(), |block| format!(", block {block}"));
            let for_ns = length_ns.map_or(*for_ns, |length_ns| length_ns.min(*for_ns));
            let of =
                length_ns.map_or(String::new(), |length_ns| format!(" of {}", time(length_ns)));
            format!("{cell}{block}: {}{of}.", time(for_ns))
        }
        Doing::Between => "Between two trials.".into(),
        Doing::Sensitivity(done, of) => {
            format!("Computing what the cells depend on: {done} of {of}.")
        }
        Doing::Ended => "It has ended.".into(),
    }
}

/// A time to a tenth of a second.
fn time(ns: u64) -> String {
    match ns / 100_000_000 {
        0 => "0s".into(),
        tenths => format_duration_ns(tenths as f64 * 1e8),
    }
}

fn facts(moment: &Moment) -> Vec<String> {
    let mut facts = Vec::new();
    let (done, most) = moment.trials;
    facts.push(match most {
        0 => plural(done, "trial"),
        most => format!("{done} of at most {}", plural(most, "trial")),
    });
    let (done, most) = moment.blocks;
    // A comparison that ends when it is precise enough has a number that means nothing.
    facts.push(match moment.word {
        RunWord::Comparison => plural(u64::from(done), "block"),
        _ => format!("{done} of at most {}", plural(u64::from(most), "block")),
    });
    if moment.failed > 0 {
        facts.push(format!("{} failed", plural(moment.failed, "trial")));
    }
    if let (Some(half), Some(wanted)) = moment.precision {
        facts.push(format!(
            "±{} % where ±{} % is wanted",
            percent(half).trim_start_matches('+'),
            percent(wanted).trim_start_matches('+')
        ));
    }
    facts.push(format!("{} so far", time(moment.elapsed_ns)));
    if let Some(rest_ns) = moment.rest_ns.filter(|_| !is_over(moment)) {
        let word = if moment.word == RunWord::Comparison { "about" } else { "at most" };
        facts.push(format!("{word} {} left", time(rest_ns)));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_is_a_sentence() {
        let trial = |block, length_ns| Doing::Trial {
            cell: "nas, vm-4k".into(),
            block,
            for_ns: 2_345_000_000,
            length_ns,
        };
        let just = Doing::Trial {
            cell: "nas, vm-4k".into(),
            block: None,
            for_ns: 7,
            length_ns: Some(1_000_000_000),
        };
        for (what, expected) in [
            (Doing::Opening(String::new()), "Starting."),
            (Doing::Opening("nas".into()), "Connecting to nas."),
            (
                Doing::Writing("nas".into(), 1 << 20, 1 << 30),
                "Writing the disks of nas: 1MiB of 1GiB.",
            ),
            (trial(Some(3), Some(2_000_000_000)), "nas, vm-4k, block 3: 2.00s of 2.00s."),
            (trial(None, None), "nas, vm-4k: 2.30s."),
            (just, "nas, vm-4k: 0s of 1.00s."),
        ] {
            assert_eq!(doing(&what), expected);
        }
    }
}
