-- Cells of studies, steps of errands, the life of the host: the tables that the form 3 brought.
-- New files and files of the form 2 get the same tables from here, so this text stays as it is: what a later
-- form changes in them goes into the upgrade to that form, which new files then go through too.

-- The cells of a study: every combination of levels. A comparison has none.
CREATE TABLE cell (
    id INTEGER PRIMARY KEY,         -- its place in the plan, from 0
    datastore INTEGER NOT NULL REFERENCES datastore (id),
    datastore_name TEXT NOT NULL,
    workload TEXT NOT NULL,
    vms INTEGER NOT NULL,
    outstanding INTEGER             -- per VM; NULL: as the workload says
) STRICT;

-- The steps of an errand, all VMs together.
CREATE TABLE step (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    name TEXT NOT NULL,
    times INTEGER NOT NULL,
    total_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- The host during a trial, ramp included.
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
