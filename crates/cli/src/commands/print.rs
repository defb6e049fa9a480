//! What is printed from the definitions alone.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::arguments::{Arguments, ManOptions, SchemaName};
use crate::completed;
use crate::exit::{Exit, Failure};
use crate::output::print;

pub(crate) fn schema(of: SchemaName) -> Result<Exit, Failure> {
    match of {
        SchemaName::Study => print(stormeter_study::study_schema()),
        SchemaName::Site => print(stormeter_site::site_schema()),
        SchemaName::Lab => print(stormeter_lab::lab_schema()),
        SchemaName::Report => print(stormeter_report::SCHEMA),
        SchemaName::Audit => print(stormeter_audit::SCHEMA),
        SchemaName::List => print(stormeter_kept::SCHEMA),
        SchemaName::Gate => print(stormeter_gate::SCHEMA),
        SchemaName::Sides => print(stormeter_report::sides::SCHEMA),
        SchemaName::Timeline => print(stormeter_report::timeline::SCHEMA),
        SchemaName::Replicate => print(stormeter_replicate::SCHEMA),
    }?;
    Ok(Exit::Done)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let text = completed::script(&shell.to_string())
        .ok_or_else(|| Failure::Usage(format!("there are no completions for {shell}")))?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// A manual page, or all of them in a directory.
pub(crate) fn man(options: &ManOptions) -> Result<Exit, Failure> {
    let mut program = Arguments::command();
    // Building gives each command its full name: stormeter-lab-up.
    program.build();
    if let Some(directory) = &options.dir {
        write_all(&program, directory)?;
        return Ok(Exit::Done);
    }
    let mut command = &program;
    for word in &options.command {
        command = command.find_subcommand(word).filter(|found| !found.is_hide_set()).ok_or_else(
            || Failure::Usage(format!("there is no command {word}; `stormeter help` lists them")),
        )?;
    }
    print(&String::from_utf8_lossy(&page(command)?))?;
    Ok(Exit::Done)
}

/// A command's page, under the name by which other pages refer to it.
fn page(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let rendered = Man::new(command.clone()).title(name).render(&mut text);
    rendered.map_err(|error| Failure::File(format!("the page cannot be made: {error}")))?;
    Ok(text)
}

fn write_all(command: &clap::Command, directory: &Path) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = directory.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?)
        .map_err(|error| Failure::File(format!("{} cannot be written: {error}", path.display())))?;
    let below = command.get_subcommands();
    for command in below.filter(|one| !one.is_hide_set() && one.get_name() != "help") {
        write_all(command, directory)?;
    }
    Ok(())
}
