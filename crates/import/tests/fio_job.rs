//! Job files of fio, read as studies that the study parser reads, and written from workloads.

use stormeter_import::{
    FioJobError, FioSetting, Refusal, Surroundings, TranslatedJob, fio_job_of, known_fio_keys,
    study_of_fio_job,
};
use stormeter_study::{StudyPlan, WorkloadKind, parse_study, study_profiles};
use stormeter_trial::{Arrivals, Burst, Distribution, FlushEvery, Workload};

/// A job on a directory with direct I/O.
const HEAD: &str =
    "[global]\nioengine=libaio\ndirect=1\ndirectory=/srv/vm\nsize=1g\nruntime=20\n[job]\n";

fn translated(text: &str) -> (StudyPlan, TranslatedJob) {
    let job = study_of_fio_job(text, &Surroundings::NONE)
        .unwrap_or_else(|error| panic!("{text}\n{error}"));
    let plan = parse_study(&job.study).unwrap_or_else(|errors| panic!("{errors}\n{}", job.study));
    (plan, job)
}

fn plan(text: &str) -> StudyPlan {
    translated(text).0
}

fn io(plan: &StudyPlan, index: usize) -> &Workload {
    match &plan.workloads[index].kind {
        WorkloadKind::Io(io) => io,
        other => panic!("{other:?}"),
    }
}

/// The only workload of a job with these keys.
fn workload(keys: &str) -> Workload {
    io(&plan(&format!("{HEAD}{keys}")), 0).clone()
}

fn refusals(text: &str) -> Vec<Refusal> {
    match study_of_fio_job(text, &Surroundings::NONE) {
        Err(FioJobError::Refused(refusals)) => refusals,
        other => panic!("{text}\n{other:?}"),
    }
}

/// The keys that a job with these keys is refused for.
fn refused(keys: &str) -> Vec<String> {
    refusals(&format!("{HEAD}{keys}")).into_iter().map(|refusal| refusal.key).collect()
}

fn remark(keys: &str, key: &str) -> String {
    let (_, job) = translated(&format!("{HEAD}{keys}"));
    let found = job.remarks.iter().find(|remark| remark.key == key);
    found.unwrap_or_else(|| panic!("{key}: {:?}", job.remarks)).text.clone()
}

const CLOSED: fn(u32) -> Arrivals = |outstanding| Arrivals::Closed { outstanding };

#[test]
fn all_forms_of_rw_are_shares() {
    for (rw, read, random) in [
        ("", 100.0, 0.0),
        ("rw=read", 100.0, 0.0),
        ("rw=write", 0.0, 0.0),
        ("readwrite=randread", 100.0, 100.0),
        ("rw=randwrite", 0.0, 100.0),
        ("rw=rw", 50.0, 0.0),
        ("rw=readwrite\nrwmixwrite=30", 70.0, 0.0),
        ("rw=randrw\nrwmixread=70", 70.0, 100.0),
        ("rw=randrw\nrwmixread=70\nrwmixwrite=30", 70.0, 100.0),
        ("rw=randread:8", 100.0, 12.5),
        ("rw=randwrite\npercentage_random=25", 0.0, 25.0),
    ] {
        let workload = workload(rw);
        assert_eq!((workload.read_percent, workload.random_percent), (read, random), "{rw}");
    }
    for bad in
        ["rw=trim", "rw=randtrim", "rw=read:-8k", "rw=write:4k", "rw=sideways", "rw=randread:x"]
    {
        assert_eq!(refused(bad), ["rw"], "{bad}");
    }
    assert_eq!(refused("rw=randrw\nrwmixread=70\nrwmixwrite=40"), ["rwmixwrite"]);
    assert!(remark("rw=read\nrwmixread=70", "rwmixread").contains("no effect"));
}

