// waypoint.h - marks of where a kernel stands, for a watcher: there is none. SPDX-License-Identifier: MIT
#pragma once
#define WAYPOINT(...)
