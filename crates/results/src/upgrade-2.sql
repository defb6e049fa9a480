-- From the form 1 to 2: the CPU time of the target, and incidents. The columns stand where
-- schema.sql has them.

ALTER TABLE trial ADD COLUMN target_cpu_per_io_ns REAL;
ALTER TABLE cpu ADD COLUMN target_ns INTEGER;

CREATE TABLE incident (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    what TEXT NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;
