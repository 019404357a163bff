-- The same as slower.sql, of the zones themselves: where a condition on them is wanted (a time, a track, a depth), write it
-- into the first WHERE.
WITH per_run AS (
    SELECT run, name, count(dur) AS zones, avg(dur) AS mean_ns
    FROM {zone} WHERE run IN ({before}, {after}) GROUP BY run, name
), sides AS (
    SELECT name,
           avg(CASE WHEN run IN ({before}) THEN mean_ns END) AS before_ns,
           avg(CASE WHEN run IN ({after}) THEN mean_ns END) AS after_ns,
           sum(zones) AS all_zones
    FROM per_run GROUP BY name
)
SELECT name, before_ns, after_ns, after_ns / before_ns AS ratio, all_zones AS zones
FROM sides WHERE before_ns > 0 AND after_ns > 0 ORDER BY ratio DESC, name LIMIT {limit}
