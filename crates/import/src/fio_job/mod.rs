//! Job files of fio: read as study files, and written from workloads.
//!
//! A job file describes a load in another tool's words. Each of its keys is translated, or has no effect on what is
//! measured here and is remarked on, or is refused by name; nothing is dropped silently, because a study that
//! measures something other than the job says is worse than none. Pure: included files, variables and the sizes of
//! files come from [`Surroundings`].
//!
//! Sources: fio's HOWTO ("Job file format", "Job file parameters", "Parameter types") and fio 3.33's behaviour.

mod engines;
mod error;
mod job;
mod keys;
mod options;
mod pace;
mod pattern;
mod phases;
mod study;
mod surroundings;
mod target;
mod text;
mod value;
mod written;

pub use error::{FioJobError, JobPlace, Refusal, Remark};
pub use keys::{fio_key_is_refused, known_fio_keys};
pub use surroundings::Surroundings;
pub use written::{FioSetting, NoFioJob, NotInFio, fio_job_of};

use options::Findings;

/// A study file from a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslatedJob {
    /// The study file: YAML, with the remarks as comments at its start.
    pub study: String,
    /// What becomes of keys without a counterpart, and of defaults of fio, in the order of the file.
    pub remarks: Vec<Remark>,
}

/// The study file of a job file.
///
/// Jobs that run at the same time are one workload: those with files of their own on VMs, those that share a file on
/// one disk that has the requests of all outstanding. `stonewall` starts the next workload.
///
/// ```
/// use stormeter_import::{Surroundings, study_of_fio_job};
///
/// let job = "
/// [global]
/// ioengine=libaio
/// direct=1
/// directory=/srv/vm
/// size=1g
/// runtime=20
/// time_based
/// [mixed]
/// rw=randrw
/// rwmixread=70
/// bs=8k
/// iodepth=16
/// numjobs=4
/// ";
/// let translated = study_of_fio_job(job, &Surroundings::NONE)?;
/// assert!(translated.study.contains("read: 70%"));
/// assert!(translated.study.contains("load: {vms: 4}"));
///
/// let refused = study_of_fio_job("[a]\nsize=1g\nzonemode=zbd\nflow=2\n", &Surroundings::NONE);
/// let message = refused.unwrap_err().to_string();
/// assert!(message.contains("line 3: zonemode") && message.contains("line 4: flow"));
/// # Ok::<(), stormeter_import::FioJobError>(())
/// ```
///
/// # Errors
/// The text is no job file, or has keys that no study file can have: all of them at once.
pub fn study_of_fio_job(
    text: &str,
    around: &Surroundings<'_>,
) -> Result<TranslatedJob, FioJobError> {
    let sections = text::sections(text, around)?;
    let mut findings = Findings::default();
    let jobs = options::jobs(&sections, around, &mut findings);
    if jobs.is_empty() {
        return Err(FioJobError::NoJob);
    }
    let jobs: Vec<job::Job> =
        jobs.into_iter().map(|options| job::job(options, around, &mut findings)).collect();
    let phases = phases::phases(&jobs, &mut findings);
    let study = study::text(&jobs, phases, &mut findings);
    if !findings.refusals.is_empty() {
        return Err(FioJobError::Refused(findings.refusals.into_iter().collect()));
    }
    Ok(TranslatedJob { study, remarks: findings.remarks.into_iter().collect() })
}
