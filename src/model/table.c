// All laws of one variant.
#include "model/variant.h"

#ifdef RP_DIM

#define DECLARE(ID, name) extern const rp_law RP_LAW_VARIANT(name);
RP_MATERIALS(DECLARE)

extern const rp_law *const RP_LAW_VARIANT(laws)[RP_MATERIAL_KINDS];

#define POINTER(ID, name) [RP_##ID] = &RP_LAW_VARIANT(name),
const rp_law *const RP_LAW_VARIANT(laws)[RP_MATERIAL_KINDS] = {RP_MATERIALS(POINTER)};

#endif
