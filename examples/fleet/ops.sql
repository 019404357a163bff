-- The op report over runs: of each op of a device how often it ran, its time in kernels and between ops, how much of the cores'
-- time its kernels took, and what bounds it most often.
WITH bounds AS (
    SELECT name, bound, count(*) AS times, row_number() OVER (PARTITION BY name ORDER BY count(*) DESC, bound) AS place
    FROM {op} WHERE run IN ({runs}) GROUP BY name, bound
), sums AS (
    SELECT name, count(*) AS times, sum(kernel_ns) AS all_kernel_ns, avg(kernel_ns) AS mean_kernel_ns,
           max(kernel_ns) AS longest_ns, avg(gap_ns) AS mean_gap_ns, avg(util) AS mean_util
    FROM {op} WHERE run IN ({runs}) GROUP BY name
)
SELECT sums.name AS name, sums.times AS ops, all_kernel_ns, mean_kernel_ns, longest_ns, mean_gap_ns, mean_util, bounds.bound AS bound
FROM sums JOIN bounds ON bounds.name = sums.name AND bounds.place = 1 ORDER BY all_kernel_ns DESC, name LIMIT {limit}
