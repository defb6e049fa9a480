-- From the form 2 to 3, after study.sql: which cell a trial is of, the host's CPU, errands. The columns stand
-- where schema.sql has them.

ALTER TABLE trial ADD COLUMN cell INTEGER REFERENCES cell (id);
ALTER TABLE trial ADD COLUMN host_cpu REAL;
ALTER TABLE trial ADD COLUMN errand_ns INTEGER;

-- What the trials so far would have said.
UPDATE trial SET host_cpu = (
    SELECT busy_ns / nullif(busy_ns + host_idle_ns + host_iowait_ns, 0)
    FROM (
        SELECT host_idle_ns, host_iowait_ns,
               CAST(host_user_ns AS REAL) + host_system_ns + host_irq_ns + host_softirq_ns AS busy_ns
        FROM cpu WHERE trial_id = trial.id
    )
);
