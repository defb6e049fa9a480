//! `stormeter net`: the network by itself, between two ends.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stormeter_probe::{
    Cell, Client, Column, Direction, Ended, Key, Layout, Limits, Listener, ListenerOptions,
    ProbeError, Sink, Streams, Throughput, Transfer, cells_csv, decimal_size, results_json,
    rows_table, summary_table, throughput_csv, throughput_table,
};

use crate::arguments_net::{
    DirectionName, LayoutOptions, NetOptions, NetProbe, NetShowOptions, SinkName,
    ThroughputOptions, TransferOptions,
};
use crate::exit::{Exit, Failure};
use crate::output::{print, terminal_width};
use crate::signals::cancel_on_signals;

const KEY_VARIABLE: &str = "STORMETER_NET_KEY";
/// Tables are at most this wide, as reports are.
const WIDTH: usize = 90;

/// The width of tables here.
fn width() -> usize {
    terminal_width().unwrap_or(WIDTH).min(WIDTH)
}

pub(crate) fn run(options: &NetOptions) -> Result<Exit, Failure> {
    if options.new_key {
        print(&format!("{}\n", Key::random().map_err(failed)?.reveal()))?;
        return Ok(Exit::Done);
    }
    match (&options.far_end, &options.probe, options.listen) {
        (None, None, Some(address)) => {
            listen(address, key(options)?, options.dir.clone(), &cancel_on_signals())
        }
        (None, Some(NetProbe::Demo(show)), None) => demo(show),
        (Some(far_end), Some(probe), None) => {
            let cancel = cancel_on_signals();
            let client = Client::new(far_end, key(options)?, Limits::default(), cancel.clone());
            ended(&cancel, measure(&client, probe))
        }
        _ => Err(Failure::Usage(
            "say what to do: `stormeter net demo`, `stormeter net --listen ADDRESS:PORT`, or \
             `stormeter net HOST:PORT` with rtt, throughput or transfer"
                .into(),
        )),
    }
}

/// The key of this end.
fn key(options: &NetOptions) -> Result<Key, Failure> {
    let text = match &options.key_file {
        Some(path) => std::fs::read_to_string(path).map_err(|error| {
            Failure::Usage(format!("the key cannot be read from {}: {error}", path.display()))
        })?,
        None => std::env::var(KEY_VARIABLE).map_err(|_| {
            Failure::Usage(format!(
                "both ends need the same key: make one with `stormeter net --new-key`, and give it \
                 with --key-file or in the variable {KEY_VARIABLE}"
            ))
        })?,
    };
    Key::from_text(&text).map_err(|error| Failure::Usage(error.to_string()))
}

fn listen(
    address: SocketAddr,
    key: Key,
    directory: Option<PathBuf>,
    cancel: &Arc<AtomicBool>,
) -> Result<Exit, Failure> {
    let options = ListenerOptions { address, key, directory, limits: Limits::default() };
    let listener = Listener::bind(options).map_err(failed)?;
    print(&format!("{}\n", listener.address()))?;
    // The parent process may read the address through a pipe.
    let flushed = std::io::stdout().flush();
    flushed.map_err(|error| Failure::File(format!("stdout cannot be written: {error}")))?;
    listener.serve(cancel, &|Ended { peer, result }| {
        if let Err(error) = result {
            eprintln!("error: {peer}: {error}");
        }
    });
    Ok(Exit::Done)
}

fn measure(client: &Client, probe: &NetProbe) -> Result<(), Failure> {
    match probe {
        NetProbe::Rtt(options) => {
            let cells = client.round_trips(&options.sizes, layout(&options.layout));
            show_cells(&cells.map_err(failed)?, &options.show)
        }
        NetProbe::Throughput(options) => throughput(client, options),
        NetProbe::Transfer(options) => transfers(client, options),
        NetProbe::Demo(_) => Err(Failure::Usage(
            "the demo has both ends in one process: leave the address out".into(),
        )),
    }
}

fn throughput(client: &Client, options: &ThroughputOptions) -> Result<(), Failure> {
    if options.line_rate.is_some_and(|rate| !rate.is_finite() || rate <= 0.0) {
        return Err(Failure::Usage("a line rate is a positive number of Gbit/s, like 10".into()));
    }
    let mut measured = Vec::new();
    for direction in directions(options.direction) {
        for &streams in &options.streams {
            let streams = Streams {
                streams,
                direction,
                warm_up: Duration::from_nanos(options.warm_up),
                window: Duration::from_nanos(options.duration),
            };
            for _ in 0..options.repeats {
                measured.push(client.throughput(&streams).map_err(failed)?);
            }
        }
    }
    let line_rate = options.line_rate.map(|gigabits| gigabits * 1e9);
    show_throughput(&measured, line_rate, &options.show)
}

fn transfers(client: &Client, options: &TransferOptions) -> Result<(), Failure> {
    let sinks = match options.sink {
        None => vec![Sink::Memory, Sink::Disk],
        Some(SinkName::Memory) => vec![Sink::Memory],
        Some(SinkName::Disk) => vec![Sink::Disk],
    };
    let mut cells = Vec::new();
    for sink in sinks {
        for direction in directions(options.direction) {
            for &length_bytes in &options.sizes {
                let transfer = Transfer {
                    direction,
                    sink,
                    length_bytes,
                    sync: !options.no_fsync,
                    cold: !options.cached,
                    layout: layout(&options.layout),
                };
                cells.push(client.transfer(&transfer).map_err(failed)?);
            }
        }
    }
    show_cells(&cells, &options.show)
}

