-- What became of users and desktops in a trial with a broker. Apart from the rest, because files of other studies, and those
-- from before desktops were made on demand, have no such tables until a trial is added that needs them.

CREATE TABLE IF NOT EXISTS desktop_total (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    came INTEGER NOT NULL,           -- users
    usable INTEGER NOT NULL,         -- users whose desktop became usable
    refused INTEGER NOT NULL,        -- users who were refused
    gone INTEGER NOT NULL,           -- users who waited for too long
    replaced INTEGER NOT NULL,       -- users whose usable desktop died
    waiting INTEGER NOT NULL,        -- users without a usable desktop at the end
    at_once INTEGER NOT NULL,        -- users for whom a desktop was ready
    deployed INTEGER NOT NULL,       -- desktops that were made
    failed INTEGER NOT NULL,         -- desktops that could not be made
    died INTEGER NOT NULL,           -- desktops that died later
    idled_out INTEGER NOT NULL,      -- desktops of users who were idle for too long
    storage_most_bytes INTEGER NOT NULL -- the most that was reserved
) STRICT;

-- A step of making desktops.
CREATE TABLE IF NOT EXISTS desktop_step (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,         -- from 0
    name TEXT NOT NULL,              -- copy, setting, deployment, configure
    times INTEGER NOT NULL,
    total_ns INTEGER NOT NULL,
    max_ns INTEGER NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- The work of users who came one by one.
CREATE TABLE IF NOT EXISTS desktop_work (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    kind TEXT NOT NULL,              -- read, write
    operations INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    latency_sum_ns INTEGER NOT NULL,
    latency_min_ns INTEGER NOT NULL,
    latency_max_ns INTEGER NOT NULL,
    PRIMARY KEY (trial_id, kind)
) STRICT, WITHOUT ROWID;

-- Its latencies; buckets as in the table histogram.
CREATE TABLE IF NOT EXISTS desktop_work_histogram (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    kind TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    low_ns INTEGER NOT NULL,
    high_ns INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (trial_id, kind, bucket)
) STRICT, WITHOUT ROWID;

-- The waits of users without a usable desktop, as long as they were.
CREATE TABLE IF NOT EXISTS desktop_unserved (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    users INTEGER NOT NULL,
    wait_sum_ns INTEGER NOT NULL,
    wait_min_ns INTEGER NOT NULL,
    wait_max_ns INTEGER NOT NULL
) STRICT;

-- Their distribution; buckets as in the table histogram.
CREATE TABLE IF NOT EXISTS desktop_unserved_histogram (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    kind TEXT NOT NULL,              -- gone and waiting together: unserved
    bucket INTEGER NOT NULL,
    low_ns INTEGER NOT NULL,
    high_ns INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (trial_id, kind, bucket)
) STRICT, WITHOUT ROWID;

-- Means over an interval of the window.
CREATE TABLE IF NOT EXISTS desktop_interval (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,         -- from 0
    start_ns INTEGER NOT NULL,       -- since the window opened
    length_ns INTEGER NOT NULL,
    waiting REAL NOT NULL,           -- users
    deploying REAL NOT NULL,         -- desktops, by state
    ready REAL NOT NULL,
    used REAL NOT NULL,
    idle REAL NOT NULL,
    leaving REAL NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;
