-- What a predicted cell would be if a value of the site that is assumed were another plausible one.
-- Apart from the rest, because new files and files of the form 8 get the same table from here.

CREATE TABLE assumed (
    cell INTEGER NOT NULL REFERENCES cell (id),
    number INTEGER NOT NULL,        -- from 0
    parameter TEXT NOT NULL,        -- its path in the site file
    value TEXT NOT NULL,            -- in the notation of site files
    other TEXT NOT NULL,            -- the other one
    is_default INTEGER NOT NULL,    -- 1: the site file leaves the value open
    metric TEXT NOT NULL,
    ratio REAL,                     -- of the metric: with the other value, divided by with the assumed one
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;