#[test]
fn sizes_may_be_one_a_range_or_a_split() {
    let sizes = |keys: &str| -> Vec<(u32, f64)> {
        workload(keys).sizes.iter().map(|size| (size.bytes, size.share)).collect()
    };
    let of = |keys: &str| sizes(keys).into_iter().map(|(bytes, _)| bytes).collect::<Vec<_>>();
    assert_eq!(of(""), [4096]);
    assert_eq!(of("bs=8k"), [8192]);
    assert_eq!(of("blocksize=1m"), [1 << 20]);
    assert_eq!(of("kb_base=1000\nbs=4KiB"), [4096]);
    assert_eq!(of("rw=read\nbs=4k,8k"), [4096]);
    assert_eq!(of("rw=write\nbs=4k,8k"), [8192]);
    assert_eq!(of("rw=read\nbs=,8k"), [4096]);
    assert_eq!(of("rw=write\nbs=8k,"), [4096]);
    assert_eq!(of("bsrange=4k-4k"), [4096]);
    assert_eq!(sizes("bsrange=1k-4k"), [(1024, 1.0), (2048, 1.0), (3072, 1.0), (4096, 1.0)]);
    assert_eq!(sizes("bssplit=4k/50:1k/:32k/"), [(4096, 50.0), (1024, 25.0), (32768, 25.0)]);
    assert_eq!(sizes("bssplit=4k/60:4k/40:8k/0"), [(4096, 1.0)]);
    assert_eq!(sizes("rw=write\nbssplit=4k/100,8k/50:16k/50"), [(8192, 50.0), (16384, 50.0)]);
    assert_eq!(workload("rw=randread\nbs=8k\nblockalign=4k").alignment_bytes, Some(4096));
    assert_eq!(workload("rw=randread\nba=4k,4k").alignment_bytes, Some(4096));
    for (bad, key) in [
        ("rw=rw\nbs=4k,8k", "bs"),
        ("bs=4KiB", "bs"),
        ("bs=100", "bs"),
        ("bs=many", "bs"),
        ("bs=128m", "bs"),
        ("bsrange=512-1m", "bsrange"),
        ("bssplit=4k/50:8k/40", "bssplit"),
        ("blockalign=100", "blockalign"),
        ("ba=4k,8k", "ba"),
    ] {
        assert_eq!(refused(bad), [key], "{bad}");
    }
}

#[test]
fn places_are_uniform_or_follow_zipf() {
    let zipf = workload("rw=randread\nrandom_distribution=zipf:1.2").distribution;
    assert_eq!(zipf, Distribution::Zipf { exponent: 1.2 });
    let uniform = workload("rw=randread\nrandom_distribution=random").distribution;
    assert_eq!(uniform, Distribution::Uniform);
    for bad in
        ["zoned:50/5:30/15:20/80", "pareto:0.9", "normal:5", "zipf", "zipf:1.1:0.5", "zipf:9"]
    {
        let keys = format!("rw=randread\nrandom_distribution={bad}");
        assert_eq!(refused(&keys), ["random_distribution"], "{bad}");
    }
    assert!(remark("random_distribution=zipf:1.1", "random_distribution").contains("sequential"));
}

#[test]
fn the_queue_depth_is_that_of_the_engine() {
    assert_eq!(workload("iodepth=32").arrivals, CLOSED(32));
    assert_eq!(workload("").arrivals, CLOSED(1));
    for engine in ["sync", "psync", "vsync", "pvsync2"] {
        assert_eq!(
            workload(&format!("iodepth=32\nioengine={engine}")).arrivals,
            CLOSED(1),
            "{engine}"
        );
    }
    // Without an engine fio takes psync on Linux.
    let default = plan("[a]\nsize=1g\niodepth=32\n");
    assert_eq!(io(&default, 0).arrivals, CLOSED(1));
    assert_eq!(default.datastores[0].url, ".?direct=0");
    assert_eq!(
        workload("iodepth=8\niodepth_low=8\niodepth_batch=4\niodepth_batch_complete=1").arrivals,
        CLOSED(8)
    );
    assert_eq!(refused("iodepth=8\niodepth_low=4"), ["iodepth_low"]);
    assert_eq!(refused("iodepth=8\niodepth_batch_complete_min=4"), ["iodepth_batch_complete_min"]);
    assert_eq!(refused("iodepth=0"), ["iodepth"]);
    assert_eq!(refused("iodepth=100000"), ["iodepth"]);
}

