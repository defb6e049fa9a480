//! `stormeter site`: a site file by itself, before anything is predicted for it.

use stormeter_report::printable;
use stormeter_site::{library_text, site_text};

use crate::arguments_site::{SiteCheckOptions, SiteCommand, SiteOptions};
use crate::commands::predict::read_site;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_tables};
use crate::text_file::read_text;

pub(crate) fn run(options: &SiteOptions) -> Result<Exit, Failure> {
    match &options.command {
        SiteCommand::Check(options) => check(options),
        SiteCommand::Library => {
            print(library_text())?;
            Ok(Exit::Done)
        }
    }
}

fn check(options: &SiteCheckOptions) -> Result<Exit, Failure> {
    let text = read_text(&options.file, "site file")?;
    let name = options.file.display().to_string();
    let file = read_site(&name, &text, &options.what_if).map_err(Failure::Usage)?;
    let summary = site_text(&file);
    // Names come from the file, which may be untrusted.
    let lines = summary.lines().map(|line| format!("{}\n", printable(line)));
    print_tables(&lines.collect::<String>())?;
    Ok(Exit::Done)
}
