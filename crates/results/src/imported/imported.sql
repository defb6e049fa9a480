-- Results of other tools, as their files state them. A figure has two columns: its value, and the most that printing
-- may have changed it (_half, 0 for counts). Empty: the file does not say. Times are nanoseconds (_ns) or seconds
-- (_s), sizes are bytes.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL             -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE source (
    id INTEGER PRIMARY KEY,         -- in the order of import, from 0
    file TEXT NOT NULL,             -- its path as it was named
    tool TEXT NOT NULL,             -- fio, iozone, ...
    version TEXT,
    left_out TEXT NOT NULL          -- JSON: what was there and is not carried over, one sentence each
) STRICT;

-- One load on one target.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,         -- from 0, over all sources
    source_id INTEGER NOT NULL REFERENCES source (id),
    name TEXT NOT NULL,
    place TEXT NOT NULL,            -- where the file has it
    target TEXT,                    -- what was measured: a path, a device, a URL, a host
    began_s REAL,                   -- since 1970-01-01 UTC
    errors INTEGER,                 -- I/Os that failed
    request_bytes INTEGER,
    read_share REAL,                -- 0 to 1
    pattern TEXT,                   -- sequential, random, mixed
    random_share REAL,              -- of mixed, 0 to 1
    outstanding INTEGER,            -- configured, of all workers
    workers INTEGER,
    rate_per_s REAL,                -- offered, of all workers
    working_set_bytes INTEGER,
    direct INTEGER,                 -- 1: past the page cache
    durability TEXT,                -- in the tool's words; empty: no flushes
    engine TEXT,
    ramp_s REAL,
    duration_s REAL,                -- planned
    window_s REAL, window_s_half REAL,
    outstanding_mean REAL, outstanding_mean_half REAL,
    cpu_busy REAL, cpu_busy_half REAL
) STRICT;

-- The totals of a kind of I/O.
CREATE TABLE direction (
    run_id INTEGER NOT NULL REFERENCES run (id),
    number INTEGER NOT NULL,        -- in the order of the file, from 0
    way TEXT NOT NULL,              -- read, write, both, flush, trim
    operations REAL, operations_half REAL,
    bytes REAL, bytes_half REAL,
    iops REAL, iops_half REAL,
    bytes_per_s REAL, bytes_per_s_half REAL,
    runtime_s REAL, runtime_s_half REAL,
    latency_mean_ns REAL, latency_mean_ns_half REAL,
    latency_sd_ns REAL, latency_sd_ns_half REAL,
    latency_min_ns REAL, latency_min_ns_half REAL,
    latency_max_ns REAL, latency_max_ns_half REAL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE percentile (
    run_id INTEGER NOT NULL,
    direction INTEGER NOT NULL,     -- direction.number
    number INTEGER NOT NULL,
    share REAL NOT NULL,            -- 0.99: the 99th
    latency_ns REAL NOT NULL, latency_ns_half REAL NOT NULL,
    PRIMARY KEY (run_id, direction, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE bucket (
    run_id INTEGER NOT NULL,
    direction INTEGER NOT NULL,     -- direction.number
    number INTEGER NOT NULL,
    low_ns REAL NOT NULL,
    high_ns REAL NOT NULL,          -- of the last, infinite
    count INTEGER NOT NULL,
    PRIMARY KEY (run_id, direction, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval (
    run_id INTEGER NOT NULL REFERENCES run (id),
    number INTEGER NOT NULL,
    start_s REAL NOT NULL,          -- since the run's start
    length_s REAL NOT NULL,
    way TEXT,                       -- empty: not known
    iops REAL, iops_half REAL,
    bytes_per_s REAL, bytes_per_s_half REAL,
    latency_mean_ns REAL, latency_mean_ns_half REAL,
    latency_p99_ns REAL, latency_p99_ns_half REAL,
    latency_max_ns REAL, latency_max_ns_half REAL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