#[test]
fn rates_are_open_loops() {
    let constant = |rate_per_s| Arrivals::Constant { rate_per_s };
    assert_eq!(workload("rate_iops=500").arrivals, constant(500.0));
    assert_eq!(workload("rate=1m\nbs=4k").arrivals, constant(256.0));
    assert_eq!(workload("rw=write\nrate=1m,2m").arrivals, constant(512.0));
    assert_eq!(workload("rw=write\nrate_iops=500,").arrivals, CLOSED(1));
    let poisson = workload("rate_iops=50\nrate_process=poisson").arrivals;
    assert_eq!(poisson, Arrivals::Poisson { rate_per_s: 50.0 });
    // A rate limits reads and writes each.
    assert_eq!(workload("rw=randrw\nrate_iops=500").arrivals, constant(1000.0));
    assert_eq!(workload("rw=randrw\nrwmixread=70\nrate_iops=350,150").arrivals, constant(500.0));
    assert_eq!(refused("rw=randrw\nrwmixread=70\nrate_iops=500"), ["rate_iops"]);
    assert_eq!(refused("rate_iops=fast"), ["rate_iops"]);
    assert_eq!(refused("rate_iops=5\nrate=1m"), ["rate"]);
    assert_eq!(refused("rate_iops=5\nrate_process=erratic"), ["rate_process"]);
    assert_eq!(refused("rate_iops=5\nthinktime=10"), ["thinktime"]);
}

#[test]
fn pauses_flushes_and_contents_have_their_keys() {
    let burst = workload("iodepth=4\nthinktime=2000\nthinktime_blocks=8").burst;
    assert_eq!(burst, Some(Burst { length: 8, delay_ns: 2_000_000 }));
    assert_eq!(workload("thinktime=5ms").burst, Some(Burst { length: 1, delay_ns: 5_000_000 }));
    assert_eq!(workload("rw=write\nfdatasync=8").flush, Some(FlushEvery::Writes { writes: 8 }));
    assert_eq!(workload("rw=write\nfsync=1").flush, Some(FlushEvery::Writes { writes: 1 }));
    assert_eq!(workload("rw=write\nfsync=0").flush, None);
    assert_eq!(workload("rw=read\nfsync=1").flush, None);
    for (sync, durable) in
        [("sync=1", true), ("sync=dsync", true), ("sync=0", false), ("sync=none", false)]
    {
        assert_eq!(workload(&format!("rw=write\n{sync}")).durable, durable, "{sync}");
    }
    let content =
        workload("rw=write\nbuffer_compress_percentage=50\ndedupe_percentage=30\nrefill_buffers")
            .content;
    assert_eq!((content.compressible_percent, content.duplicate_percent), (50.0, 30.0));
    assert_eq!(refused("rw=write\nfsync=1\nfdatasync=1"), ["fsync"]);
    assert_eq!(refused("rw=write\nsync=maybe"), ["sync"]);
    assert_eq!(refused("thinktime=5ms\nthinktime_blocks=0"), ["thinktime_blocks"]);
}

#[test]
fn time_and_verify_are_those_of_the_study() {
    let (plan, _) = translated(&format!(
        "{HEAD}rw=randrw\nramp_time=5s\nruntime=2m\ntime_based\nverify=crc32c"
    ));
    assert_eq!((plan.timing.ramp_ns, plan.timing.duration_ns), (5_000_000_000, 120_000_000_000));
    assert!(plan.verify);
    assert_eq!(refused("rw=write\nverify=md5"), ["verify"]);
    assert_eq!(refused("rw=rw\nverify=pattern"), ["verify"]);
    assert!(remark("rw=write\nverify=md5\ndo_verify=0", "verify").contains("no effect"));
    assert_eq!(refused("[other]\nstonewall\nruntime=30"), ["runtime"]);
    assert_eq!(refused("[other]\nstonewall\nramp_time=5"), ["ramp_time"]);
    assert_eq!(refused("runtime=1ms"), ["runtime"]);
    let endless = translated("[a]\ndirect=1\nsize=1g\n").1;
    assert!(endless.remarks.iter().any(|remark| remark.key == "runtime"), "{:?}", endless.remarks);
}

#[test]
fn copies_are_vms_or_share_a_disk() {
    let own = plan(&format!("{HEAD}iodepth=4\nnumjobs=3"));
    assert_eq!((own.vms.as_slice(), io(&own, 0).arrivals), (&[3][..], CLOSED(4)));
    let shared = plan(&format!("{HEAD}iodepth=4\nnumjobs=3\nfilename=one\nrw=randread"));
    assert_eq!((shared.vms.as_slice(), io(&shared, 0).arrivals), (&[1][..], CLOSED(12)));
    let rate = plan(&format!("{HEAD}rate_iops=100\nnumjobs=3\nfilename=one\nrw=randread"));
    assert_eq!(io(&rate, 0).arrivals, Arrivals::Constant { rate_per_s: 300.0 });
    let parts = plan(&format!("{HEAD}iodepth=4\nnumjobs=3\nfilename=one\noffset_increment=1g"));
    assert_eq!((parts.vms.as_slice(), io(&parts, 0).arrivals), (&[3][..], CLOSED(4)));
    assert_eq!(refused("numjobs=3\nfilename=one\noffset_increment=512m"), ["offset_increment"]);
    let alike = plan(&format!("{HEAD}iodepth=2\nfilename=one\n[b]\niodepth=6\nfilename=one\n"));
    assert_eq!(io(&alike, 0).arrivals, CLOSED(8));
    assert_eq!(alike.workloads[0].name, "job+b");
    assert_eq!(refused("filename=one\nnumjobs=2\nthinktime=5"), ["thinktime"]);
}

