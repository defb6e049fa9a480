//! No job file of fio makes the translator panic, and every study that it writes is one: job files are changed at random.
//! `STORMETER_FUZZ_RUNS` sets how many times.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damage;

use stormeter_import::{Surroundings, study_of_fio_job};

const JOBS: [&str; 4] = [
    "[global]\nioengine=libaio\ndirect=1\nbs=4k\niodepth=16\nsize=1g\nruntime=60\ntime_based\n\n\
     [reads]\nrw=randread\nnumjobs=4\nfilename=/srv/a\n\n[writes]\nstonewall\nrw=randwrite\nrate_iops=500,500\n",
    "[a]\nsize=${SIZE}\ndirectory=/srv/vm:/srv/nas\nrw=randrw\nrwmixread=70\nbssplit=4k/50:64k/50\nfsync=32\n",
    "; comment\n[b]\nfilename=/dev/sdb\nrw=rw:4\nbs=8k,16k\nrandom_distribution=zipf:1.2\nthinktime=10ms\nramp_time=5s\n",
    "[c]\nsize=10%\nrw=write\nblocksize_range=4k-64k\nrate=10m\nrate_process=poisson\nflow=2\nzonemode=zbd\n",
];

#[test]
fn no_job_makes_it_panic() {
    let runs: u64 =
        std::env::var("STORMETER_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(500);
    let mut translated = 0;
    for job in JOBS {
        for seed in 1..=runs {
            let damaged = damage::damaged(job, seed);
            match study_of_fio_job(&damaged, &Surroundings::NONE) {
                Ok(job) => {
                    translated += 1;
                    assert!(!job.study.is_empty(), "run {seed} of {job:?}");
                }
                Err(error) => assert!(!error.to_string().is_empty(), "run {seed}"),
            }
        }
    }
    assert!(runs < 100 || translated > 0);
}
