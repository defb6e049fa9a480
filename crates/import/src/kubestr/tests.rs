//! Samples of kubestr's JSON, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;

const TEXT: &str = include_str!("../../tests/files/kubestr/fio.json");

#[test]
fn a_job_is_a_run() {
    assert!(is(TEXT));
    let imported = read(TEXT).unwrap();
    assert_eq!(imported.version.as_deref(), Some("fio-3.36"));
    assert_eq!(imported.runs.len(), 2);
    let run = &imported.runs.get(0).unwrap();
    assert_eq!((run.name.as_str(), run.target.as_deref()), ("read_iops", Some("fast-disks")));
    assert_eq!((run.load.request_bytes, run.load.outstanding), (Some(4096), Some(64)));
    assert_eq!((run.load.ramp_s, run.load.duration_s), (Some(2.0), Some(15.0)));
    assert_eq!((run.load.direct, run.load.working_set_bytes), (Some(true), Some(2 << 30)));
    let [read] = &run.directions[..] else { panic!("{:?}", run.directions) };
    assert_eq!(read.bytes.unwrap().value, 123_456.0 * 4096.0);
    let iops = read.iops.unwrap();
    assert_eq!(iops.value, 8230.125);
    assert!(iops.half < 0.01 && iops.half > 1e-4, "{}", iops.half);
    assert_eq!(read.runtime_s.unwrap().bounds(), (14.9995, 15.0005));
    assert_eq!(read.latency.mean, None);
    let write = &imported.runs.get(1).unwrap().directions[0];
    assert_eq!((write.way, write.latency.max.unwrap().value), (Way::Write, 90_123_456.0));
}

#[test]
fn failed_and_cut_files_are_refused() {
    assert!(matches!(read(&TEXT[..TEXT.len() - 3]), Err(ImportError::Truncated { .. })));
    let failed =
        TEXT.replace("\"jobname\": \"write_iops\",", "\"jobname\": \"write_iops\", \"error\": 5,");
    assert_eq!(
        read(&failed).unwrap_err().to_string(),
        "kubestr JSON, Raw.result.jobs[1].error: the job failed: 5"
    );
    let wrong = TEXT.replace("\"total_ios\": 123456", "\"total_ios\": -1");
    assert!(read(&wrong).unwrap_err().to_string().ends_with("a number below 0"));
}
