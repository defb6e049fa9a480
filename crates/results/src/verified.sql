-- What reads returned where that was verified. Apart from the rest, because files from before there
-- was anything to verify have no such tables until a trial is added that needs them.

CREATE TABLE IF NOT EXISTS verified (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    blocks INTEGER NOT NULL,        -- read back and looked at, ramp included
    unknown_blocks INTEGER NOT NULL, -- among them those whose last write was an earlier process's
    wrong_blocks INTEGER NOT NULL   -- among them those that were not what was written
) STRICT;

-- The first wrong blocks of a trial.
CREATE TABLE IF NOT EXISTS corruption (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    disk INTEGER NOT NULL,          -- the virtual disk (VM)
    offset_bytes INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,         -- end of the read, since the load began
    expected TEXT NOT NULL,         -- JSON: the generations (writes) that it could be of; []: any
    found TEXT NOT NULL,            -- JSON
    what TEXT NOT NULL,             -- in words
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;
