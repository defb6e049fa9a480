-- What happened on the way that was no error: the tables that the form 2 brought.
-- New files and files of the form 1 get the same tables from here, so this text stays as it is: what a later
-- form changes in them goes into the upgrade to that form, which new files then go through too.

CREATE TABLE incident (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    number INTEGER NOT NULL,        -- from 0
    what TEXT NOT NULL,
    times INTEGER NOT NULL,
    PRIMARY KEY (trial_id, number)
) STRICT, WITHOUT ROWID;
