// One file per command.
#pragma once

#include "args.h"

extern const command command_run, command_check, command_list, command_info, command_render,
    command_view, command_export, command_measure, command_validate, command_bench;
