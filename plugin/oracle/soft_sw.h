/* soft_sw.h -- the oracle's soft Smith-Waterman: the extension "hspz.soft_sw/1" in double precision. */
#ifndef HSPZ__ORACLE_SOFT_SW_H
#define HSPZ__ORACLE_SOFT_SW_H

#include "hspz_soft_sw.h"

extern const hspz_soft_sw hspz__oracle_soft_sw;

#endif
