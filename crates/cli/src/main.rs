//! The command line: arguments, terminal, signals and exit codes. What is worth testing without a
//! terminal lives in the crates below.

mod arguments;
mod arguments_calibrate;
mod arguments_lab;
mod arguments_net;
mod arguments_predict;
mod arguments_site;
mod arguments_study;
mod child;
mod commands;
mod embedded;
mod exit;
mod hosts;
mod null_servers;
mod operator;
mod output;
mod progress;
mod screen;
mod secrets;
mod signals;
mod study_output;
mod workload;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> std::process::ExitCode {
    if stormeter_lab::guest::is_init() {
        stormeter_lab::guest::run();
    }
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Demo(options) => commands::demo::run(&options),
        Command::Compare(options) => commands::compare::run(&options),
        Command::Replicate(options) => commands::replicate::run(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Predict(options) => commands::predict::run(&options),
        Command::Site(options) => commands::site::run(&options),
        Command::Calibrate(options) => commands::calibrate::run(&options),
        Command::Report(options) => commands::report::run(&options),
        Command::Ceiling(options) => commands::ceiling::run(&options),
        Command::Doctor(options) => commands::doctor::run(&options),
        Command::Lab(options) => commands::lab::run(&options),
        Command::Net(options) => commands::net::run(&options),
        Command::Agent(options) => commands::agent::run(&options),
        Command::ServeNfs(options) => commands::serve_nfs::run(&options),
        Command::ServeNull(options) => commands::serve_null::run(&options),
        Command::Profile(options) => commands::profile::run(&options),
        Command::Schema { of } => commands::print::schema(of),
        Command::Completions { shell } => commands::print::completions(shell),
        Command::Man => commands::print::man(),
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => {
            // Line by line: a place in a file is shown on lines of its own.
            let text = format!("stormeter: {failure}");
            for line in text.lines() {
                eprintln!("{}", stormeter_report::printable(line));
            }
            failure.code().into()
        }
    }
}
