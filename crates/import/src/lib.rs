//! Results of other storage benchmarks, read as plain values.
//!
//! Text in, [`Imported`] out: which tool, which runs, and of each run what its file carries, with the precision of
//! what was printed. Nothing is computed that the file does not say, so that the laws of `audit` check the file's
//! own figures against each other. Pure: no files, no clocks.
//!
//! Files come from elsewhere, so reading one takes time in proportion to its size, and heap memory of at most ten times
//! its size and 512 KiB, the result included and the text itself not (`tests/memory.rs`).

mod chunks;
mod diskspd;
mod elbencho;
mod error;
mod figure;
mod fio;
mod fio_job;
mod format;
#[cfg(test)]
mod fuzz;
mod hcibench;
mod hdr;
mod iometer;
mod iozone;
mod iperf3;
mod json;
mod kbench;
mod kubestr;
mod packed;
mod packed_run;
mod place;
mod room;
mod run;
mod series;
mod time;
mod units;
mod vdbench;

pub use error::ImportError;
pub use figure::Figure;
pub use fio::{LogKind as FioLogKind, read as read_fio, read_log as read_fio_log};
pub use fio_job::{
    FioJobError, FioSetting, JobPlace, NoFioJob, NotInFio, Refusal, Remark, Surroundings,
    TranslatedJob, fio_job_of, fio_key_is_refused, known_fio_keys, study_of_fio_job,
};
pub use format::{formats, read};
pub use run::{
    Bucket, Direction, Imported, Interval, Latency, Load, Pattern, Percentile, Run, Way,
};
pub use series::{Iter, Series};
