-- How long it took after the window of a trial until what was written was on storage. Apart from the rest,
-- because new files and files of the form 5 get the same table from here.

CREATE TABLE settled (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    settled_ns INTEGER NOT NULL     -- the longest of the threads', with the end of their connections
) STRICT;