#[test]
fn jobs_that_differ_need_a_stonewall() {
    for (keys, key) in [
        ("rw=randread", "rw"),
        ("bs=8k", "bs"),
        ("iodepth=9", "iodepth"),
        ("size=2g", "size"),
        ("directory=/other", "directory"),
        ("buffered=1\ndirect=0", "direct"),
    ] {
        assert_eq!(refused(&format!("[other]\n{keys}\n")), [key], "{keys}");
    }
    let both = plan(&format!("{HEAD}[other]\nstonewall\nrw=randread\nbs=8k\nsize=2g\n"));
    assert_eq!(both.workloads.len(), 2);
    assert_eq!(both.workloads[1].disk_bytes, Some(2 << 30));
    let waits = plan(&format!("{HEAD}[other]\nwait_for=job\nrw=randread\n"));
    assert_eq!(waits.workloads.len(), 2);
    assert_eq!(refused("filename=one\n[b]\nfilename=one\n[c]\nwait_for=job\n"), ["wait_for"]);
    assert_eq!(refused("[other]\nstonewall\nnumjobs=2\n"), ["numjobs"]);
    // The same on two datastores is a comparison.
    let two = plan(&format!("{HEAD}[other]\nstonewall\ndirectory=/mnt/nas\n"));
    assert_eq!((two.datastores.len(), two.workloads.len()), (2, 1));
    assert_eq!(two.datastores[1].url, "/mnt/nas");
    assert_eq!(refused("[other]\nstonewall\nbs=8k\ndirectory=/mnt/nas\n"), ["directory"]);
}

#[test]
fn targets_are_datastores() {
    let url = |text: &str| plan(text).datastores[0].url.clone();
    assert_eq!(url("[a]\ndirect=1\nfilename=/dev/sdx\nsize=1g\n"), "/dev/sdx");
    assert_eq!(url("[a]\nbuffered=0\nfilename=/srv/vm/file\nsize=1g\n"), "/srv/vm");
    assert_eq!(url("[a]\nfilename=/srv/vm/file\nsize=1g\n"), "/srv/vm?direct=0");
    assert_eq!(url("[a]\ndirect=1\nfilename=sub/file\nsize=1g\n"), "./sub");
    assert_eq!(url("[a]\nioengine=null\nsize=1g\n"), "null:");
    assert_eq!(url("[a]\nioengine=nfs\nnfs_url=nfs://nas/export\nsize=1g\n"), "nfs://nas/export");
    let lun = "[a]\nioengine=libiscsi\nfilename=iscsi\\://h/iqn.2026-01.example\\:vm/0\nsize=1g\n";
    assert_eq!(url(lun), "iscsi://h/iqn.2026-01.example:vm/0");
    assert_eq!(
        url("[a]\nioengine=rbd\npool=vms\nrbdname=x\nclientname=admin\nsize=1g\n"),
        "rbd:vms"
    );
    assert_eq!(url("[a]\nioengine=rbd\npool=vms\nclientname=me\nsize=1g\n"), "rbd:vms?id=me");
    for (bad, keys) in [
        ("[a]\nioengine=net\nsize=1g\nport=1\n", &["ioengine", "port"][..]),
        ("[a]\nioengine=mmap\nsize=1g\n", &["ioengine"]),
        ("[a]\nioengine=what\nsize=1g\n", &["ioengine"]),
        ("[a]\nioengine=nfs\nsize=1g\n", &["nfs_url"]),
        ("[a]\nioengine=rbd\nsize=1g\n", &["pool"]),
        ("[a]\npool=x\nsize=1g\n", &["pool"]),
        ("[a]\nfilename=/dev/sda:/dev/sdb\nsize=1g\nrw=randread\n", &["filename"]),
        ("[a]\ndirectory=/a:/b\nsize=1g\n", &["directory"]),
        ("[a]\nnrfiles=4\nsize=1g\n", &["nrfiles"]),
        ("[a]\ndirect=1\n", &["size"]),
        ("[a]\nsize=256k\n", &["size"]),
        ("[a]\nsize=1m\nbs=4m\n", &["size"]),
        ("[a]\nsize=1m\nrw=randrw\nverify=md5\nioengine=libaio\niodepth=500\n", &["verify"]),
        ("[a]\ndirect=1\nbuffered=1\nsize=1g\n", &["buffered"]),
        ("[a]\nioengine=libiscsi\nfilename=iscsi\\://me%secret@h/t/0\nsize=1g\n", &["filename"]),
    ] {
        let found: Vec<String> = refusals(bad).into_iter().map(|refusal| refusal.key).collect();
        assert_eq!(found, keys, "{bad}");
    }
    assert_eq!(plan("[a]\nsize=1000001001\n").workloads[0].disk_bytes, Some(1_000_001_001));
    let files = plan("[a]\nrw=randread\nnrfiles=4\nfilesize=1g\n");
    assert_eq!(files.workloads[0].disk_bytes, Some(4 << 30));
    let around = Surroundings {
        size: &|path| (path == "/dev/sdx").then_some(10 << 30),
        ..Surroundings::NONE
    };
    for (size, bytes) in [("", (10 << 30) - (64 << 20)), ("size=50%\n", 5u64 << 30)] {
        let job = study_of_fio_job(&format!("[a]\nfilename=/dev/sdx\n{size}"), &around).unwrap();
        assert_eq!(parse_study(&job.study).unwrap().workloads[0].disk_bytes, Some(bytes), "{size}");
    }
}

