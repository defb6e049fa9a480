-- Form 6: what else is known of a trial, a row a fact, so that a new one needs no new form.

CREATE TABLE fact (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    name TEXT NOT NULL,             -- ends in its unit
    value INTEGER NOT NULL,
    PRIMARY KEY (trial_id, name)
) STRICT, WITHOUT ROWID;
