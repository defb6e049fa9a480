-- From the form 6 to 7: why a trial failed as JSON, for which earlier files have a sentence. They held the storage
-- responsible unless the trial had come to its end or the sentence began with one of these.

ALTER TABLE trial RENAME COLUMN errand_ns TO work_ns;
ALTER TABLE trial ADD COLUMN failure TEXT;

UPDATE trial SET failure = json_object(
    'cause', 'early',
    'said', reason,
    'by_storage', json(CASE
        WHEN reason LIKE 'the agent on host%'
            OR reason LIKE 'the reset command%'
            OR reason LIKE 'the rollback to the snapshot%' THEN 'false'
        WHEN EXISTS (SELECT 1 FROM sample WHERE trial_id = trial.id AND ended = '{"why":"completed"}') THEN 'false'
        ELSE 'true'
    END)
) WHERE outcome = 'failed';
