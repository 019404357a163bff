-- Which zones became slower between two sets of runs. A run is one observation, however many zones it has: means over runs of
-- a zone's mean. {stat} has a row per run and location, {before} and {after} are lists of runs.
WITH per_run AS (
    SELECT run, name, sum(count) AS zones, sum(total) / sum(count) AS mean_ns
    FROM {stat} WHERE kind = 'zone' AND run IN ({before}, {after}) GROUP BY run, name
), sides AS (
    SELECT name,
           avg(CASE WHEN run IN ({before}) THEN mean_ns END) AS before_ns,
           avg(CASE WHEN run IN ({after}) THEN mean_ns END) AS after_ns,
           sum(zones) AS all_zones
    FROM per_run GROUP BY name
)
SELECT name, before_ns, after_ns, after_ns / before_ns AS ratio, all_zones AS zones
FROM sides WHERE before_ns > 0 AND after_ns > 0 ORDER BY ratio DESC, name LIMIT {limit}
