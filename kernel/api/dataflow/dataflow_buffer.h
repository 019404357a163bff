// dataflow_buffer.h - circular buffers as objects, by tt-metal's name. SPDX-License-Identifier: MIT
#pragma once
#include "../../sim/any.h"