#[test]
fn globals_includes_comments_and_variables_are_read_as_fio_reads_them() {
    let text = "
; a comment
[global]
bs=8k # another
size=${SIZE}
direct
[first]
rw=randread
[global]
bs=16k
include more.fio
numjobs=$ncpus
[second]
stonewall
";
    let around = Surroundings {
        include: &|name| (name == "more.fio").then(|| "rw=randwrite\nflow=1\n".into()),
        variable: &|name| match name {
            "SIZE" => Some("2g".into()),
            "ncpus" => Some("1".into()),
            _ => None,
        },
        ..Surroundings::NONE
    };
    let Err(FioJobError::Refused(refusals)) = study_of_fio_job(text, &around) else { panic!() };
    let found: Vec<String> = refusals.iter().map(|refusal| refusal.place.to_string()).collect();
    assert_eq!(found, ["more.fio, line 2"]);
    let without = Surroundings { include: &|_| Some("rw=randwrite\n".into()), ..around };
    let plan = parse_study(&study_of_fio_job(text, &without).unwrap().study).unwrap();
    assert_eq!((io(&plan, 0).sizes[0].bytes, io(&plan, 0).read_percent), (8192, 100.0));
    assert_eq!((io(&plan, 1).sizes[0].bytes, io(&plan, 1).read_percent), (16384, 0.0));
    assert_eq!(plan.workloads[0].disk_bytes, Some(2 << 30));

    let circular = Surroundings { include: &|_| Some("include a\n".into()), ..Surroundings::NONE };
    for (text, words) in [
        ("[a]\ninclude a\n", "levels deep"),
        ("bs=4k\n", "no section"),
        ("[a\n", "no ]"),
        ("[a]\n{\"fio version\"}\n", "neither"),
    ] {
        let message = study_of_fio_job(text, &circular).unwrap_err().to_string();
        assert!(message.contains(words), "{text:?}: {message}");
    }
    let many = "[a]\nsize=1g\n".repeat(5000);
    let message = study_of_fio_job(&many, &Surroundings::NONE).unwrap_err().to_string();
    assert!(message.contains("4096 sections"), "{message}");
    let huge = "filesize=9999999p\n[b]\nnrfiles=4000000\nfilesize=999999t\noffset=9999t\noffset_increment=9999t\nnumjobs=9999\n";
    assert!(!refused(huge).is_empty());
    assert_eq!(study_of_fio_job("[global]\nbs=4k\n", &Surroundings::NONE), Err(FioJobError::NoJob));
    assert_eq!(refused("bs=${NONE}"), ["bs"]);
}

