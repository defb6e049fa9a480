//! Devices described only by their service times.

use stormeter_site::*;

/// Each request takes this long, plus a time per byte, at one of this many servers.
pub fn device(servers: u32, each_ns: f64, per_byte_ns: f64) -> Device {
    Device::Queue(Queue {
        servers,
        read_ns: each_ns,
        write_ns: each_ns,
        per_byte_ns,
        per_written_byte_ns: per_byte_ns,
        shared_per_byte_ns: 0.0,
        shared_per_written_byte_ns: 0.0,
        shared_per_io_ns: 0.0,
        shared_per_write_ns: 0.0,
        spread: Spread::Constant,
        service: Service::Single,
        write_cache: None,
        flush_ns: 0.0,
    })
}
