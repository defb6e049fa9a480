-- From the form 1 to 2, after incident.sql: the CPU time of the target. The columns stand where schema.sql has
-- them.

ALTER TABLE trial ADD COLUMN target_cpu_per_io_ns REAL;
ALTER TABLE cpu ADD COLUMN target_ns INTEGER;
