// SPDX-License-Identifier: Apache-2.0
// Everything public in one include.
#pragma once
#include "base.h"
#include "colors.h"
#include "export.h"
#include "file.h"
#include "frame.h"
#include "measure.h"
#include "nearest.h"
#include "reader.h"
#include "record.h"
#include "render.h"
#include "run.h"
#include "scene.h"
#include "shape.h"
#include "threads.h"
#include "view.h"
#include "world.h"
