-- Regressions over time: of each zone the run at which it became slower most, the ten runs from there on against the ten
-- before. Runs are in the order of their names.
WITH per_run AS (
    SELECT run, name, sum(total) / sum(count) AS mean_ns
    FROM {stat} WHERE kind = 'zone' AND run IN ({runs}) GROUP BY run, name
), steps AS (
    SELECT name, run,
           avg(mean_ns) OVER (PARTITION BY name ORDER BY run ROWS BETWEEN 10 PRECEDING AND 1 PRECEDING) AS before_ns,
           avg(mean_ns) OVER (PARTITION BY name ORDER BY run ROWS BETWEEN CURRENT ROW AND 9 FOLLOWING) AS after_ns,
           count(mean_ns) OVER (PARTITION BY name ORDER BY run ROWS BETWEEN 10 PRECEDING AND 1 PRECEDING) AS n_before,
           count(mean_ns) OVER (PARTITION BY name ORDER BY run ROWS BETWEEN CURRENT ROW AND 9 FOLLOWING) AS n_after
    FROM per_run
), ranked AS (
    SELECT name, run, before_ns, after_ns, after_ns / before_ns AS ratio,
           row_number() OVER (PARTITION BY name ORDER BY after_ns / before_ns DESC, run) AS place
    FROM steps WHERE n_before >= {least} AND n_after >= {least} AND before_ns > 0
)
SELECT name, run, before_ns, after_ns, ratio FROM ranked WHERE place = 1 ORDER BY ratio DESC, name LIMIT {limit}
