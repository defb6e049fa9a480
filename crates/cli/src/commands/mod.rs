//! One command a file.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod calibrate;
pub(crate) mod ceiling;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod desktop;
pub(crate) mod doctor;
pub(crate) mod durable;
pub(crate) mod gate;
pub(crate) mod lab;
mod lab_ceph;
mod lab_durable;
mod lab_start;
pub(crate) mod measure_site;
pub(crate) mod net;
pub(crate) mod predict;
pub(crate) mod print;
pub(crate) mod profile;
pub(crate) mod replicate;
pub(crate) mod replicate_answers;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve_disk;
pub(crate) mod serve_nfs;
pub(crate) mod serve_null;
pub(crate) mod site;
