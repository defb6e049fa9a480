-- The results file of a study. Times are nanoseconds (_ns) or milliseconds since 1970-01-01
-- UTC (_unix_ms), sizes are bytes. Seeds are text: they use all 64 bits. Tables that came with a later form
-- are in incident.sql (2), study.sql (3) and component.sql (4).

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL             -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE datastore (
    id INTEGER PRIMARY KEY,         -- its place in the plan, from 0
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    baseline INTEGER NOT NULL       -- 1: the others are relative to it
) STRICT;

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    block INTEGER NOT NULL,         -- from 0
    position INTEGER NOT NULL,      -- turn in the block, from 0
    datastore INTEGER,              -- NULL: the generator's ceiling (null:)
    phase TEXT NOT NULL,            -- main, capacity, ceiling
    started_unix_ms INTEGER NOT NULL,
    elapsed_ns INTEGER NOT NULL,
    seed TEXT NOT NULL,
    outcome TEXT NOT NULL,          -- measured, failed
    reason TEXT,                    -- why it failed, in words
    -- Headline figures, reads and writes together, computed from the tables below.
    operations INTEGER,
    bytes INTEGER,
    iops REAL,
    bytes_per_s REAL,
    latency_mean_ns REAL,
    latency_p50_ns REAL,
    latency_p95_ns REAL,
    latency_p99_ns REAL,
    latency_p999_ns REAL,
    latency_max_ns INTEGER,
    cpu_per_io_ns REAL,             -- this process
    host_cpu_per_io_ns REAL,        -- the whole machine, busy time
    target_cpu_per_io_ns REAL,      -- the datastore's server on this machine; NULL: none, unknown
    cell INTEGER REFERENCES cell (id), -- of a ceiling: one with the load that it was measured with
    host_cpu REAL,                  -- busy share of the whole machine, 0 to 1
    work_ns INTEGER,                -- what fixed work took; NULL: the trial was timed
    failure TEXT                    -- why it failed, as JSON: its cause, and the facts
) STRICT;

CREATE TABLE sample (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    window_ns INTEGER NOT NULL,
    interval_ns INTEGER NOT NULL,
    outstanding_mean REAL,          -- NULL: not a number
    outstanding_configured INTEGER,
    carried_ns INTEGER NOT NULL,
    offered_rate_per_s REAL,
    ramp_operations INTEGER NOT NULL,
    due_operations INTEGER NOT NULL,
    backlog_operations INTEGER NOT NULL,
    ended TEXT NOT NULL             -- JSON
) STRICT;

CREATE TABLE total (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    kind TEXT NOT NULL,             -- read, write; where there are any, durable write, flush
    operations INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    latency_sum_ns INTEGER NOT NULL,
    latency_min_ns INTEGER NOT NULL,
    latency_max_ns INTEGER NOT NULL,
    short_operations INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (trial_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE histogram (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    kind TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    low_ns INTEGER NOT NULL,        -- lowest value of the bucket
    high_ns INTEGER NOT NULL,       -- lowest value of the next one
    count INTEGER NOT NULL,
    PRIMARY KEY (trial_id, kind, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    kind TEXT NOT NULL,
    start_ns INTEGER NOT NULL,      -- since the measured window opened
    length_ns INTEGER NOT NULL,
    operations INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    latency_sum_ns INTEGER NOT NULL,
    latency_max_ns INTEGER NOT NULL,
    PRIMARY KEY (trial_id, number, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE disk (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- place in the list, from 0
    disk INTEGER NOT NULL,          -- the virtual disk (VM)
    operations INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    latency_sum_ns INTEGER NOT NULL,
    latency_max_ns INTEGER NOT NULL,
    latency_p50_ns REAL,
    latency_p99_ns REAL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE fault (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,
    disk INTEGER NOT NULL,
    kind TEXT NOT NULL,
    offset_bytes INTEGER NOT NULL,
    length_bytes INTEGER NOT NULL,
    errno INTEGER,                  -- the device's error, or
    moved_bytes INTEGER,            -- fewer bytes than asked
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE cpu (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    threads_user_ns INTEGER NOT NULL,
    threads_system_ns INTEGER NOT NULL,
    process_ns INTEGER NOT NULL,
    voluntary_switches INTEGER NOT NULL,
    involuntary_switches INTEGER NOT NULL,
    host_user_ns INTEGER NOT NULL,
    host_system_ns INTEGER NOT NULL,
    host_irq_ns INTEGER NOT NULL,
    host_softirq_ns INTEGER NOT NULL,
    host_iowait_ns INTEGER NOT NULL,
    host_steal_ns INTEGER NOT NULL,
    host_idle_ns INTEGER NOT NULL,
    host_cpus INTEGER NOT NULL,
    target_ns INTEGER               -- NULL: there is none on this machine, or it is not known
) STRICT;

CREATE TABLE note (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    at_unix_ms INTEGER NOT NULL,
    what TEXT NOT NULL,             -- JSON: the kind, and the facts
    kind TEXT NOT NULL DEFAULT 'note' -- resumed, resumed-after-verdict, redone, idle, prepared, ...
) STRICT;
