-- Service times and lateness of open loops. Apart from the rest, because files have no such table until a trial
-- is added that needs it. Sums, maxima and percentiles are rows of the table fact.

CREATE TABLE IF NOT EXISTS issue_histogram (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    what TEXT NOT NULL,             -- service (issued to ended), lateness (due to issued)
    bucket INTEGER NOT NULL,
    low_ns INTEGER NOT NULL,        -- lowest value of the bucket
    high_ns INTEGER NOT NULL,       -- lowest value of the next one
    count INTEGER NOT NULL,
    PRIMARY KEY (trial_id, what, bucket)
) STRICT, WITHOUT ROWID;
