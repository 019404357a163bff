// dataflow_api.h - the same, where newer kernels look for it. SPDX-License-Identifier: MIT
#pragma once
#include "../../dataflow_api.h"