/// Both ends in this process, with files in the system's temporary directory.
fn demo(show: &NetShowOptions) -> Result<Exit, Failure> {
    let cancel = cancel_on_signals();
    let key = Key::random().map_err(failed)?;
    let options = ListenerOptions {
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        key: key.clone(),
        directory: Some(std::env::temp_dir()),
        limits: Limits::default(),
    };
    let listener = Listener::bind(options).map_err(failed)?;
    let address = listener.address().to_string();
    let over = Arc::new(AtomicBool::new(false));
    let measured = std::thread::scope(|scope| {
        // Errors of that end are reported by the client here.
        scope.spawn(|| listener.serve(&over, &|_| ()));
        let client = Client::new(&address, key, Limits::default(), cancel.clone());
        let measured = measure_demo(&client);
        over.store(true, Ordering::Relaxed);
        measured
    });
    ended(
        &cancel,
        measured.map_err(failed).and_then(|(cells, streams)| {
            if show.json || show.csv {
                return show_all(&cells, &streams, show);
            }
            print(&format!(
                "Both ends in this process, over loopback; files in {}.\n\n",
                printable_path(&std::env::temp_dir())
            ))?;
            print(&format!("{}\n", summary_table(&cells, width())))?;
            print(&throughput_table(&streams, None, width()))?;
            print(
                "\nBetween two machines: stormeter net --new-key > net.key, copy it, then\n  \
             stormeter net --listen 0.0.0.0:7878 --key-file net.key --dir /srv/vm\n  \
             stormeter net HOST:7878 rtt --key-file net.key\n",
            )
        }),
    )
}

fn measure_demo(client: &Client) -> Result<(Vec<Cell>, Vec<Throughput>), ProbeError> {
    let layout = Layout { rows: 5, repeats: 10 };
    let mut cells = client.round_trips(&[1, 4096, 100_000, 1_000_000], layout)?;
    for sink in [Sink::Memory, Sink::Disk] {
        for direction in directions(None) {
            for length_bytes in [100_000, 1_000_000] {
                let transfer =
                    Transfer { direction, sink, length_bytes, sync: true, cold: true, layout };
                cells.push(client.transfer(&transfer)?);
            }
        }
    }
    let mut measured = Vec::new();
    for direction in directions(None) {
        for streams in [1, 2] {
            let (warm_up, window) = (Duration::from_millis(200), Duration::from_millis(800));
            measured.push(client.throughput(&Streams { streams, direction, warm_up, window })?);
        }
    }
    Ok((cells, measured))
}

fn show_cells(cells: &[Cell], show: &NetShowOptions) -> Result<(), Failure> {
    if show.json || show.csv {
        return show_all(cells, &[], show);
    }
    let mut text = String::new();
    let mut left = cells;
    while let Some(cell) = left.first() {
        let alike = left.iter().take_while(|other| other.observed == cell.observed).count();
        let (group, rest) = left.split_at(alike);
        let sizes: Vec<_> = group.iter().map(|cell| decimal_size(cell.length_bytes)).collect();
        let columns = sizes.iter().zip(group).map(|(heading, cell)| Column { heading, cell });
        text += &rows_table(&cell.observed.title(), &columns.collect::<Vec<_>>(), width());
        text += "\n";
        left = rest;
    }
    text += &summary_table(cells, width());
    text += "\nSizes are decimal: 100 KB = 100 000 B.\n";
    print(&text)
}

fn show_throughput(
    measured: &[Throughput],
    line_rate: Option<f64>,
    show: &NetShowOptions,
) -> Result<(), Failure> {
    if show.json || show.csv {
        return show_all(&[], measured, show);
    }
    print(&throughput_table(measured, line_rate, width()))
}

fn show_all(cells: &[Cell], streams: &[Throughput], show: &NetShowOptions) -> Result<(), Failure> {
    if show.json {
        let value =
            results_json(cells, streams).map_err(|error| Failure::File(error.to_string()))?;
        return print(&format!("{value:#}\n"));
    }
    let mut tables = Vec::new();
    if !cells.is_empty() {
        tables.push(cells_csv(cells));
    }
    if !streams.is_empty() {
        tables.push(throughput_csv(streams));
    }
    print(&tables.join("\n"))
}

fn layout(options: &LayoutOptions) -> Layout {
    Layout { rows: options.rows, repeats: options.repeats }
}

fn directions(name: Option<DirectionName>) -> Vec<Direction> {
    match name {
        None => vec![Direction::Send, Direction::Fetch],
        Some(DirectionName::Send) => vec![Direction::Send],
        Some(DirectionName::Fetch) => vec![Direction::Fetch],
    }
}

fn printable_path(path: &Path) -> String {
    stormeter_report::printable(&path.display().to_string())
}

fn failed(error: ProbeError) -> Failure {
    let option = match &error {
        ProbeError::ShortKey { .. } => Some("--new-key"),
        ProbeError::Connect { .. } => Some("--listen"),
        _ => None,
    };
    let text = option.map_or_else(|| error.to_string(), |option| format!("{error} ({option})"));
    match error {
        ProbeError::Nothing { .. } | ProbeError::ShortKey { .. } => Failure::Usage(text),
        _ => Failure::File(text),
    }
}

/// An interruption on request is not a failure.
fn ended(cancel: &AtomicBool, result: Result<(), Failure>) -> Result<Exit, Failure> {
    match result {
        Err(_) if cancel.load(Ordering::Relaxed) => Ok(Exit::Interrupted),
        other => other.map(|()| Exit::Done),
    }
}
