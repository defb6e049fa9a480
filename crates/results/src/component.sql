-- What a prediction knows beside its trials: the parts of the site, and what more of each would bring.
-- Apart from the rest, because new files and files of the form 3 get the same tables from here.

-- A part of the site during a trial's window.
CREATE TABLE component (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    name TEXT NOT NULL,
    kind TEXT NOT NULL,             -- host-cpu, host-port, network, controller-port, …
    units INTEGER NOT NULL,         -- stations it consists of
    utilisation REAL,               -- busy share of all of them, 0 to 1
    utilisation_most REAL,          -- busy share of the busiest one
    busy_ns INTEGER NOT NULL,
    queue_mean REAL,                -- waiting or being served, on average
    visits INTEGER NOT NULL,
    lost INTEGER NOT NULL,          -- messages that found a line's buffer full
    response_share REAL,            -- of the response time, what is spent here, 0 to 1
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE component_interval (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- the component
    interval INTEGER NOT NULL,      -- from 0
    utilisation REAL,
    PRIMARY KEY (trial_id, number, interval)
) STRICT, WITHOUT ROWID;

-- What a cell would gain if a part of the site were so many times as fast.
CREATE TABLE elasticity (
    cell INTEGER NOT NULL REFERENCES cell (id),
    number INTEGER NOT NULL,        -- from 0, the largest gain first
    component TEXT NOT NULL,
    kind TEXT NOT NULL,
    factor REAL NOT NULL,           -- 1.1: 10 % faster
    metric TEXT NOT NULL,
    ratio REAL,                     -- of the metric: with it, divided by without it
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;
