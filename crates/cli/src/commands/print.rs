//! What is printed from the definitions alone.

use clap::CommandFactory;

use crate::arguments::{Arguments, SchemaName};
use crate::exit::{Exit, Failure};
use crate::output::print;

pub(crate) fn schema(of: SchemaName) -> Result<Exit, Failure> {
    print(match of {
        SchemaName::Study => stormeter_study::study_schema(),
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
    let write = |result: std::io::Result<()>| {
        result.map_err(|error| Failure::File(format!("the page cannot be made: {error}")))
    };
    let mut command = Arguments::command();
    command.build();
    let mut text = Vec::new();
    write(clap_mangen::Man::new(command.clone()).render(&mut text))?;
    for subcommand in command.get_subcommands().filter(|c| c.get_name() != "help") {
        let title = format!(".SH \"STORMETER {}\"\n", subcommand.get_name().to_uppercase());
        text.extend_from_slice(title.as_bytes());
        let man = clap_mangen::Man::new(subcommand.clone());
        write(man.render_synopsis_section(&mut text))?;
        write(man.render_description_section(&mut text))?;
        write(man.render_options_section(&mut text))?;
    }
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
