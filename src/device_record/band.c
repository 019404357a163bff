/* band.c - see the header.  SPDX-License-Identifier: MIT */
#include "device_record/band.h"

#include "base/assert.h"

static const double unknown =
    1e-3; /* by so much a device's frequency may be off before it is measured */
static const double wander = 5e-8;   /* by so much a rate may change in a second */
static const double anchor_ns = 1e8; /* between two anchors, at least */
enum { close_anchors = 4 };          /* the first ones lie as close to each other as bands are */

void strobe_clock_rate_init(struct strobe_clock_rate *rate, double nominal, double tick_ns)
{
    STROBE_ASSERT(nominal > 0 && tick_ns > 0);
    rate->low = nominal * (1 - unknown);
    rate->high = nominal * (1 + unknown);
    rate->tick_ns = tick_ns;
    rate->n_anchors = 0;
}

static void keep_anchor(struct strobe_clock_rate *rate, const struct strobe_clock_band *band)
{
    uint64_t n = rate->n_anchors;
    const struct strobe_clock_band *last = &rate->anchors[(n - 1) % STROBE_CLOCK_RATE_ANCHORS];
    if (n >= close_anchors && (band->low - last->low) * rate->tick_ns < anchor_ns)
        return;
    rate->anchors[rate->n_anchors++ % STROBE_CLOCK_RATE_ANCHORS] = *band;
}

bool strobe_clock_rate_see(struct strobe_clock_rate *rate, const struct strobe_clock_band *band)
{
    uint64_t n =
        rate->n_anchors < STROBE_CLOCK_RATE_ANCHORS ? rate->n_anchors : STROBE_CLOCK_RATE_ANCHORS;
    double nominal = (rate->low + rate->high) / 2;
    double low = nominal * (1 - unknown), high = nominal * (1 + unknown);
    STROBE_ASSERT(band->is_there && band->low <= band->high);
    for (uint64_t i = 0; i < n; i++) {
        const struct strobe_clock_band *anchor = &rate->anchors[i];
        double since = (double)(band->cycles - anchor->cycles);
        if (since <= 0)
            continue;
        double seconds = (band->high - anchor->low) * rate->tick_ns * 1e-9;
        double off = nominal * wander * seconds;
        double least = (band->low - anchor->high) / since - off;
        double most = (band->high - anchor->low) / since + off;
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    bool fits = low <= high;
    if (fits) {
        rate->low = low;
        rate->high = high;
    } else {
        strobe_clock_rate_init(rate, nominal, rate->tick_ns);
    }
    keep_anchor(rate, band);
    return fits;
}

struct strobe_clock_band strobe_clock_band_at(const struct strobe_clock_band *band, int64_t cycles,
                                              const struct strobe_clock_rate *rate)
{
    double since = (double)(cycles - band->cycles);
    STROBE_ASSERT(band->is_there && rate->low <= rate->high);
    return (struct strobe_clock_band){
        .is_there = true,
        .cycles = cycles,
        .low = band->low + since * (since >= 0 ? rate->low : rate->high),
        .high = band->high + since * (since >= 0 ? rate->high : rate->low)};
}

double strobe_clock_band_narrow(struct strobe_clock_band *band, int64_t cycles, double low,
                                double high, const struct strobe_clock_rate *rate)
{
    struct strobe_clock_band own = {true, cycles, low, high};
    STROBE_ASSERT(low <= high);
    if (!band->is_there) {
        *band = own;
        return 0;
    }
    struct strobe_clock_band now = strobe_clock_band_at(band, cycles, rate);
    double outside = now.low > high ? now.low - high : low > now.high ? low - now.high : 0;
    if (outside > 0) {
        *band = own;
        return outside;
    }
    now.low = low > now.low ? low : now.low;
    now.high = high < now.high ? high : now.high;
    *band = now;
    return 0;
}
