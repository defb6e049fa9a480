-- One observation a row: a metric of a measured trial, with the levels of the factors (datastore_name, workload,
-- vms, outstanding). Metrics are named as on the command line.
-- Of a block that was measured again, the last attempt counts.
CREATE VIEW observation AS
WITH latest AS (
    SELECT max(id) AS id FROM trial WHERE phase = 'main' GROUP BY block, datastore, cell
), t AS (
    SELECT trial.*, datastore.url AS datastore_url, datastore.baseline AS baseline,
           cell.datastore_name AS datastore_name, cell.workload AS workload, cell.vms AS vms,
           cell.outstanding AS outstanding
    FROM trial JOIN latest ON latest.id = trial.id
    JOIN datastore ON datastore.id = trial.datastore
    LEFT JOIN cell ON cell.id = trial.cell
    WHERE trial.phase = 'main' AND trial.outcome = 'measured'
)
SELECT id AS trial_id, block, position, datastore, datastore_url, baseline,
       cell, datastore_name, workload, vms, outstanding, metric, unit, value
FROM (
    SELECT *, 'iops' AS metric, '1/s' AS unit, iops AS value FROM t
    UNION ALL SELECT *, 'throughput', 'B/s', bytes_per_s FROM t
    UNION ALL SELECT *, 'latency-mean', 'ns', latency_mean_ns FROM t
    UNION ALL SELECT *, 'latency-p50', 'ns', latency_p50_ns FROM t
    UNION ALL SELECT *, 'latency-p95', 'ns', latency_p95_ns FROM t
    UNION ALL SELECT *, 'latency-p99', 'ns', latency_p99_ns FROM t
    UNION ALL SELECT *, 'latency-p999', 'ns', latency_p999_ns FROM t
    UNION ALL SELECT *, 'latency-max', 'ns', CAST(latency_max_ns AS REAL) FROM t
    UNION ALL SELECT t.*, replace(replace(f.name, '_ns', ''), '_', '-'), 'ns', CAST(f.value AS REAL)
    FROM t JOIN fact f ON f.trial_id = t.id AND f.name IN
    ('service_mean_ns', 'service_p50_ns', 'service_p95_ns', 'service_p99_ns', 'service_p999_ns', 'lateness_p99_ns',
     'flush_mean_ns', 'flush_p50_ns', 'flush_p95_ns', 'flush_p99_ns', 'flush_p999_ns',
     'durable_write_p50_ns', 'durable_write_p95_ns', 'durable_write_p99_ns', 'durable_write_p999_ns',
     'copy_time_ns', 'setting_time_ns', 'deployment_time_ns', 'configure_time_ns', 'work_p99_ns')
    UNION ALL SELECT *, 'cpu-per-io', 'ns', cpu_per_io_ns FROM t
    UNION ALL SELECT *, 'target-cpu-per-io', 'ns', target_cpu_per_io_ns FROM t
    UNION ALL SELECT *, 'host-cpu-per-io', 'ns', host_cpu_per_io_ns FROM t
    UNION ALL SELECT *, 'host-cpu', 'share', host_cpu FROM t
    UNION ALL SELECT *, 'elapsed', 'ns', CAST(work_ns AS REAL) FROM t WHERE work_ns IS NOT NULL
    UNION ALL SELECT t.*, 'recovery', 'ns', CAST(d.recovery_ns AS REAL)
    FROM t JOIN disturbed_trial d ON d.trial_id = t.id
    UNION ALL SELECT t.*, 'outage', 'ns', CAST(d.outage_ns AS REAL)
    FROM t JOIN disturbed_trial d ON d.trial_id = t.id
    UNION ALL SELECT t.*, 'updates', '1/s', CAST(f.value AS REAL) * 1e9 / max(s.window_ns, 1)
    FROM t JOIN fact f ON f.trial_id = t.id AND f.name = 'updates' JOIN sample s ON s.trial_id = t.id
);
