//! Results of other storage benchmarks, read as plain values.
//!
//! Text in, [`Imported`] out: which tool, which runs, and of each run what its file carries, with the precision of
//! what was printed. Nothing is computed that the file does not say, so that the laws of `audit` check the file's
//! own figures against each other. Pure: no files, no clocks.

mod error;
mod figure;
mod fio;
mod format;
mod run;

pub use error::ImportError;
pub use figure::Figure;
pub use fio::{
    LOG_NAME as FIO_LOG_NAME, LogKind as FioLogKind, NAMES as FIO_NAMES, read as read_fio,
    read_log as read_fio_log,
};
pub use format::read;
pub use run::{
    Bucket, Direction, Imported, Interval, Latency, Load, Pattern, Percentile, Run, Way,
};
