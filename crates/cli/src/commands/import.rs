//! `stormeter import`: a study file from a job file of fio.

use std::io::{Seek, SeekFrom};
use std::path::Path;

use nix::unistd::{SysconfVar, sysconf};
use stormeter_import::{Surroundings, study_of_fio_job};
use stormeter_study::parse_study;

use crate::arguments::ImportOptions;
use crate::commands::run::read_text;
use crate::exit::{Exit, Failure};
use crate::output::print;

pub(crate) fn run(options: &ImportOptions) -> Result<Exit, Failure> {
    let text = read_text(&options.file, "job file")?;
    let folder = options.file.parent().unwrap_or(Path::new("")).to_path_buf();
    let around = Surroundings {
        include: &|name| std::fs::read_to_string(folder.join(name)).ok(),
        variable: &variable,
        size: &|path| size(Path::new(path)),
    };
    let name = options.file.display();
    let translated = study_of_fio_job(&text, &around)
        .map_err(|error| Failure::Usage(format!("{name} is not translated:\n{error}")))?;
    // Keys that are right each for itself may make a study that no machine can run.
    parse_study(&translated.study)
        .map_err(|errors| Failure::Usage(format!("{name} makes no study:\n{errors}")))?;
    let Some(output) = &options.output else {
        print(&translated.study)?;
        return Ok(Exit::Done);
    };
    write(output, &translated.study)?;
    print(&format!(
        "{output} is written; its comments say what became of each key.\nCheck it with `stormeter run --plan {output}`.\n",
        output = output.display()
    ))?;
    Ok(Exit::Done)
}

/// A file that exists may be a study that was worked on.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let file = std::fs::File::options().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "; remove it, or name another file",
            _ => "",
        };
        Failure::File(format!("{} cannot be written: {error}{advice}", path.display()))
    })
}

/// A variable of the environment, and what fio knows of the machine.
fn variable(name: &str) -> Option<String> {
    let machine = |variable| sysconf(variable).ok().flatten();
    let number = match name {
        "ncpus" => std::thread::available_parallelism().ok().map(|cpus| cpus.get() as i64),
        "pagesize" => machine(SysconfVar::PAGE_SIZE),
        "mb_memory" => {
            let pages = machine(SysconfVar::_PHYS_PAGES);
            pages.zip(machine(SysconfVar::PAGE_SIZE)).map(|(pages, bytes)| (pages * bytes) >> 20)
        }
        name => return std::env::var(name).ok(),
    };
    number.map(|number| number.to_string())
}

/// The size of a file or device that exists.
fn size(path: &Path) -> Option<u64> {
    let mut file = std::fs::File::open(path).ok()?;
    file.seek(SeekFrom::End(0)).ok().filter(|bytes| *bytes > 0)
}
