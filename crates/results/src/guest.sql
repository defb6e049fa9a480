-- What the guests of a rack did during a trial. Apart from the rest, because files of other studies, and those from
-- before guests were watched, have no such tables until a trial is added that needs them.

CREATE TABLE IF NOT EXISTS guest (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    name TEXT NOT NULL,
    kind TEXT NOT NULL,             -- router, storage, host, vm
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- A guest in one interval, ramp included; no row while it did not run.
CREATE TABLE IF NOT EXISTS guest_monitor (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    guest INTEGER NOT NULL,         -- its number in the table guest
    number INTEGER NOT NULL,        -- from 0
    at_ns INTEGER NOT NULL,         -- since the load started
    length_ns INTEGER NOT NULL,
    cpus_busy REAL,                 -- CPUs of the machine that its process used
    waited REAL,                    -- share of the interval that a thread of it waited for a CPU, 0 to 1
    memory_bytes INTEGER NOT NULL,  -- resident, of its process
    disk_read_bytes_per_s REAL,     -- NULL: not known
    disk_write_bytes_per_s REAL,
    network_receive_bytes_per_s REAL, -- NULL: it has no agent that counts them
    network_transmit_bytes_per_s REAL,
    PRIMARY KEY (trial_id, guest, number)
) STRICT, WITHOUT ROWID;
