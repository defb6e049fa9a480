//! Shows a run to those who watch it while it runs: its metrics and its live page, where they are wanted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stormeter_conclude::Conclusion;
use stormeter_export::Cell;
use stormeter_report::Report;
use stormeter_runner::{Both, Progress};
use stormeter_watch::{Access, AccessError, Board, MetricsPages, Reporter, Server};

use crate::arguments_live::LiveOptions;
use crate::arguments_metrics::MetricsOptions;
use crate::exit::Failure;
use crate::live_page::{LivePage, Subject};
use crate::token_file::token_text;

/// Those who watch a run, if any may.
pub(crate) struct Watching {
    /// Only where anyone may.
    reporter: Option<Reporter>,
    metrics: Option<Server>,
    live: Option<LivePage>,
    linger: Duration,
}

impl Watching {
    /// Starts to serve, and prints where.
    pub(crate) fn start(
        (metrics, live): (&MetricsOptions, &LiveOptions),
        subject: &Subject<'_>,
        quiet: bool,
    ) -> Result<Self, Failure> {
        let linger = Duration::from_nanos(metrics.metrics_linger);
        if metrics.metrics.is_none() && live.live.is_none() {
            return Ok(Self { reporter: None, metrics: None, live: None, linger });
        }
        let version = env!("CARGO_PKG_VERSION");
        let (reporter, board) = Reporter::new(subject.plan, subject.kind, version);
        let metrics = serve_metrics(metrics, board.clone(), quiet)?;
        let live = LivePage::start(live, subject, board)?;
        Ok(Self { reporter: Some(reporter), metrics, live, linger })
    }

    /// Runs with a progress that is also shown to those who watch.
    pub(crate) fn during<T>(
        &mut self,
        display: &mut dyn Progress,
        run: impl FnOnce(&mut dyn Progress) -> T,
    ) -> T {
        let Some(reporter) = &mut self.reporter else { return run(display) };
        let mut both = Both { first: display, second: reporter };
        match &mut self.live {
            None => run(&mut both),
            Some(live) => run(&mut Both { first: &mut both, second: live.progress() }),
        }
    }

    /// Shows the end of the run.
    pub(crate) fn ended(&self, conclusion: &Conclusion) {
        if let Some(reporter) = &self.reporter {
            reporter.ended(concluded_cells(conclusion));
        }
    }

    /// Shows its report.
    pub(crate) fn reported(&mut self, report: &Report) {
        if let Some(live) = &mut self.live {
            live.ended(report);
        }
    }

    /// Waits, as long as the user wants, until clients were sent the end of the run, and stops serving.
    pub(crate) fn linger(self, cancel: &AtomicBool) {
        if let Some(server) = &self.metrics {
            server.wait_for_last(self.linger, || cancel.load(Ordering::Relaxed));
        }
        if let Some(live) = &self.live {
            live.linger(cancel);
        }
    }
}

/// Serves metrics, if that is wanted.
fn serve_metrics(
    options: &MetricsOptions,
    board: Board,
    quiet: bool,
) -> Result<Option<Server>, Failure> {
    let Some(address) = options.metrics else { return Ok(None) };
    let token = options.metrics_token_file.as_deref().map(token_text).transpose()?;
    let access = Access::new(address, token.as_deref()).map_err(|error| refused(&error))?;
    let server = Server::start(address, Box::new(MetricsPages::new(board, access)))
        .map_err(|error| Failure::Usage(format!("--metrics: {error}")))?;
    // A port that was not chosen by the user is known by nothing else.
    if !quiet || address.port() == 0 {
        eprintln!("metrics: http://{}/metrics", server.address());
    }
    Ok(Some(server))
}

/// The cells of a run with what was concluded of them.
pub(crate) fn concluded_cells(conclusion: &Conclusion) -> Vec<Cell> {
    let cells = Cell::all_of(&conclusion.header.plan).into_iter();
    let with_values = cells.zip(&conclusion.analysis.cells).map(|(cell, summary)| Cell {
        values: summary.values.iter().map(|value| (value.metric, value.value)).collect(),
        ..cell
    });
    with_values.collect()
}

fn refused(error: &AccessError) -> Failure {
    Failure::Usage(match error {
        AccessError::NoToken(_) => format!("--metrics: {error} (--metrics-token-file)"),
        AccessError::Token => format!("--metrics-token-file: {error}"),
    })
}
