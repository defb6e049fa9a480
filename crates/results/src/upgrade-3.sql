-- From the form 2 to 3: cells of studies, steps of errands, the life of the host. The columns stand where
-- schema.sql has them.

ALTER TABLE trial ADD COLUMN cell INTEGER REFERENCES cell (id);
ALTER TABLE trial ADD COLUMN host_cpu REAL;
ALTER TABLE trial ADD COLUMN errand_ns INTEGER;

CREATE TABLE cell (
    id INTEGER PRIMARY KEY,         -- its place in the plan, from 0
    datastore INTEGER NOT NULL REFERENCES datastore (id),
    datastore_name TEXT NOT NULL,
    workload TEXT NOT NULL,
    vms INTEGER NOT NULL,
    outstanding INTEGER             -- per VM; NULL: as the workload says
) STRICT;

CREATE TABLE step (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    name TEXT NOT NULL,
    times INTEGER NOT NULL,
    total_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE monitor (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    at_ns INTEGER NOT NULL,         -- since the trial began
    length_ns INTEGER NOT NULL,
    cpu_busy REAL,                  -- busy share of all CPUs, 0 to 1
    memory_used_bytes INTEGER NOT NULL,
    network_receive_bytes_per_s REAL, -- loopback left out
    network_transmit_bytes_per_s REAL,
    loopback_bytes_per_s REAL,
    disk_read_bytes_per_s REAL,
    disk_write_bytes_per_s REAL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE monitor_core (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- the interval
    core INTEGER NOT NULL,          -- the CPU, from 0
    busy REAL,                      -- its busy share, 0 to 1
    PRIMARY KEY (trial_id, number, core)
) STRICT, WITHOUT ROWID;

-- What the trials so far would have said.
UPDATE trial SET host_cpu = (
    SELECT busy_ns / nullif(busy_ns + host_idle_ns + host_iowait_ns, 0)
    FROM (
        SELECT host_idle_ns, host_iowait_ns,
               CAST(host_user_ns AS REAL) + host_system_ns + host_irq_ns + host_softirq_ns AS busy_ns
        FROM cpu WHERE trial_id = trial.id
    )
);
