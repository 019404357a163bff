/* zones.h - names of the device log as numbers: zones, series, cores.
 * Used by devlog.c alone.  SPDX-License-Identifier: MIT */
#ifndef STROBE_REPORT_ZONES_H
#define STROBE_REPORT_ZONES_H

#include "report/devlog.h"

/* The zone of four cells "name,type,line,file"; beyond 65,536 different ones `log->loose`.
 * NULL when the cells are not four, or without memory. */
struct strobe_report_zone *strobe_report_zone_intern(struct strobe_report_log *log,
                                                     struct strobe_report_span tail);

/* The series of four cells "device,x,y,risc,"; NULL when they are not that, or without memory. */
struct strobe_report_series *strobe_report_series_intern(struct strobe_report_log *log,
                                                         struct strobe_report_span prefix);
void strobe_report_zones_free(struct strobe_report_log *log);

#endif
