//! Every key that a job file of fio can have, and what becomes of it.
//!
//! One table, so that nothing is dropped silently: a key is read, or has no effect on what is measured, or is refused.
//! The names are those of fio 3.33 (HOWTO, "Job file parameters"; `fio --cmdhelp=all`, `fio --enghelp`).

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It is read for the study.
    Read,
    /// It changes nothing that is measured here: why.
    NoEffect(&'static str),
    /// These values change nothing, each other value is refused: the values, why, what to do.
    Only(&'static [&'static str], &'static str, &'static str),
    /// No study file has it: why, what to do.
    Refused(&'static str, &'static str),
}

use Treatment::{NoEffect, Only, Read, Refused};

/// A key, by its names; the first is the one that the code uses.
pub(super) struct Key {
    pub(super) names: &'static [&'static str],
    pub(super) treatment: Treatment,
}

const fn key(names: &'static [&'static str], treatment: Treatment) -> Key {
    Key { names, treatment }
}

const PRINTED: Treatment =
    NoEffect("what fio prints and logs; reports and results files have it all");
const FILES: Treatment = NoEffect(
    "how fio makes its files; Stormeter makes its own disks, written in full before the first trial",
);
const RANDOM: Treatment = NoEffect(
    "how fio draws random numbers; the study's seed is that here, and each place is drawn independently",
);
const AMOUNT: Treatment = NoEffect(
    "the amount after which fio ends; a trial lasts for measure.duration, and the design says how often",
);
const PROCESSES: Treatment =
    NoEffect("how fio runs its jobs; VMs are driven by pinned threads (measure.threads)");
const BUFFERS: Treatment = NoEffect("where fio keeps its buffers");
const FRESH: Treatment = NoEffect("each write has new content here");
const SUBMISSION: Treatment = NoEffect(
    "how fio passes requests to the kernel; Stormeter submits each as soon as another has completed",
);
const VERIFYING: Treatment = NoEffect(
    "how fio checks and reports; measure.verify names the disk, the offset and the write of each bad block",
);

const LEAVE: &str = "leave it out";
const OFF: &[&str] = &["0"];
const ZONES: Treatment = Only(
    &["0", "none"],
    "zones of a device have no counterpart in a study file",
    "leave the keys of zones out, and measure the whole device",
);
const TRIM: Treatment = Only(OFF, "discards are no part of a workload", LEAVE);
const TRACE: Treatment = Refused(
    "a study describes its requests and replays no trace",
    "describe the trace by rw, bs and rate_iops",
);
const ADAPTS: Treatment = Only(
    OFF,
    "fio changes the load until a latency is reached, and a trial has one load",
    "leave it out, and give several levels of load.outstanding in the study file",
);
const CGROUP: Treatment = Refused(
    "Stormeter makes no control groups",
    "leave it out, and run stormeter within one (systemd-run)",
);
const PLACED: Treatment = Refused(
    "Stormeter pins its threads itself, one for each CPU that it may use",
    "leave it out, and run stormeter under taskset or numactl",
);
const PRIORITY: Treatment = Refused(
    "requests have no priorities here",
    "leave it out, and run stormeter under ionice or nice",
);
const USER: Treatment =
    Refused("Stormeter keeps its user", "leave it out, and run stormeter as that user");
const FLOW: Treatment = Refused(
    "each VM has its own loop, and none waits for the progress of another",
    "write one job with rwmixread, or separate the jobs by stonewall",
);
const ENGINE: Treatment =
    Refused("it belongs to an I/O engine that no study file has", "leave it out");
const MINIMUM: Treatment = Only(
    OFF,
    "no trial ends early because it is slow",
    "leave it out, and ask in a question of the study: iops of a is at least 500",
);
const COMMANDS: Treatment = Refused(
    "a job runs no commands",
    "write design: {reset: {command: …}} in the study file, which runs before each trial",
);
const PATTERN: Treatment = Refused(
    "written data has no pattern that a user chooses",
    "write buffer_compress_percentage or leave it out",
);
const DEDUPE: Treatment =
    NoEffect("which block is copied; the share of copies is that of dedupe_percentage");

