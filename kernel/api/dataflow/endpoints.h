// endpoints.h - objects of kernels that move data. SPDX-License-Identifier: MIT
#pragma once
#include "../../dataflow_api.h"
