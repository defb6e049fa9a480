-- From the form 7 to 8: all files are of studies. What a comparison was becomes one in comparison.rs, because its
-- plan is JSON. Incidents, notes and events are JSON, too: what happened, and the facts. Of those of earlier files
-- the sentence stays. Those of the header are in early.rs.

DELETE FROM meta WHERE key = 'contents';

UPDATE incident SET what = json_object('event', 'other', 'said', what);
UPDATE note SET note = json_object('note', 'early', 'said', note);
UPDATE event SET kind = 'note' WHERE kind = 'redone';
UPDATE event SET what = json_object('kind', kind, 'said', what);
UPDATE trial SET failure = json_set(failure, '$.losses', json((
    SELECT json_group_array(json_object('loss', 'early', 'said', value)) FROM json_each(trial.failure, '$.losses')
))) WHERE failure ->> '$.cause' = 'bytes-lost';
