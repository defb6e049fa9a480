//! `stormeter lab durable`: what each datastore of a lab loses when the power goes.
//!
//! The records are written and checked by `stormeter durable`, the same program, in the guest that has the datastore
//! or on this machine. Guests with agents and storage guests lose their power in rounds of their own: a loss has one
//! cause. An agent does one errand at a time, so a guest with several datastores takes turns.

mod round;
mod tally;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use stormeter_lab::{
    Cache, LabDatastore, LabError, Power, UpOptions, datastores, down, parse_lab, up,
};

use self::round::Round;
use self::tally::Tally;
use super::lab_start::{binary, say};
use crate::arguments_lab::LabDurableOptions;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::signals::cancel_on_signals;
use crate::text_file::read_text;

pub(crate) fn run(options: &LabDurableOptions) -> Result<Exit, Failure> {
    let text = read_text(&options.file, "lab file")?;
    let name = options.file.display().to_string();
    let lab =
        parse_lab(&text).map_err(|errors| Failure::Usage(errors.in_file(name).to_string()))?;
    let cancel = cancel_on_signals();
    let cache = Cache::at(options.images.cache.as_deref());
    let images = cache.images(&binary(&options.images)?, lab.suites(), &mut say)?;
    let how =
        UpOptions { accelerator: options.accelerator.choice(), cold: false, logs_writes: true };
    let directory = &options.directory.dir;
    match up(&lab, directory, &images, how, &mut say, &cancel) {
        Ok(_) => {}
        Err(LabError::Interrupted) => return Ok(Exit::Interrupted),
        Err(error) => return Err(error.into()),
    }
    let result = cut_all(options, directory, &cancel);
    let ended = down(directory);
    let tallies = result?;
    ended?;
    if cancel.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    if options.json {
        print(&format!("{:#}\n", tally::json(&tallies)))?;
    } else {
        print_tables(&tally::table(&tallies))?;
    }
    let has_lost = tallies.iter().any(|(_, tally)| tally.has_lost());
    Ok(if has_lost { Exit::NotAsWanted } else { Exit::Done })
}

fn cut_all(
    options: &LabDurableOptions,
    directory: &Path,
    cancel: &AtomicBool,
) -> Result<Vec<(LabDatastore, Tally)>, Failure> {
    let all = datastores(directory)?;
    if all.is_empty() {
        return Err(Failure::Usage(
            "the lab has no datastore to test: it has neither a VM with a disk, nor an export or an open iSCSI \
             LUN that is free"
                .into(),
        ));
    }
    let power = Power::open(directory)?;
    let mut random = SplitMix64::seed_from_u64(options.seed);
    let mut tallies: Vec<(LabDatastore, Tally)> =
        all.into_iter().map(|datastore| (datastore, Tally::default())).collect();
    for turn in turns(&tallies) {
        for cut in 1..=options.cuts {
            let mut of_turn: Vec<&mut (LabDatastore, Tally)> = tallies
                .iter_mut()
                .enumerate()
                .filter_map(|(index, one)| turn.contains(&index).then_some(one))
                .collect();
            let round = Round { power: &power, cancel };
            round.carry_out(&mut of_turn, &mut random)?;
            if cancel.load(Ordering::Relaxed) {
                return Ok(tallies);
            }
            let names: Vec<&str> = of_turn.iter().map(|(it, _)| it.name.as_str()).collect();
            say(&format!("cut {cut} of {}: {}", options.cuts, names.join(", ")));
        }
    }
    Ok(tallies)
}

/// The datastores that are written at the same time, as indices: of each guest with an agent one, and all of
/// storage guests.
fn turns(all: &[(LabDatastore, Tally)]) -> Vec<Vec<usize>> {
    let mut turns: Vec<Vec<usize>> = Vec::new();
    let mut served = Vec::new();
    for (index, (datastore, _)) in all.iter().enumerate() {
        if datastore.agent.is_none() {
            served.push(index);
            continue;
        }
        let is_free =
            |turn: &&mut Vec<usize>| turn.iter().all(|&it| all[it].0.cut != datastore.cut);
        match turns.iter_mut().find(is_free) {
            Some(turn) => turn.push(index),
            None => turns.push(vec![index]),
        }
    }
    if !served.is_empty() {
        turns.push(served);
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_with_an_agent_has_one_datastore_a_turn_and_storage_guests_have_their_own() {
        let one = |name: &str, cut: &str, agent: bool| {
            let datastore = LabDatastore {
                name: name.into(),
                what: String::new(),
                url: String::new(),
                is_blocks: true,
                agent: agent.then(|| "/port".into()),
                cut: cut.into(),
            };
            (datastore, Tally::default())
        };
        let all = [
            one("a.one", "a", true),
            one("a.two", "a", true),
            one("b.one", "b", true),
            one("nas.x", "nas", false),
            one("nas.y", "nas", false),
        ];
        assert_eq!(turns(&all), [vec![0, 2], vec![1], vec![3, 4]]);
    }
}