#[test]
fn everything_refused_is_named_at_once_with_its_line() {
    let text = "[a]\nsize=1g\nzonemode=zbd\ncgroup=x\nbuffer_pattern=0x1\nblock_size=4k\nlatency_target=5\ntime_based=1\n";
    let message = study_of_fio_job(text, &Surroundings::NONE).unwrap_err().to_string();
    let starts: Vec<&str> =
        message.lines().map(|line| line.split(": ").take(2).last().unwrap()).collect();
    assert_eq!(starts, ["zonemode", "cgroup", "buffer_pattern", "block_size", "latency_target"]);
    assert!(message.starts_with("line 3: "), "{message}");
    assert!(message.contains("did you mean blocksize?"), "{message}");
}

#[test]
fn no_key_is_dropped_silently() {
    // Whatever its value: a key is in the study's remarks, is refused, or changes the study.
    let base = translated(HEAD).1;
    let values =
        ["1", "0", "7", "2g", "/x", "write", "50", "libaio", "poisson", "512-1024", "512/100", "a"];
    let is_seen = |key: &&str| {
        values.iter().any(|value| {
            match study_of_fio_job(&format!("{HEAD}{key}={value}\n"), &Surroundings::NONE) {
                Ok(job) => job.study != base.study,
                Err(FioJobError::Refused(refusals)) => {
                    refusals.iter().any(|refusal| refusal.key == *key)
                }
                Err(_) => false,
            }
        })
    };
    let dropped: Vec<&str> = known_fio_keys().filter(|key| !is_seen(key)).collect();
    assert!(dropped.is_empty(), "{dropped:?}");
}

#[test]
fn profiles_become_jobs_and_the_same_workloads_again() {
    let setting = FioSetting {
        directory: "/srv/vm".into(),
        vms: 4,
        ramp_ns: 2_000_000_000,
        duration_ns: 10_000_000_000,
    };
    let mut written = 0;
    for profile in study_profiles() {
        let WorkloadKind::Io(workload) = &profile.workload.kind else { continue };
        let bytes = profile.workload.disk_bytes.unwrap_or(1 << 30);
        let text = match fio_job_of(&[(workload, bytes)], &setting) {
            Ok(text) => text,
            Err(refused) => {
                assert!(
                    !refused.0.is_empty() && refused.to_string().starts_with(&workload.name),
                    "{refused}"
                );
                continue;
            }
        };
        written += 1;
        let plan = plan(&text);
        let again = io(&plan, 0);
        let shares = |workload: &Workload| -> Vec<(u32, f64)> {
            let total: f64 = workload.sizes.iter().map(|size| size.share).sum();
            workload.sizes.iter().map(|size| (size.bytes, size.share / total)).collect()
        };
        assert_eq!(shares(again), shares(workload), "{text}");
        let same = Workload { sizes: workload.sizes.clone(), ..again.clone() };
        assert_eq!(same, *workload, "{text}");
        assert_eq!(plan.workloads[0].disk_bytes, Some(bytes));
        assert_eq!((plan.vms.as_slice(), plan.timing.duration_ns), (&[4][..], setting.duration_ns));
        // And the job from that is the same job.
        assert_eq!(fio_job_of(&[(again, bytes)], &setting), Ok(text));
    }
    assert!(written >= 10, "{written} profiles");
}

#[test]
fn what_fio_cannot_do_is_named() {
    let base = workload("rw=randrw\niodepth=4");
    let setting =
        FioSetting { directory: ".".into(), vms: 1, ramp_ns: 0, duration_ns: 1_000_000_000 };
    type Change = fn(&mut Workload);
    let cases: [(Change, &str); 6] = [
        (|w| w.flush = Some(FlushEvery::Interval { ns: 5_000_000 }), "flush"),
        (|w| w.read_percent = 33.3, "read"),
        (|w| w.distribution = Distribution::Zipf { exponent: 1.0 }, "zipf"),
        (|w| w.arrivals = Arrivals::Poisson { rate_per_s: 0.5 }, "rate"),
        (|w| w.burst = Some(Burst { length: 1, delay_ns: 10 }), "burst"),
        (
            |w| {
                w.sizes = [(512, 1.0), (1024, 2.0)]
                    .map(|(bytes, share)| stormeter_trial::SizeShare { bytes, share })
                    .to_vec()
            },
            "request-size",
        ),
    ];
    for (change, key) in cases {
        let mut workload = base.clone();
        change(&mut workload);
        let refused = fio_job_of(&[(&workload, 1 << 30)], &setting).unwrap_err();
        assert_eq!(refused.0.iter().map(|one| one.key).collect::<Vec<_>>(), [key]);
    }
}
