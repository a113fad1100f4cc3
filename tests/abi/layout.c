/* layout.c -- hspz_abi.h alone, as C11: compiling it checks every offset. Built as C++17 too (layout.cpp). */
#include "hspz_abi.h"

/* A const object that uses a later field, so that the header's macros are compiled as well. */
extern const int hspz_abi_layout_c11;
const int hspz_abi_layout_c11 =
    (int)sizeof(hspz_plugin) + HSPZ_E_INTERNAL + (int)HSPZ_CAP_DEDUP(HSPZ_DEDUP_NONE);
