//! Profiles of timed load: access specifications from published studies and from common practice.
//!
//! What a source leaves open is chosen here, and its source line says so.

use stormeter_trial::{Arrivals, Content, Distribution, FlushEvery, SizeShare, Workload};

use super::Profile;

/// One profile; for several sizes, the shares in per cent.
struct Row {
    name: &'static str,
    sizes: &'static [(u32, f64)],
    read_percent: f64,
    random_percent: f64,
    outstanding: u32,
    disk_bytes: Option<u64>,
    flush: Option<FlushEvery>,
    summary: &'static str,
    source: &'static str,
}

const KIB: u32 = 1 << 10;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

const TR3808: &str = "NetApp TR-3808 (2010): 75 % read, 100 % random, 4 outstanding I/Os a VM";
const VIRTUAL_PHYSICAL: &str =
    "the virtual/physical disk study (2011): sequential writes, one at a time";
const COMMON: &str = "common practice; a corner of the read/write, random/sequential square";
const BST: &str = "vSAN study (Tsung et al., HCIS 11:9, 2021), test BST: 70 % read, 1 GB file, 16 \
                   outstanding; request size and random share are ours";
const ST: &str = "vSAN study (2021), test ST: mixed sizes in unstated shares, 1 TB file, 16 \
                  outstanding; the mix is ours, with the mean of 8 KiB that its table 6 implies \
                  (MB/s by IOPS), as are 70 % read and 100 % random";
const RT: &str = "vSAN study (2021), test RT: read only, 10 GB file, 16 outstanding; request size \
                  and random share are ours";
const WT: &str = "vSAN study (2021), test WT: write only, 5 GB file, 16 outstanding; request size \
                  and random share are ours";
const HT: &str = "vSAN study (2021), test HT: 64 KB, 70 % read, 30 GB file, 16 outstanding; random \
                  share is ours";
const SHT: &str = "vSAN study (2021), test SHT: 4 KB, 70 % read, 30 GB file, 16 outstanding; \
                   random share is ours";
const AFT: &str = "vSAN study (2021), test AFT: 1 TB file, 16 outstanding; all else is ours";
const SRT: &str = "vSAN study (2021), test SRT: streaming read of 1 TB, 16 outstanding; request \
                   size is ours (the study's largest)";
const SWT: &str = "vSAN study (2021), test SWT: streaming write of 1 TB, 16 outstanding; request \
                   size is ours (the study's largest)";
const DELL: &str = "Dell BP1024, Scaling and Best Practices for Virtual Workload Environments with \
                    the FS7500, table 3; outstanding is ours";
const IOMETER: &str = "Intel's access patterns for Iometer, as Tom's Storage Charts (2009) list \
                       them; outstanding is ours (of Intel's loads 4 is very light, 8 light, 64 \
                       moderate)";
const WAL: &str =
    "common practice: a write-ahead log appends a record and waits until it is on stable storage";
const ETCD: &str = "the check of a disk that etcd's documentation (Hardware recommendations) refers to: appends of \
                    2300 bytes, fdatasync after each; here 2048 and 2560 bytes in equal shares, because requests \
                    are multiples of 512; etcd asks for a p99 of fdatasync below 10 ms";
const POSTGRESQL: &str = "PostgreSQL documentation, 28.5 WAL Internals (pages of 8 kB) and 19.5 \
                          (wal_sync_method: fdatasync on Linux); one backend writes and flushes for all that wait, \
                          so larger writes are commits of several; their shares are ours";
const INNODB: &str = "MySQL Reference Manual, InnoDB redo log: blocks of 512 bytes, flushed at each commit \
                      (innodb_flush_log_at_trx_commit=1) that others share; sizes, their shares and 4 outstanding \
                      are ours";
const JOURNAL: &str = "ext4's default of a journal commit every 5 s (mount option commit, ext4(5)) next to random \
                       writes; their size and number are ours";

const fn row(
    name: &'static str,
    sizes: &'static [(u32, f64)],
    mix: (f64, f64),
    outstanding: u32,
    summary: &'static str,
    source: &'static str,
) -> Row {
    let (read_percent, random_percent) = mix;
    Row {
        name,
        sizes,
        read_percent,
        random_percent,
        outstanding,
        disk_bytes: None,
        flush: None,
        summary,
        source,
    }
}

impl Row {
    const fn on(self, disk_bytes: u64) -> Row {
        Row { disk_bytes: Some(disk_bytes), ..self }
    }

