//! The command line: arguments, terminal, signals and exit codes. Logic that can be tested without a
//! terminal is in the crates below.

mod arguments;
mod arguments_audit;
mod arguments_calibrate;
mod arguments_ceph;
mod arguments_compare;
mod arguments_durable;
mod arguments_init;
mod arguments_kept;
mod arguments_lab;
mod arguments_live;
mod arguments_measure_site;
mod arguments_metrics;
mod arguments_net;
mod arguments_predict;
mod arguments_show;
mod arguments_site;
mod arguments_study;
mod arguments_timeline;
mod child;
mod color;
mod command_line;
mod commands;
mod completed;
mod defaults;
mod embedded;
mod ending;
mod exit;
mod guests;
mod help;
mod hosts;
mod lab_machines;
mod live;
mod live_page;
mod narrow;
mod null_servers;
mod output;
mod rack_control;
mod repeat;
mod results_place;
mod secrets;
mod service_passwords;
mod settings;
mod signals;
mod sources;
mod text_file;
mod token_file;
mod units;
mod user_directory;
mod version;
mod watching;
mod workload;

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use arguments::{Arguments, Command};
use color::Color;
use command_line::CommandLine;
use exit::{Exit, Failure};
use stormeter_report::SettingNames;

fn main() -> std::process::ExitCode {
    if stormeter_lab::guest::is_init() {
        stormeter_lab::guest::run();
    }
    let given: Vec<OsString> = std::env::args_os().collect();
    match completed::answer(&given) {
        Ok(false) => {}
        Ok(true) => return Exit::Done.into(),
        Err(error) => error.exit(),
    }
    let mut names: SettingNames = settings::option;
    let mut asked = Color::asked(given.iter().cloned());
    let mut program = help::command(asked);
    program.build();
    let words = match defaults::expanded(&program, given, &defaults::variables()) {
        Ok(words) => words,
        Err(failure) => {
            say(&failure, names, asked);
            return failure.code().into();
        }
    };
    asked = Color::asked(words.all.iter().cloned());
    let parsed = help::command(asked)
        .try_get_matches_from(&words.all)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let result = match parsed {
        Ok(arguments) => {
            names = settings::names_of(&arguments.command);
            run(arguments, &CommandLine::of(&words))
        }
        Err(error) if error.kind() == ErrorKind::DisplayVersion && is_verbose() => {
            output::print(&version::verbose()).map(|()| Exit::Done)
        }
        Err(error) => match words.mistake(&program) {
            Some(mistake) => Err(Failure::Usage(mistake)),
            None => error.exit(),
        },
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => {
            say(&failure, names, asked);
            failure.code().into()
        }
    }
}

fn run(arguments: Arguments, line: &CommandLine) -> Result<Exit, Failure> {
    let color = arguments.color;
    match arguments.command {
        Command::Demo(options) => commands::demo::run(&options, color),
        Command::Compare(options) => commands::compare::run(&options, color, line),
        Command::Replicate(options) => commands::replicate::run(&options),
        Command::Run(options) => commands::run::run(&options, color, line),
        Command::Predict(options) => commands::predict::run(&options, color, line),
        Command::Site(options) => commands::site::run(&options),
        Command::MeasureSite(options) => commands::measure_site::run(&options, line),
        Command::Calibrate(options) => commands::calibrate::run(&options),
        Command::Report(options) => commands::report::run(&options, color),
        Command::List(options) => commands::list::run(&options),
        Command::Prune(options) => commands::prune::run(&options),
        Command::Audit(options) => commands::audit::run(&options),
        Command::Export(options) => commands::export::run(&options),
        Command::Gate(options) => commands::gate::run(&options),
        Command::Ceiling(options) => commands::ceiling::run(&options),
        Command::Doctor(options) => commands::doctor::run(&options),
        Command::Init(options) => commands::init::run(&options),
        Command::Durable(options) => commands::durable::run(&options),
        Command::Lab(options) => commands::lab::run(&options),
        Command::Net(options) => commands::net::run(&options),
        Command::Agent(options) => commands::agent::run(&options),
        Command::ServeDisk(options) => commands::serve_disk::run(&options),
        Command::Desktop { device } => commands::desktop::run(&device),
        Command::ServeNfs(options) => commands::serve_nfs::run(&options),
        Command::ServeNull(options) => commands::serve_null::run(&options),
        Command::Profile(options) => commands::profile::run(&options),
        Command::Import(options) => commands::import::run(&options),
        Command::Schema { of } => commands::print::schema(of),
        Command::Completions { shell } => commands::print::completions(shell),
        Command::Man(options) => commands::print::man(&options),
    }
}

/// Whether --verbose is given in addition to --version, at which the parser stops.
fn is_verbose() -> bool {
    std::env::args_os().any(|word| word == "--verbose")
}

/// Prints a failure in the format of the parser's own errors.
fn say(failure: &Failure, names: SettingNames, color: Color) {
    let is_painted = color.is_used(std::io::stderr().is_terminal());
    let error = if is_painted { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    let mut text = failure.to_string();
    let settings = settings::that_help(failure, names);
    if !settings.is_empty() {
        text += &format!(" ({})", settings.join(", "));
    }
    // Line by line: positions in files have lines of their own.
    for (index, line) in text.lines().enumerate() {
        let line = stormeter_report::printable(line);
        if index == 0 { eprintln!("{error} {line}") } else { eprintln!("{line}") }
    }
}
