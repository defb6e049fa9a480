-- From the form 7 to 8: all files are of studies. What a comparison was becomes one beside this
-- (comparison.rs), because its plan is JSON.

DELETE FROM meta WHERE key = 'contents';
