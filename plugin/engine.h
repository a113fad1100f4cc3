/* engine.h -- the functions behind the entry object; entry.c binds them, engine.c holds them.
 *
 * Signatures, ranges and thread labels are those of hspz_plugin in abi/hspz_abi.h.
 */
#ifndef HSPZ__ENGINE_H
#define HSPZ__ENGINE_H

#include "hspz_abi.h"

hspz_status hspz__device_count(uint32_t *count, hspz_error *error);
hspz_status hspz__device_info(uint32_t index, hspz_device_info *info, hspz_error *error);

hspz_status hspz__engine_create(const hspz_engine_params *params, const hspz_host_services *services,
                                hspz_engine **out, hspz_error *error);
void hspz__engine_destroy(hspz_engine *engine);
hspz_status hspz__engine_info(hspz_engine *engine, hspz_engine_info *info, hspz_error *error);
hspz_status hspz__set_target(hspz_engine *engine, const hspz_target *target, hspz_error *error);
hspz_status hspz__clear_target(hspz_engine *engine, hspz_error *error);
hspz_status hspz__set_query(hspz_engine *engine, uint32_t slot, const hspz_query *query, hspz_error *error);
hspz_status hspz__clear_query(hspz_engine *engine, uint32_t slot, hspz_error *error);
hspz_status hspz__find_hsps(hspz_engine *engine, const hspz_find_request *request, const hspz_sink *sink,
                            hspz_error *error);
hspz_status hspz__expand_and_extend(hspz_engine *engine, const hspz_seed_batch *batch, const hspz_sink *sink,
                                    hspz_error *error);
hspz_status hspz__extend_anchors(hspz_engine *engine, const hspz_anchor_batch *batch, const hspz_sink *sink,
                                 hspz_error *error);
hspz_status hspz__get_statistics(hspz_engine *engine, hspz_statistics *statistics, hspz_error *error);
hspz_status hspz__reset_statistics(hspz_engine *engine, hspz_error *error);
const char *hspz__last_error(hspz_engine *engine);

/* extensions.c: the table behind hspz_plugin.get_extension, or NULL. [any] */
const void *hspz__get_extension(const char *id);

#endif
