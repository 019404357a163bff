/* moments.c - Student's distribution by the continued fraction of the incomplete beta function, the gamma function's
 * derivatives by recurrence and asymptotic series, and the moments of log variances.
 * docs/design has why these tests were chosen.  SPDX-License-Identifier: MIT */
#include "diff/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

/* The continued fraction of the incomplete beta function, evaluated from the front (Lentz). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double product = d;
    for (int i = 1; i < 500; i++) {
        for (int odd = 0; odd < 2; odd++) {
            double at = a + 2 * i + odd;
            double term = odd ? -(a + i) * (a + b + i) * x / ((at - 1) * at)
                              : i * (b - i) * x / ((at - 1) * at);
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            product *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return product;
}

/* The regularized incomplete beta function. */
static double beta_share(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double strobe_moments_t_above(double t, double df)
{
    STROBE_ASSERT(df > 0);
    if (df > 1e7)
        return 0.5 * erfc(t / sqrt(2));
    double tail = 0.5 * beta_share(df / 2, 0.5, df / (df + t * t));
    return t >= 0 ? tail : 1 - tail;
}

double strobe_moments_t_at(double p, double df)
{
    double low = 0, high = 1;
    STROBE_ASSERT(p > 0 && p < 0.5);
    while (strobe_moments_t_above(high, df) > p && high < 1e12)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (strobe_moments_t_above(middle, df) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

enum { SERIES_FROM = 12 }; /* from here on the series have all digits */

double strobe_moments_digamma(double x)
{
    double sum = 0;
    STROBE_ASSERT(x > 0);
    for (; x < SERIES_FROM; x++)
        sum -= 1 / x;
    double r = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

double strobe_moments_trigamma(double x)
{
    double sum = 0;
    STROBE_ASSERT(x > 0);
    for (; x < SERIES_FROM; x++)
        sum += 1 / (x * x);
    double r = 1 / (x * x);
    return sum + 1 / x + r / 2 +
           r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * 5 / 66))));
}

/* Trigamma falls, from far above 1/x² to just above 1/x: between the two the root is found by halves. */
double strobe_moments_trigamma_at(double y)
{
    double low = 1e-8, high = 1;
    STROBE_ASSERT(y > 0);
    if (y > 1e14)
        return 1 / sqrt(y);
    if (y < 1e-7)
        return 1 / y;
    while (strobe_moments_trigamma(high) > y)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = sqrt(low * high);
        if (strobe_moments_trigamma(middle) > y)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

struct strobe_moments_prior strobe_moments_fit(const double *variances, const double *dfs, size_t n)
{
    struct strobe_moments_prior prior = {1, 0};
    double mean = 0, spread = 0, noise = 0;
    if (n < 2) { /* nothing to learn from */
        prior.scale = n ? variances[0] : 1;
        return prior;
    }
    for (size_t i = 0; i < n; i++) {
        STROBE_ASSERT(variances[i] > 0 && dfs[i] > 0);
        mean +=
            (log(variances[i]) - strobe_moments_digamma(dfs[i] / 2) + log(dfs[i] / 2)) / (double)n;
        noise += strobe_moments_trigamma(dfs[i] / 2) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double e = log(variances[i]) - strobe_moments_digamma(dfs[i] / 2) + log(dfs[i] / 2);
        spread += (e - mean) * (e - mean) / (double)(n - 1);
    }
    if (spread <= noise)
        return (struct strobe_moments_prior){exp(mean), HUGE_VAL};
    double half = strobe_moments_trigamma_at(spread - noise);
    return (struct strobe_moments_prior){exp(mean + strobe_moments_digamma(half) - log(half)),
                                         2 * half};
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double strobe_moments_median(double *values, size_t n)
{
    if (!n)
        return 0;
    qsort(values, n, sizeof *values, compare_numbers);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Largest first. */
static int compare_places(const void *a, const void *b)
{
    const double *x = *(double *const *)a, *y = *(double *const *)b;
    return *x < *y ? 1 : *x > *y ? -1 : (x > y) - (x < y);
}

void strobe_moments_false_rates(double *p, size_t n, double **order)
{
    double least = 1;
    for (size_t i = 0; i < n; i++)
        order[i] = &p[i];
    qsort(order, n, sizeof *order, compare_places);
    for (size_t i = 0; i < n; i++) {
        double rate = *order[i] * (double)n / (double)(n - i);
        least = rate < least ? rate : least;
        *order[i] = least;
    }
}
