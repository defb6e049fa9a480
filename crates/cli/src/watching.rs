//! Serves the metrics of a run while it runs, where that is wanted.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stormeter_conclude::Conclusion;
use stormeter_export::Cell;
use stormeter_runner::{Both, Progress};
use stormeter_study::StudyPlan;
use stormeter_watch::{Access, AccessError, MetricsPages, Reporter, RunKind, Server};

use crate::arguments_metrics::MetricsOptions;
use crate::exit::Failure;

/// The longest file of a token that is read.
const MOST_BYTES: u64 = 4096;

/// Those who watch a run, if any may.
pub(crate) struct Watching {
    watched: Option<(Reporter, Server)>,
    linger: Duration,
}

impl Watching {
    /// Starts to serve, and prints where.
    pub(crate) fn start(
        options: &MetricsOptions,
        (plan, kind): (&StudyPlan, RunKind),
        quiet: bool,
    ) -> Result<Self, Failure> {
        let linger = Duration::from_nanos(options.metrics_linger);
        let Some(address) = options.metrics else { return Ok(Self { watched: None, linger }) };
        let token = options.metrics_token_file.as_deref().map(token).transpose()?;
        let access = Access::new(address, token.as_deref()).map_err(|error| refused(&error))?;
        let (reporter, board) = Reporter::new(plan, kind, env!("CARGO_PKG_VERSION"));
        let server = Server::start(address, Box::new(MetricsPages::new(board, access)))
            .map_err(|error| Failure::Usage(format!("--metrics: {error}")))?;
        // A port that was not chosen by the user is known by nothing else.
        if !quiet || address.port() == 0 {
            eprintln!("metrics: http://{}/metrics", server.address());
        }
        Ok(Self { watched: Some((reporter, server)), linger })
    }

    /// Runs with a progress that is also shown to those who watch.
    pub(crate) fn during<T>(
        &mut self,
        display: &mut dyn Progress,
        run: impl FnOnce(&mut dyn Progress) -> T,
    ) -> T {
        match &mut self.watched {
            None => run(display),
            Some((reporter, _)) => run(&mut Both { first: display, second: reporter }),
        }
    }

    /// Shows the end of the run.
    pub(crate) fn ended(&self, conclusion: &Conclusion) {
        if let Some((reporter, _)) = &self.watched {
            reporter.ended(concluded_cells(conclusion));
        }
    }

    /// Waits, as long as the user wants, until a client was sent the end of the run, and stops serving.
    pub(crate) fn linger(self, cancel: &AtomicBool) {
        if let Some((_, server)) = &self.watched {
            server.wait_for_last(self.linger, || cancel.load(Ordering::Relaxed));
        }
    }
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

/// The text of a token file.
fn token(path: &Path) -> Result<String, Failure> {
    let wrong = |why: String| {
        Failure::Usage(format!("the token file {} cannot be read: {why}", path.display()))
    };
    let found = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(wrong("it is no small file".into()));
    }
    std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))
}

fn refused(error: &AccessError) -> Failure {
    Failure::Usage(match error {
        AccessError::NoToken(_) => format!("--metrics: {error} (--metrics-token-file)"),
        AccessError::Token => format!("--metrics-token-file: {error}"),
    })
}
