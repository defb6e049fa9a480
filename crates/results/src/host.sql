-- What each host did where several carried out a trial. Apart from the rest, because files of one machine have
-- no such tables until a trial is added that needs them.

CREATE TABLE IF NOT EXISTS host_share (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- the host's place in the study, from 0
    name TEXT NOT NULL,
    vms INTEGER NOT NULL,
    operations INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    latency_sum_ns INTEGER NOT NULL,
    window_ns INTEGER NOT NULL,
    clock_offset_ns INTEGER NOT NULL, -- its time of day less the leading machine's
    clock_error_ns INTEGER NOT NULL, -- known to plus or minus this
    late_ns INTEGER NOT NULL,       -- after the common start, when it heard of it; 0: in time
    cpu TEXT NOT NULL,              -- JSON: the columns of the table cpu
    process_ns INTEGER NOT NULL,    -- CPU time of the agent
    host_cpu REAL,                  -- busy share of the host, 0 to 1
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- The life of each host during a trial, as the table monitor has it.
CREATE TABLE IF NOT EXISTS host_monitor (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    host INTEGER NOT NULL,
    number INTEGER NOT NULL,        -- from 0
    at_ns INTEGER NOT NULL,
    cpu_busy REAL,
    memory_used_bytes INTEGER NOT NULL,
    row TEXT NOT NULL,              -- JSON: all of it
    PRIMARY KEY (trial_id, host, number)
) STRICT, WITHOUT ROWID;
