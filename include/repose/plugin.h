// SPDX-License-Identifier: Apache-2.0
// Plugins: libraries that only some need and that are large or in another language (OpenVDB, PETSc,
// MPI). They lie beside the program and are opened when something asks for them.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Open a plugin and get the table that it offers. A plugin exports one function without arguments
/// that returns a table, and the first member of the table is an `int`, its version. It is looked
/// for beside the program, in lib/repose or lib/x86_64-linux-gnu/repose, or only in the folder that
/// REPOSE_PLUGINS names. It stays open.
/// @param name file name, such as "repose-vdb.so"
/// @param getter name of the function
/// @param wanted what a user must install for it: the end of the sentence when it is missing
/// @param[out] table NULL on failure
/// @return RP_ERR_UNSUPPORTED when there is none, one that cannot be opened or one of another
/// version
RP_API rp_result rp_plugin_open(const char *name, const char *getter, int version,
                                const char *wanted, const void **table);

#ifdef __cplusplus
}
#endif
