-- What was done to the storage during a trial, as the steps of its study say, and how throughput came
-- through that. Apart from the rest, because new files and files of the form 4 get the same tables from here.

CREATE TABLE disturbance (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    what TEXT NOT NULL,             -- as the study has it
    planned_ns INTEGER NOT NULL,    -- since the window opened; negative within the ramp
    begun_ns INTEGER NOT NULL,      -- the same
    took_ns INTEGER NOT NULL,
    failure TEXT,                   -- why it could not be done; NULL: it was
    recovery_ns INTEGER,            -- until throughput was back; NULL: the next step came before, or it was not
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

-- One row for each trial with steps.
CREATE TABLE disturbed_trial (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    undisturbed_iops REAL,          -- mean before the first step; NULL: too few intervals
    dip_share REAL,                 -- the least throughput of an interval after it, as a share of that
    recovery_ns INTEGER,            -- the longest of the steps'; NULL: not known, or not within the trial
    not_recovered_ns INTEGER,       -- how long the trial went on without being back; NULL: it was back
    outage_ns INTEGER NOT NULL      -- longest time without a completed I/O, to an interval
) STRICT;
