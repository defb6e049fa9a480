//! What is printed from the definitions alone.

use clap::CommandFactory;

use crate::arguments::{Arguments, SchemaName};
use crate::exit::{Exit, Failure};
use crate::output::print;

pub(crate) fn schema(of: SchemaName) -> Result<Exit, Failure> {
    print(match of {
        SchemaName::Study => stormeter_study::study_schema(),
        SchemaName::Site => stormeter_site::site_schema(),
        SchemaName::Lab => stormeter_lab::lab_schema(),
        SchemaName::Comparison => stormeter_report::SCHEMA,
    })?;
    Ok(Exit::Done)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "stormeter", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// The manual page: the program and, one after the other, its commands.
pub(crate) fn man() -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(command.clone())
        .render(&mut text)
        .and_then(|()| pages(&command, "STORMETER", &mut text));
    written.map_err(|error| Failure::File(format!("the page cannot be made: {error}")))?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// The sections of each command below one, and of those below it in turn.
fn pages(command: &clap::Command, name: &str, text: &mut Vec<u8>) -> std::io::Result<()> {
    let is_page = |below: &&clap::Command| below.get_name() != "help";
    for subcommand in command.get_subcommands().filter(is_page) {
        let name = format!("{name} {}", subcommand.get_name().to_uppercase());
        text.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
        let man = clap_mangen::Man::new(subcommand.clone());
        man.render_synopsis_section(text)?;
        man.render_description_section(text)?;
        man.render_options_section(text)?;
        pages(subcommand, &name, text)?;
    }
    Ok(())
}
