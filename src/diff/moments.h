/* moments.h - the few functions of statistics that comparing runs needs. Numbers only.  SPDX-License-Identifier: MIT */
#ifndef STROBE_DIFF_MOMENTS_H
#define STROBE_DIFF_MOMENTS_H

#include <stddef.h>

/* P(T > t) for Student's distribution with `df` degrees of freedom; HUGE_VAL: the normal one. */
double strobe_moments_t_above(double t, double df);

/* The t with P(T > t) = p, for 0 < p < 0.5. */
double strobe_moments_t_at(double p, double df);

/* Derivatives of the logarithm of the gamma function, for x > 0. */
double strobe_moments_digamma(double x);
double strobe_moments_trigamma(double x);

/* The x with trigamma(x) = y, for y > 0. */
double strobe_moments_trigamma_at(double y);

/* What variances of many small samples say together: those of s² = `scale` × F(df, prior_df). Each variance is then drawn
 * towards `scale`, as if it came with prior_df more observations (empirical Bayes). */
struct strobe_moments_prior {
    double scale, df; /* df: HUGE_VAL where all variances are alike */
};
struct strobe_moments_prior strobe_moments_fit(const double *variances, const double *dfs,
                                               size_t n);

/* The middle of n numbers, which are reordered. 0 of none. */
double strobe_moments_median(double *values, size_t n);

/* Benjamini and Hochberg: p-values become the smallest rate of false discoveries at which each counts as one. `order`: room for n. */
void strobe_moments_false_rates(double *p, size_t n, double **order);

#endif
