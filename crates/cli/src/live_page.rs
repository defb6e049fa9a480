//! Serves the live page of a run while it runs, where that is wanted.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stormeter_conclude::conclude;
use stormeter_live::{Course, Follower, Judge, LivePages, Token, TokenError, Viewers};
use stormeter_report::live::RunWord;
use stormeter_report::{Report, SettingNames};
use stormeter_results::ResultsFile;
use stormeter_runner::Progress;
use stormeter_study::StudyPlan;
use stormeter_watch::{Board, RunKind, Server};

use crate::arguments_live::LiveOptions;
use crate::exit::Failure;
use crate::output::report_of;
use crate::token_file::token_text;

/// A page that is served.
pub(crate) struct LivePage {
    server: Server,
    course: Course,
    judge: Judge,
    follower: Follower,
    viewers: Viewers,
    /// Browsers that watched when the run ended.
    due: usize,
    linger: Duration,
}

/// What the page is of.
pub(crate) struct Subject<'a> {
    pub(crate) plan: &'a StudyPlan,
    pub(crate) kind: RunKind,
    /// The results file, which need not exist yet.
    pub(crate) results: &'a Path,
    /// What settings are called.
    pub(crate) names: SettingNames,
}

impl LivePage {
    /// Starts to serve, and prints where; `None` if that is not wanted.
    pub(crate) fn start(
        options: &LiveOptions,
        subject: &Subject<'_>,
        board: Board,
    ) -> Result<Option<Self>, Failure> {
        let Some(address) = options.live else { return Ok(None) };
        let file = options.live_token_file.as_deref();
        let is_near = address.ip().to_canonical().is_loopback();
        let token = match file {
            Some(file) => Token::of_text(&token_text(file)?),
            None if is_near => Token::random(),
            None => {
                return Err(Failure::Usage(format!(
                    "--live: {address} can be reached from other machines: use a loopback address, or choose a \
                     token (--live-token-file)"
                )));
            }
        };
        let token = token.map_err(|error| match error {
            TokenError::Text => Failure::Usage(format!("--live-token-file: {error}")),
            TokenError::Random(_) => Failure::File(error.to_string()),
        })?;
        let began = Instant::now();
        let word = match subject.kind {
            RunKind::Comparison => RunWord::Comparison,
            RunKind::Study => RunWord::Study,
            RunKind::Prediction => RunWord::Prediction,
        };
        let course = Course::new(subject.plan, word, move || began.elapsed().as_nanos() as u64);
        let (results, names) = (subject.results.to_owned(), subject.names);
        let so_far = move || {
            let file = ResultsFile::open(&results).ok()?;
            Some(report_of(conclude(&file).ok()?, names))
        };
        let judge = Judge::start(Box::new(so_far))
            .map_err(|error| Failure::File(format!("no thread for the live page: {error}")))?;
        let pages = LivePages::new(token.clone(), board, course.clone(), judge.clone());
        let viewers = pages.viewers();
        let server = Server::start(address, Box::new(pages))
            .map_err(|error| Failure::Usage(format!("--live: {error}")))?;
        // Also if little is to be printed: without its address nobody finds the page.
        eprintln!("{}", where_it_is(server.address(), &token, file));
        let follower = Follower::new(course.clone(), judge.clone());
        let linger = Duration::from_nanos(options.live_linger);
        Ok(Some(Self { server, course, judge, follower, viewers, due: 0, linger }))
    }

    /// What follows the run.
    pub(crate) fn progress(&mut self) -> &mut dyn Progress {
        &mut self.follower
    }

    /// The run has ended with this report.
    pub(crate) fn ended(&mut self, report: &Report) {
        self.due = self.viewers.count();
        self.judge.conclude(report.clone());
        self.course.ended();
    }

    /// Waits, as long as the user wants, until the browsers that watched have the report.
    pub(crate) fn linger(&self, cancel: &AtomicBool) {
        let end = Instant::now() + self.linger;
        for _ in 0..self.due {
            let left = end.saturating_duration_since(Instant::now());
            if !self.server.wait_for_last(left, || cancel.load(Ordering::Relaxed)) {
                return;
            }
        }
    }
}

/// Where the page is, and what to know about that. A token that was chosen is not repeated.
fn where_it_is(address: SocketAddr, token: &Token, file: Option<&Path>) -> String {
    let mut text = match file {
        None => format!("live: http://{address}/{}/", token.text()),
        Some(file) => {
            format!("live: http://{address}/TOKEN/ with the token in {}", file.display())
        }
    };
    if !address.ip().to_canonical().is_loopback() {
        text.push_str(
            "\nnote: the page and its token cross the network unencrypted; on a network that others use, listen on \
             127.0.0.1 and reach it through `ssh -L`, or put a proxy with TLS in front",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_token_is_not_printed_and_other_machines_get_a_word_about_tls() {
        let token = Token::of_text("0123456789abcdef").unwrap();
        let near = where_it_is("127.0.0.1:9".parse().unwrap(), &token, None);
        assert_eq!(near, "live: http://127.0.0.1:9/0123456789abcdef/");
        let far = where_it_is("192.0.2.1:9".parse().unwrap(), &token, Some(Path::new("t")));
        assert!(far.contains("TLS") && !far.contains("0123456789abcdef"), "{far}");
    }
}
