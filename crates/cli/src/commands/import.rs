//! `stormeter import`: a results file from results of other tools, or a study file from a job file of fio.

use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use nix::unistd::{SysconfVar, sysconf};
use stormeter_import::{Surroundings, study_of_fio_job};
use stormeter_results::{ImportedSource, write_imported};
use stormeter_study::parse_study;

use crate::arguments::ImportOptions;
use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::sources::{self, Source};
use crate::text_file::read_text;

pub(crate) fn run(options: &ImportOptions) -> Result<Exit, Failure> {
    let files = sources::files(&options.files)?;
    if let [file] = files.as_slice()
        && matches!(sources::read(file)?, Source::Text(_))
    {
        return job(file, options.output.as_deref());
    }
    results(&files, options.output.as_deref())
}

/// Keeps results of other tools in one file.
fn results(files: &[PathBuf], output: Option<&Path>) -> Result<Exit, Failure> {
    let mut kept: Vec<ImportedSource> = Vec::new();
    for file in files {
        match sources::read(file)? {
            Source::Imported(sources) => kept.extend(sources),
            Source::Results(_) => {
                return Err(Failure::Usage(format!(
                    "{} is a results file of stormeter already",
                    file.display()
                )));
            }
            Source::Text(_) => return Err(sources::unknown(file)),
        }
    }
    if kept.is_empty() {
        return Err(Failure::Usage("there are no files to import".into()));
    }
    let output = output.ok_or_else(|| {
        Failure::Usage("results need a file to be kept in, such as --output results.db".into())
    })?;
    write_imported(output, &kept, env!("CARGO_PKG_VERSION"))?;
    let mut lines = Vec::new();
    for ImportedSource { file, imported } in &kept {
        let version = imported.version.as_ref().map(|version| format!(" {version}"));
        let runs = match imported.runs.len() {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        lines.push(format!("{file}: {}{}, {runs}", imported.tool, version.unwrap_or_default()));
        lines.extend(imported.left_out.iter().map(|sentence| format!("  left out: {sentence}")));
    }
    let output = output.display();
    lines.push(format!("{output} is written. Look at it with `stormeter report {output}`."));
    // Names and sentences are of files from elsewhere.
    let lines = lines.iter().map(|line| stormeter_report::printable(line) + "\n");
    print(&lines.collect::<String>())?;
    Ok(Exit::Done)
}

/// Translates a job file of fio.
fn job(file: &Path, output: Option<&Path>) -> Result<Exit, Failure> {
    let study = study_of_job(file)?;
    let Some(output) = output else {
        print(&study)?;
        return Ok(Exit::Done);
    };
    write(output, &study)?;
    print(&format!(
        "{output} is written; its comments say what became of each key.\nCheck it with `stormeter run --plan {output}`.\n",
        output = output.display()
    ))?;
    Ok(Exit::Done)
}

/// The study file that does what a job file of fio does.
pub(crate) fn study_of_job(file: &Path) -> Result<String, Failure> {
    let text = read_text(file, "job file")?;
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    let around = Surroundings {
        include: &|name| std::fs::read_to_string(folder.join(name)).ok(),
        variable: &variable,
        size: &|path| size(Path::new(path)),
    };
    let name = file.display();
    let translated = study_of_fio_job(&text, &around)
        .map_err(|error| Failure::Usage(format!("{name} is not translated:\n{error}")))?;
    // Keys that are right each for itself may make a study that no machine can run.
    parse_study(&translated.study)
        .map_err(|errors| Failure::Usage(format!("{name} makes no study:\n{errors}")))?;
    Ok(translated.study)
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
