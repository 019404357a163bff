// reader_concat.cpp - pages of several tensors, so many of each in turn, into buffer 16. Arguments: first page of the result, number,
// number of tensors; of each: address, in L1, pages in a turn.  SPDX-License-Identifier: MIT
#include "pages.h"

void kernel_main()
{
    constexpr uint32_t to = tt::CBIndex::c_16;
    uint32_t first = get_arg_val<uint32_t>(0), n = get_arg_val<uint32_t>(1),
             n_tensors = get_arg_val<uint32_t>(2), per_turn = 0;
    for (uint32_t i = 0; i < n_tensors; i++)
        per_turn += get_arg_val<uint32_t>(3 + 3 * i + 2);

    DeviceZoneScopedN("READ-CONCAT");
    for (uint32_t page = first; page < first + n; page++) {
        uint32_t turn = page / per_turn, rest = page % per_turn, i = 0;
        while (rest >= get_arg_val<uint32_t>(3 + 3 * i + 2))
            rest -= get_arg_val<uint32_t>(3 + 3 * i++ + 2);
        const tensor from = {get_arg_val<uint32_t>(3 + 3 * i), get_arg_val<uint32_t>(3 + 3 * i + 1),
                             get_tile_size(to)};
        cb_reserve_back(to, 1);
        noc_async_read(from.at(turn * get_arg_val<uint32_t>(3 + 3 * i + 2) + rest),
                       get_write_ptr(to), from.page_bytes);
        noc_async_read_barrier();
        cb_push_back(to, 1);
    }
}
