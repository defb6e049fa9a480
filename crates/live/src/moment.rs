//! The run at this moment, as the page shows it.

use stormeter_report::live::{Doing, HostNow, LoadCell, LoadPoint, LoadSeries, Moment, RunWord};
use stormeter_watch::{Snapshot, Stage};

use crate::course::{Course, State};
use crate::judge::Judge;

/// Gathers it from what the run reports (`snapshot`), from its course and from what is concluded.
pub(crate) fn moment(snapshot: &Snapshot, course: &Course, judge: &Judge) -> Moment {
    let now_ns = course.now_ns();
    let state = course.state();
    let elapsed_ns = state.ended_ns.unwrap_or(now_ns);
    let doing = doing(&state, snapshot, now_ns);
    let of = state.progressed.filter(|_| state.word != RunWord::Comparison).map_or(0, |it| it.of);
    let rest_ns = state
        .rest
        .map(|(as_of_ns, rest_ns)| rest_ns.saturating_sub(now_ns.saturating_sub(as_of_ns)));
    let share = share(&state, &doing, rest_ns, now_ns);
    let mut moment = Moment {
        title: state.title.clone(),
        word: state.word,
        version: snapshot.version.clone(),
        doing,
        elapsed_ns,
        share,
        rest_ns,
        trials: (snapshot.ended_trials[0], of),
        failed: snapshot.ended_trials[1],
        blocks: (snapshot.blocks, snapshot.most_blocks),
        precision: snapshot.precision,
        cells: cells(&state, snapshot),
        series: series(&state),
        hosts: hosts(&state),
        events: state.events.iter().cloned().collect(),
        earlier_events: state.earlier_events,
        judgement: None,
        history: Vec::new(),
    };
    drop(state);
    let concluded = judge.concluded();
    moment.judgement = concluded.judgement.clone();
    moment.history = concluded.history.items().to_vec();
    moment
}

fn doing(state: &State, snapshot: &Snapshot, now_ns: u64) -> Doing {
    if state.ended_ns.is_some() || snapshot.stage == Stage::Ended {
        return Doing::Ended;
    }
    let Some(current) = &state.current else { return state.doing.clone() };
    let Some(cell) = current.cell else { return state.doing.clone() };
    Doing::Trial {
        cell: state.names.get(cell).cloned().unwrap_or_default(),
        block: current.block,
        for_ns: now_ns.saturating_sub(current.started_ns),
        length_ns: current.length_ns,
    }
}

/// The share that is done: of a study's trials, or of the probable time of a comparison.
fn share(state: &State, doing: &Doing, rest_ns: Option<u64>, now_ns: u64) -> Option<f64> {
    if *doing == Doing::Ended {
        return Some(1.0);
    }
    if state.word != RunWord::Comparison
        && let Some(progressed) = state.progressed
    {
        let part = match doing {
            Doing::Trial { for_ns, length_ns: Some(length_ns), .. } if *length_ns > 0 => {
                (*for_ns as f64 / *length_ns as f64).min(1.0)
            }
            _ => 0.0,
        };
        let before = progressed.number.saturating_sub(1) as f64;
        return Some((before + part) / progressed.of.max(1) as f64);
    }
    let spent = now_ns.saturating_sub(state.since_ns?) as f64;
    let all = spent + rest_ns? as f64;
    (all > 0.0).then(|| spent / all)
}

fn cells(state: &State, snapshot: &Snapshot) -> Vec<LoadCell> {
    let running = state.current.as_ref().and_then(|current| current.cell);
    let names = state.names.iter().zip(&state.places).enumerate();
    let cells = names.map(|(index, (name, place))| LoadCell {
        name: name.clone(),
        place: *place,
        trials: snapshot.trials.get(index).copied().unwrap_or(0),
        values: snapshot.cells.get(index).map_or(Vec::new(), |cell| cell.values.clone()),
        is_running: running == Some(index),
    });
    cells.collect()
}

fn series(state: &State) -> Vec<LoadSeries> {
    let of = |map: &crate::heat::Map| LoadSeries {
        name: map.name.clone(),
        points: map
            .columns
            .items()
            .iter()
            .filter(|column| column.counted_ns > 0)
            .map(|column| LoadPoint {
                start_ns: column.start_ns,
                end_ns: column.end_ns,
                iops: column.iops(),
                latency_mean_ns: column.latency_mean_ns(),
            })
            .collect(),
    };
    state.maps.iter().map(of).collect()
}

fn hosts(state: &State) -> Vec<HostNow> {
    let of = |host: &crate::hosts::Host| HostNow {
        name: host.name.clone(),
        iops: host.iops,
        latest: host.latest.clone(),
        points: host.activity.items().iter().map(|activity| activity.point).collect(),
    };
    state.hosts.iter().map(of).collect()
}
