//! The command as users run it: the real program on real storage, with what it prints, leaves and
//! returns.
//!
//! One binary with a module an idea, because each binary would link the whole program's libraries
//! again. Storage and machine may be slow and busy: nothing here depends on how fast anything is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysing;
mod bad_input;
mod calibrate;
mod compare;
mod completions;
mod defaults;
mod display;
mod durable;
mod embedded_ceph;
mod exported;
mod faults;
mod hosts;
mod hosts_ssh;
mod index;
mod init;
mod interrupt;
mod judged;
mod kept;
mod killing;
mod librbd;
mod live;
mod loop_device;
mod lun;
mod measure_site;
mod metrics;
mod network;
mod others;
mod outputs;
mod page;
mod passwords;
mod place;
mod platforms;
mod predict;
mod profile;
mod repository_files;
mod results;
mod resume;
mod safety;
mod schema;
mod servers;
mod services;
mod site;
mod steps;
mod study;
mod timeline;
mod verdict;
mod verify;
mod workflows;
mod workload;
