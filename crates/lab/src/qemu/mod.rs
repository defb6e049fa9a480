//! QEMU: describing a guest's machine, starting, controlling and ending it.

mod accelerator;
mod arguments;
mod cable;
pub(crate) mod folder;
mod hardware;
pub(crate) mod image_tool;
mod layer;
mod log;
mod port;
mod probe;
mod process;
mod qmp;
mod spawn;
pub(crate) mod throttle;
mod version;
mod write_log;

pub(crate) use accelerator::Accelerator;
pub(crate) use cable::{cable_end, plug_in, unplug};
pub(crate) use hardware::{Backend, Disk, Hardware, Kind, NETWORK, Plug, group};
pub(crate) use layer::Layers;
pub(crate) use probe::{Probed, probe};
pub(crate) use process::Process;
pub(crate) use qmp::Qmp;
pub(crate) use spawn::{Guest, Memory, Ram, spawn};
pub(crate) use version::version;
pub(crate) use write_log::survive;