/// The table.
pub(super) const KEYS: &[Key] = &[
    // What is requested.
    key(&["rw", "readwrite"], Read),
    key(
        &["rw_sequencer"],
        Only(&["sequential"], "the requests that follow a random one are at the next place", LEAVE),
    ),
    key(&["rwmixread"], Read),
    key(&["rwmixwrite"], Read),
    key(&["percentage_random"], Read),
    key(&["random_distribution"], Read),
    key(&["bs", "blocksize"], Read),
    key(&["bsrange", "blocksize_range"], Read),
    key(&["bssplit"], Read),
    key(&["blockalign", "ba"], Read),
    key(
        &["bs_unaligned", "blocksize_unaligned"],
        Only(OFF, "requests are multiples of 512 bytes", LEAVE),
    ),
    key(
        &["bs_is_seq_rand"],
        Only(
            OFF,
            "sequential and random requests have the same sizes",
            "leave it out, and write two jobs with stonewall",
        ),
    ),
    key(&["unified_rw_reporting"], PRINTED),
    // How many at once, and when.
    key(&["iodepth"], Read),
    key(&["iodepth_low"], Read),
    key(&["iodepth_batch_complete_min", "iodepth_batch_complete"], Read),
    key(&["iodepth_batch_complete_max"], SUBMISSION),
    key(&["iodepth_batch", "iodepth_batch_submit"], SUBMISSION),
    key(
        &["serialize_overlap"],
        Only(
            OFF,
            "requests that overlap are not held back",
            "leave it out; verify keeps them apart",
        ),
    ),
    key(&["io_submit_mode"], SUBMISSION),
    key(&["numjobs"], Read),
    key(&["rate"], Read),
    key(&["rate_iops"], Read),
    key(&["rate_process"], Read),
    key(&["rate_ignore_thinktime"], Only(OFF, "a rate and pauses exclude each other", LEAVE)),
    key(&["rate_min", "ratemin"], MINIMUM),
    key(&["rate_iops_min"], MINIMUM),
    key(
        &["rate_cycle", "ratecycle"],
        NoEffect("the time over which fio averages its minimum rates"),
    ),
    key(&["max_latency"], MINIMUM),
    key(&["latency_target"], ADAPTS),
    key(&["latency_window"], ADAPTS),
    key(&["latency_percentile"], ADAPTS),
    key(&["latency_run"], ADAPTS),
    key(&["thinktime"], Read),
    key(&["thinktime_blocks"], Read),
    key(
        &["thinktime_blocks_type"],
        NoEffect("a pause starts when all requests of a group have completed"),
    ),
    key(&["thinktime_spin"], Only(OFF, "pauses use no CPU", LEAVE)),
    key(
        &["thinktime_iotime"],
        Only(OFF, "pauses come after a number of requests", "write thinktime_blocks"),
    ),
    key(&["runtime", "timeout"], Read),
    key(&["time_based"], NoEffect("a trial lasts for measure.duration in any case")),
    key(&["ramp_time"], Read),
    key(
        &["startdelay"],
        Only(&["0", "0s"], "all VMs of a trial start together", "leave it out, or write stonewall"),
    ),
    key(&["loops"], AMOUNT),
    key(&["io_size", "io_limit"], AMOUNT),
    key(&["number_ios"], AMOUNT),
    key(
        &["fill_device", "fill_fs"],
        Only(OFF, "disks have a size, and never fill a file system", "write size="),
    ),
    key(
        &["steadystate", "ss"],
        NoEffect(
            "when fio may end early; a trial lasts for measure.duration, and its drift is tested",
        ),
    ),
    key(&["steadystate_duration", "ss_dur"], AMOUNT),
    key(&["steadystate_ramp_time", "ss_ramp"], AMOUNT),
    // Where.
    key(&["size"], Read),
    key(&["filesize"], Read),
    key(&["nrfiles", "nr_files"], Read),
    key(&["offset"], Read),
    key(&["offset_increment"], Read),
    key(&["offset_align"], NoEffect("disks start where Stormeter makes them")),
    key(&["file_append"], Only(OFF, "disks keep their size", LEAVE)),
    key(&["filename"], Read),
    key(&["directory"], Read),
    key(&["filename_format"], Read),
    key(&["unique_filename"], FILES),
    key(&["opendir"], Refused("Stormeter uses no existing files", "write directory= and size=")),
    key(&["openfiles"], FILES),
    key(&["file_service_type"], NoEffect("the files of a job are one disk here")),
    key(&["lockfile"], Only(&["none"], "disks are not locked", LEAVE)),
    key(&["fallocate"], FILES),
    key(&["create_serialize"], FILES),
    key(&["create_fsync"], FILES),
    key(&["create_on_open"], FILES),
    key(&["create_only"], Only(OFF, "a study measures something", LEAVE)),
    key(&["allow_file_create"], FILES),
    key(
        &["allow_mounted_write"],
        Only(OFF, "a mounted device is never written", "name a directory on it: directory="),
    ),
    key(&["overwrite"], NoEffect("disks are written before the first trial in any case")),
    key(
        &["pre_read"],
        NoEffect("what caches hold before a trial is what writing the disks left there"),
    ),
    key(
        &["invalidate"],
        NoEffect("what caches hold before a trial is what writing the disks left there"),
    ),
    key(&["unlink"], FILES),
    key(&["unlink_each_loop"], FILES),
    key(&["fadvise_hint"], NoEffect("a hint for the page cache about what comes next")),
    key(&["write_hint"], Only(&["none"], "writes carry no hints of lifetime", LEAVE)),
    key(
        &["ioscheduler"],
        Refused(
            "Stormeter changes no device",
            "set the device's queue/scheduler yourself, and leave it out",
        ),
    ),
    key(&["direct"], Read),
    key(&["buffered"], Read),
    key(&["atomic"], Only(OFF, "writes are not atomic", LEAVE)),
    // What is written, and how durably.
    key(&["fsync"], Read),
    key(&["fdatasync"], Read),
    key(&["sync"], Read),
    key(&["end_fsync"], NoEffect("the end of a job, after the measured window")),
    key(&["fsync_on_close"], NoEffect("the end of a job, after the measured window")),
    key(&["sync_file_range"], Refused("a flush covers the whole disk", "write fdatasync=N")),
    key(&["write_barrier"], Only(OFF, "there are flushes and durable writes", "write fdatasync=N")),
    key(&["buffer_compress_percentage"], Read),
    key(&["buffer_compress_chunk"], NoEffect("the share is that of every 4 KiB")),
    key(&["dedupe_percentage"], Read),
    key(&["dedupe_mode"], DEDUPE),
    key(&["dedupe_global"], DEDUPE),
    key(&["dedupe_working_set_percentage"], DEDUPE),
    key(&["refill_buffers"], FRESH),
    key(&["scramble_buffers"], FRESH),
    key(
        &["zero_buffers"],
        Only(
            OFF,
            "no block of zeros is written, since some storage keeps none",
            "write buffer_compress_percentage=100",
        ),
    ),
    key(&["buffer_pattern"], PATTERN),
    // Checking.
    key(&["verify"], Read),
    key(&["do_verify"], Read),
    key(&["verify_only"], Only(OFF, "Stormeter checks what it wrote itself", LEAVE)),
    key(&["verify_pattern"], PATTERN),
    key(&["verify_interval"], VERIFYING),
    key(&["verify_offset"], VERIFYING),
    key(&["verify_fatal"], VERIFYING),
    key(&["verify_dump"], VERIFYING),
    key(&["verify_async"], VERIFYING),
    key(&["verify_async_cpus"], VERIFYING),
    key(
        &["verify_backlog"],
        Only(
            OFF,
            "blocks are checked when the workload reads them, not after a number of writes",
            "write rw=randrw",
        ),
    ),
    key(&["verify_backlog_batch"], Only(OFF, "it belongs to verify_backlog", LEAVE)),
    key(&["verify_state_save"], VERIFYING),
    key(&["verify_state_load"], Only(OFF, "no state of fio is read", LEAVE)),
    key(&["experimental_verify"], VERIFYING),
    key(&["trim_percentage"], TRIM),
    key(&["trim_verify_zero"], TRIM),
    key(&["trim_backlog"], TRIM),
    key(&["trim_backlog_batch"], TRIM),
    // The order of jobs.
    key(&["stonewall", "wait_for_previous"], Read),
    key(&["wait_for"], Read),
    key(&["new_group"], PRINTED),
    key(&["exitall"], AMOUNT),
    key(&["exit_what"], AMOUNT),
    key(&["exitall_on_error"], NoEffect("an I/O error ends its trial in any case")),
    key(
        &["continue_on_error"],
        Only(&["0", "none"], "an I/O error ends its trial, which is measured again", LEAVE),
    ),
    key(
        &["ignore_error"],
        Only(&[""], "an I/O error ends its trial, which is measured again", LEAVE),
    ),
    key(&["error_dump"], PRINTED),
    key(&["flow"], FLOW),
    key(&["flow_id"], FLOW),
    key(&["flow_sleep"], FLOW),
    key(&["flow_watermark"], FLOW),
    // Names and printing.
    key(
        &["name"],
        NoEffect("the name that fio prints; workloads have the names of their sections"),
    ),
    key(&["description"], Read),
    key(&["kb_base"], Read),
    key(&["unit_base"], PRINTED),
    key(&["group_reporting"], PRINTED),
    key(&["stats"], PRINTED),
    key(&["per_job_logs"], PRINTED),
    key(&["write_bw_log"], PRINTED),
    key(&["write_lat_log"], PRINTED),
    key(&["write_iops_log"], PRINTED),
    key(&["write_hist_log"], PRINTED),
    key(&["log_entries"], PRINTED),
    key(&["log_avg_msec"], PRINTED),
    key(&["log_window_value"], PRINTED),
    key(&["log_hist_msec"], PRINTED),
    key(&["log_hist_coarseness"], PRINTED),
    key(&["log_max_value"], PRINTED),
    key(&["log_offset"], PRINTED),
    key(&["log_prio"], PRINTED),
    key(&["log_compression"], PRINTED),
    key(&["log_compression_cpus"], PRINTED),
    key(&["log_store_compressed"], PRINTED),
    key(&["log_unix_epoch"], PRINTED),
    key(&["log_alternate_epoch"], PRINTED),
    key(&["log_alternate_epoch_clock_id"], PRINTED),
    key(&["bwavgtime"], PRINTED),
    key(&["iopsavgtime"], PRINTED),
    key(&["block_error_percentiles"], PRINTED),
    key(&["disk_util"], PRINTED),
    key(&["gtod_reduce"], PRINTED),
    key(&["gtod_cpu"], PRINTED),
    key(&["clocksource"], PRINTED),
    key(&["disable_lat"], PRINTED),
    key(&["disable_clat"], PRINTED),
    key(&["disable_slat"], PRINTED),
    key(&["disable_bw_measurement", "disable_bw"], PRINTED),
    key(&["lat_percentiles"], PRINTED),
    key(&["clat_percentiles"], PRINTED),
    key(&["slat_percentiles"], PRINTED),
    key(&["percentile_list"], PRINTED),
    key(&["significant_figures"], PRINTED),
    // Random numbers.
    key(&["randrepeat"], RANDOM),
    key(&["allrandrepeat"], RANDOM),
    key(&["randseed"], RANDOM),
    key(&["norandommap"], RANDOM),
    key(&["softrandommap"], RANDOM),
    key(&["random_generator"], RANDOM),
    // The process.
    key(&["thread"], PROCESSES),
    key(&["threads"], PROCESSES),
    key(&["mem", "iomem"], BUFFERS),
    key(&["mem_align", "iomem_align"], BUFFERS),
    key(&["hugepage-size"], BUFFERS),
    key(&["lockmem"], Only(OFF, "Stormeter takes no memory away from the page cache", LEAVE)),
    key(&["nice"], PRIORITY),
    key(&["prio"], PRIORITY),
    key(&["prioclass"], PRIORITY),
    key(&["cpus_allowed"], PLACED),
    key(&["cpumask"], PLACED),
    key(&["cpus_allowed_policy"], NoEffect("it belongs to cpus_allowed")),
    key(&["numa_cpu_nodes"], PLACED),
    key(&["numa_mem_policy"], PLACED),
    key(&["cgroup"], CGROUP),
    key(&["cgroup_weight"], CGROUP),
    key(&["cgroup_nodelete"], CGROUP),
    key(&["uid"], USER),
    key(&["gid"], USER),
    key(&["exec_prerun"], COMMANDS),
    key(&["exec_postrun"], COMMANDS),
    key(&["profile"], Refused("fio's own profiles are not read", "write the keys of its jobs")),
    // Traces.
    key(&["read_iolog"], TRACE),
    key(&["read_iolog_chunked"], TRACE),
    key(&["write_iolog"], Refused("requests are not logged one by one", LEAVE)),
    key(&["replay_no_stall"], TRACE),
    key(&["replay_redirect"], TRACE),
    key(&["replay_scale"], TRACE),
    key(&["replay_align"], TRACE),
    key(&["replay_time_scale"], TRACE),
    key(&["replay_skip"], TRACE),
    key(&["merge_blktrace_file"], TRACE),
    key(&["merge_blktrace_scalars"], TRACE),
    key(&["merge_blktrace_iters"], TRACE),
    // Zones.
    key(&["zonemode"], ZONES),
    key(&["zonesize"], ZONES),
    key(&["zonecapacity"], ZONES),
    key(&["zonerange"], ZONES),
    key(&["zoneskip"], ZONES),
    key(&["read_beyond_wp"], ZONES),
    key(&["max_open_zones"], ZONES),
    key(&["job_max_open_zones"], ZONES),
    key(&["ignore_zone_limits"], ZONES),
    key(&["zone_reset_threshold"], ZONES),
    key(&["zone_reset_frequency"], ZONES),
    // Engines that a study file has.
    key(&["ioengine"], Read),
    key(&["nfs_url"], Read),
    key(&["pool"], Read),
    key(&["rbdname"], Read),
    key(&["clientname"], Read),
    key(
        &["clustername"],
        Only(
            &["ceph"],
            "the cluster is that of its configuration",
            "add conf=/etc/ceph/NAME.conf to the study's URL",
        ),
    ),
    key(&["busy_poll"], Only(OFF, "librbd is waited for, not polled", LEAVE)),
    key(&["fixedbufs"], SUBMISSION),
    key(&["registerfiles"], SUBMISSION),
    key(&["nonvectored"], SUBMISSION),
    key(&["force_async"], SUBMISSION),
    key(&["sqthread_poll"], SUBMISSION),
    key(&["sqthread_poll_cpu"], SUBMISSION),
    key(&["userspace_reap"], SUBMISSION),
    key(&["hipri"], Refused("completions are not polled for", LEAVE)),
    key(&["hipri_percentage"], Refused("completions are not polled for", LEAVE)),
    key(&["uncached"], Only(OFF, "the page cache is bypassed, or used as it is", "write direct=1")),
    key(&["nowait"], Only(OFF, "requests wait where the kernel lets them wait", LEAVE)),
    key(&["cmdprio_percentage"], PRIORITY),
    key(&["cmdprio_class"], PRIORITY),
    key(&["cmdprio"], PRIORITY),
    key(&["cmdprio_bssplit"], PRIORITY),
    // Engines that no study file has.
    key(&["arguments"], ENGINE),
    key(&["bindname"], ENGINE),
    key(&["brick"], ENGINE),
    key(&["busy_wait_polling"], ENGINE),
    key(&["chunk_size"], ENGINE),
    key(&["cmd_type"], ENGINE),
    key(&["conf"], ENGINE),
    key(&["cont"], ENGINE),
    key(&["cpuchunks"], ENGINE),
    key(&["cpuload"], ENGINE),
    key(&["cpumode"], ENGINE),
    key(&["cuda_io"], ENGINE),
    key(&["direct_write_to_pmem"], ENGINE),
    key(&["donorname"], ENGINE),
    key(&["exit_on_io_done"], ENGINE),
    key(&["gpu_dev_id"], ENGINE),
    key(&["gpu_dev_ids"], ENGINE),
    key(&["grace_time"], ENGINE),
    key(&["hdfsdirectory"], ENGINE),
    key(&["hostname"], ENGINE),
    key(&["http_host"], ENGINE),
    key(&["http_mode"], ENGINE),
    key(&["http_pass"], ENGINE),
    key(&["http_s3_key"], ENGINE),
    key(&["http_s3_keyid"], ENGINE),
    key(&["http_s3_region"], ENGINE),
    key(&["http_s3_sse_customer_algorithm"], ENGINE),
    key(&["http_s3_sse_customer_key"], ENGINE),
    key(&["http_s3_storage_class"], ENGINE),
    key(&["http_swift_auth_token"], ENGINE),
    key(&["http_user"], ENGINE),
    key(&["http_verbose"], ENGINE),
    key(&["https"], ENGINE),
    key(&["inplace"], ENGINE),
    key(&["interface"], ENGINE),
    key(&["listen"], ENGINE),
    key(&["mss"], ENGINE),
    key(&["namenode"], ENGINE),
    key(&["nodelay"], ENGINE),
    key(&["object_class"], ENGINE),
    key(&["pingpong"], ENGINE),
    key(&["port"], ENGINE),
    key(&["program"], ENGINE),
    key(&["protocol", "proto"], ENGINE),
    key(&["readfua"], ENGINE),
    key(&["serverip"], ENGINE),
    key(&["sg_write_mode"], ENGINE),
    key(&["single-instance"], ENGINE),
    key(&["skip_bad"], ENGINE),
    key(&["stat_type"], ENGINE),
    key(&["std_redirect"], ENGINE),
    key(&["stream_id"], ENGINE),
    key(&["thp"], ENGINE),
    key(&["touch_objects"], ENGINE),
    key(&["ttl"], ENGINE),
    key(&["uri"], ENGINE),
    key(&["verb"], ENGINE),
    key(&["volume"], ENGINE),
    key(&["window_size"], ENGINE),
    key(&["writefua"], ENGINE),
    key(&["xnvme_admin"], ENGINE),
    key(&["xnvme_async"], ENGINE),
    key(&["xnvme_dev_nsid"], ENGINE),
    key(&["xnvme_iovec"], ENGINE),
    key(&["xnvme_sync"], ENGINE),
];

/// The key of this name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.names.contains(&name))
}

/// Every name of every key that is known, in the order of the table.
pub fn known_fio_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().flat_map(|key| key.names.iter().copied())
}

/// Whether every value of this key is refused.
pub fn fio_key_is_refused(name: &str) -> bool {
    find(name).is_some_and(|key| matches!(key.treatment, Refused(..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_there_once() {
        let mut names: Vec<&str> = known_fio_keys().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(find("blocksize").map(|key| key.names[0]), Some("bs"));
        assert!(find("block").is_none());
    }
}