    const fn flushed(self, every: FlushEvery) -> Row {
        Row { flush: Some(every), ..self }
    }
}

const S4K: &[(u32, f64)] = &[(4 * KIB, 1.0)];
const S8K: &[(u32, f64)] = &[(8 * KIB, 1.0)];
const S32K: &[(u32, f64)] = &[(32 * KIB, 1.0)];
const S64K: &[(u32, f64)] = &[(64 * KIB, 1.0)];
const S256K: &[(u32, f64)] = &[(256 * KIB, 1.0)];
const S1M: &[(u32, f64)] = &[(1024 * KIB, 1.0)];
const STRESS: &[(u32, f64)] =
    &[(4 * KIB, 60.0), (8 * KIB, 20.0), (16 * KIB, 15.0), (32 * KIB, 5.0)];
const STREAM: &[(u32, f64)] = &[(64 * KIB, 34.0), (128 * KIB, 33.0), (256 * KIB, 33.0)];
const FILE_SERVER: &[(u32, f64)] = &[
    (512, 10.0),
    (KIB, 5.0),
    (2 * KIB, 5.0),
    (4 * KIB, 60.0),
    (8 * KIB, 2.0),
    (16 * KIB, 4.0),
    (32 * KIB, 4.0),
    (64 * KIB, 10.0),
];
const WEB_SERVER: &[(u32, f64)] = &[
    (512, 22.0),
    (KIB, 15.0),
    (2 * KIB, 8.0),
    (4 * KIB, 23.0),
    (8 * KIB, 15.0),
    (16 * KIB, 2.0),
    (32 * KIB, 6.0),
    (64 * KIB, 7.0),
    (128 * KIB, 1.0),
    (512 * KIB, 1.0),
];

const ETCD_APPENDS: &[(u32, f64)] = &[(2 * KIB, 50.0), (2560, 50.0)];
const WAL_PAGES: &[(u32, f64)] = &[(8 * KIB, 70.0), (16 * KIB, 20.0), (32 * KIB, 10.0)];
const REDO_LOG: &[(u32, f64)] =
    &[(512, 30.0), (KIB, 20.0), (2 * KIB, 20.0), (4 * KIB, 15.0), (8 * KIB, 10.0), (16 * KIB, 5.0)];
const EACH_WRITE: FlushEvery = FlushEvery::Writes { writes: 1 };

