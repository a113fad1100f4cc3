// layout.cpp -- hspz_abi.h alone, as C++17: the same offsets, the same statuses, the field test.
#include "hspz_abi.h"

static_assert(HSPZ_E_INTERNAL == -16 && HSPZ_OK == 0, "statuses are constants in C++ too");
static_assert(sizeof(hspz_hsp) == 16, "records have one layout");

bool hspz_abi_layout_cpp17(const hspz_statistics *statistics);
bool hspz_abi_layout_cpp17(const hspz_statistics *statistics)
{
    return HSPZ_HAS_FIELD(hspz_statistics, statistics, device_memory_peak) && hspz_plugin_v1.magic == HSPZ_MAGIC;
}
