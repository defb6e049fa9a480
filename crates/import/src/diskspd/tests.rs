//! Samples of DiskSpd's XML, whole and damaged: what is read of them to the digit, and where damage is reported.

use super::*;
use crate::run::{Pattern, Way};

const TEXT: &str = include_str!("../../tests/files/diskspd/two-targets.xml");

#[test]
fn threads_and_targets_are_summed() {
    assert!(is(TEXT));
    let imported = read(TEXT).unwrap();
    assert_eq!(imported.version.as_deref(), Some("2.2.0"));
    let run = &imported.runs.get(0).unwrap();
    assert_eq!(run.target.as_deref(), Some("D:\\R&D.dat, E:\\two.dat"));
    assert_eq!(run.window_s.unwrap().bounds(), (2.995, 3.005));
    assert_eq!(run.cpu_busy.unwrap().value, 0.1234);
    let load = &run.load;
    assert_eq!((load.request_bytes, load.read_share), (Some(8192), Some(0.75)));
    assert_eq!(load.pattern, Some(Pattern::Mixed(0.6)));
    // Eight per thread and target; each target has two threads of its own.
    assert_eq!((load.outstanding, load.workers), (Some(32), Some(4)));
    // 2000 I/Os of each thread of the one, 16384 bytes per millisecond of each thread of the other.
    assert_eq!(load.rate_per_s, Some(4000.0 + 4000.0));
    assert_eq!((load.ramp_s, load.duration_s), (Some(5.0), Some(3.0)));
    assert_eq!((load.direct, load.durability.as_deref()), (Some(true), Some("write-through")));
    assert_eq!(load.working_set_bytes, Some(2 << 30));
    let [read, write, both] = &run.directions[..] else { panic!("{:?}", run.directions) };
    assert_eq!(read.operations.unwrap().value, 18_006.0);
    assert_eq!((write.way, write.bytes.unwrap().value), (Way::Write, 6006.0 * 8192.0));
    assert_eq!(both.operations.unwrap().value, 24_012.0);
    assert_eq!(read.latency.mean.unwrap().bounds(), (511_500.0, 512_500.0));
    assert_eq!(write.latency.min.unwrap().value, 0.2e6);
    assert_eq!(write.latency.max.unwrap().value, 8.25e6);
    assert_eq!(read.latency.percentiles.len(), 8);
    assert_eq!(read.latency.percentiles.get(5).unwrap().share, 0.999);
    assert_eq!(run.intervals.len(), 6);
    let last = &run.intervals.get(5).unwrap();
    assert_eq!((last.start_s, last.length_s, last.way), (2.0, 1.0, Some(Way::Write)));
    assert_eq!(last.iops.unwrap().value, 2002.0);
    assert_eq!(last.latency_max.unwrap().value, 8.25e6);
}

#[test]
fn cut_and_interrupted_files_are_refused() {
    for length in [TEXT.len() - 1, TEXT.len() / 2, TEXT.len() / 3] {
        let error = read(&TEXT[..length]).unwrap_err();
        assert!(matches!(error, ImportError::Truncated { .. }), "{error}");
    }
    let begin = TEXT.find("    <TestTimeSeconds>").unwrap();
    let end = TEXT.rfind("  </TimeSpan>").unwrap();
    let interrupted = format!("{}<Error>stopped</Error>{}", &TEXT[..begin], &TEXT[end..]);
    let message = read(&interrupted).unwrap_err().to_string();
    assert_eq!(message, "DiskSpd XML, Results/TimeSpan[0]: stopped");
    let wrong = TEXT.replace("<ReadCount>4502<", "<ReadCount>x<");
    let message = read(&wrong).unwrap_err().to_string();
    assert!(message.ends_with(": \"x\" is not a whole number"), "{message}");
}
