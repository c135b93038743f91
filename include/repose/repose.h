// SPDX-License-Identifier: Apache-2.0
// Everything public in one include.
#pragma once
#include "base.h"
#include "frame.h"
#include "measure.h"
#include "nearest.h"
#include "preview.h"
#include "run.h"
#include "scene.h"
#include "shape.h"
#include "world.h"