/// Name, sizes, (read %, random %), outstanding, summary, source.
const TABLE: &[Row] = &[
    row("vm-4k", S4K, (75.0, 100.0), 4, "the mixed load of a general-purpose VM, 4 KiB", TR3808),
    row("vm-8k", S8K, (75.0, 100.0), 4, "the mixed load of a database-like VM, 8 KiB", TR3808),
    row("rand-read-4k", S4K, (100.0, 100.0), 16, "random 4 KiB reads, deep queue", COMMON),
    row("rand-write-4k", S4K, (0.0, 100.0), 16, "random 4 KiB writes, deep queue", COMMON),
    row("seq-read-1m", S1M, (100.0, 0.0), 4, "sequential reads, 1 MiB", COMMON),
    row("seq-write-1m", S1M, (0.0, 0.0), 4, "sequential writes, 1 MiB", COMMON),
    row("seq-write-4k", S4K, (0.0, 0.0), 1, "sequential 4 KiB writes", VIRTUAL_PHYSICAL),
    row("seq-write-32k", S32K, (0.0, 0.0), 1, "sequential 32 KiB writes", VIRTUAL_PHYSICAL),
    row("bst", S4K, (70.0, 100.0), 16, "basic sanity test of a cluster", BST).on(GIB),
    row("st", STRESS, (70.0, 100.0), 16, "stress test, mixed sizes on a large disk", ST).on(TIB),
    row("rt", S4K, (100.0, 100.0), 16, "read test, teaching front end", RT).on(10 * GIB),
    row("wt", S4K, (0.0, 100.0), 16, "write test, write cache", WT).on(5 * GIB),
    row("ht", S64K, (70.0, 100.0), 16, "hybrid test, 64 KiB", HT).on(30 * GIB),
    row("sht", S4K, (70.0, 100.0), 16, "hybrid test, small blocks", SHT).on(30 * GIB),
    row("aft", S4K, (70.0, 100.0), 16, "all-flash test on a large disk", AFT).on(TIB),
    row("srt", S256K, (100.0, 0.0), 16, "streaming reads, media server", SRT).on(TIB),
    row("swt", S256K, (0.0, 0.0), 16, "streaming writes, backup server", SWT).on(TIB),
    row("oltp", S8K, (70.0, 100.0), 8, "data of a transaction-processing database", DELL),
    row("oltp-log", S8K, (0.0, 0.0), 1, "log of a transaction-processing database", DELL),
    row("mail", S32K, (50.0, 100.0), 8, "database of a mail server", DELL),
    row("database", S8K, (67.0, 100.0), 8, "Iometer's database pattern", IOMETER),
    row("file-server", FILE_SERVER, (80.0, 100.0), 8, "Iometer's file server, from 512 B", IOMETER),
    row("web-server", WEB_SERVER, (100.0, 100.0), 8, "Iometer's web server, from 512 B", IOMETER),
    row("workstation", S8K, (80.0, 80.0), 8, "Iometer's workstation pattern", IOMETER),
    row("streaming-read", STREAM, (100.0, 0.0), 4, "Iometer's streaming reads", IOMETER),
    row("streaming-write", STREAM, (0.0, 0.0), 4, "Iometer's streaming writes", IOMETER),
    row("wal", S4K, (0.0, 0.0), 1, "a log: append 4 KiB, flush, strictly in turn", WAL)
        .flushed(EACH_WRITE),
    row("etcd", ETCD_APPENDS, (0.0, 0.0), 1, "etcd's log: append 2.3 KiB, flush, in turn", ETCD)
        .flushed(EACH_WRITE),
    row(
        "postgresql-wal",
        WAL_PAGES,
        (0.0, 0.0),
        1,
        "PostgreSQL's log: whole pages, group commit",
        POSTGRESQL,
    )
    .flushed(EACH_WRITE),
    row(
        "innodb-log",
        REDO_LOG,
        (0.0, 0.0),
        4,
        "InnoDB's redo log from 512 B, group commit",
        INNODB,
    )
    .flushed(FlushEvery::Writes { writes: 4 }),
    row("journal", S4K, (0.0, 100.0), 16, "random writes, a journal commit every 5 s", JOURNAL)
        .flushed(FlushEvery::Interval { ns: 5_000_000_000 }),
];

/// All profiles, each with the size of its disk if it has its own.
pub(super) fn all() -> Vec<(Profile, Option<u64>)> {
    TABLE.iter().map(|row| (from_row(row), row.disk_bytes)).collect()
}

fn from_row(row: &Row) -> Profile {
    let workload = Workload {
        name: row.name.into(),
        sizes: row.sizes.iter().map(|&(bytes, share)| SizeShare { bytes, share }).collect(),
        read_percent: row.read_percent,
        random_percent: row.random_percent,
        distribution: Distribution::Uniform,
        alignment_bytes: None,
        arrivals: Arrivals::Closed { outstanding: row.outstanding },
        burst: None,
        content: Content::default(),
        durable: false,
        flush: row.flush,
    };
    Profile { workload, summary: row.summary, source: row.source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_several_sizes_are_per_cent() {
        for row in TABLE.iter().filter(|row| row.sizes.len() > 1) {
            assert_eq!(
                row.sizes.iter().map(|(_, share)| share).sum::<f64>(),
                100.0,
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn logs_append_and_flush_and_the_journal_commits_beside_its_writes() {
        let logs = ["wal", "etcd", "postgresql-wal", "innodb-log", "journal"];
        for (Profile { workload: io, .. }, _) in all() {
            assert_eq!(io.flush.is_some(), logs.contains(&io.name.as_str()), "{}", io.name);
            let of_writes = matches!(io.flush, Some(FlushEvery::Writes { .. }));
            assert!(
                !of_writes || (io.read_percent, io.random_percent) == (0.0, 0.0),
                "{}",
                io.name
            );
        }
        // The documented check appends 2300 bytes; no multiple of 512 is closer on average.
        let (etcd, _) = all().into_iter().find(|(p, _)| p.workload.name == "etcd").unwrap();
        assert!((etcd.workload.mean_bytes() / 2300.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn the_stress_test_has_the_mean_size_of_the_published_table() {
        // Table 6: 34.0 MB/s at 4330 IOPS; it does not say whether its MB are decimal.
        let (stress, _) = all().into_iter().find(|(p, _)| p.workload.name == "st").unwrap();
        let mean = stress.workload.mean_bytes();
        assert!((34.0e6 / 4330.0..34.05 * 1_048_576.0 / 4330.0).contains(&mean), "{mean}");
    }
}
