// host_api.hpp - host programs by tt-metal's names; the same as <tt_metal/host_api.hpp>. SPDX-License-Identifier: MIT
#pragma once
#include "../tt_metal/host_api.hpp"
