-- From the form 5 to 6, after the tables that it adds: what kind of event it was. Earlier files say it in words
-- alone. The column stands where schema.sql has it.

ALTER TABLE event ADD COLUMN kind TEXT NOT NULL DEFAULT 'note';

UPDATE event SET kind = 'resumed' WHERE what = 'resumed';
UPDATE event SET kind = 'resumed-after-verdict' WHERE what = 'resumed after its verdict could be read';
