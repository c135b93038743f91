# Hot code is compiled once per variant: dimension, spline order, precision and instruction set are
# constants in it. These are the only lists. Adding an entry compiles the sources for it and puts it into
# the generated variant_list.h, from which kernels.c and laws.c make the tables that worlds choose from.
# A preset may ask for fewer (REPOSE_COVER).
set(REPOSE_DIMENSIONS 2 3)
set(REPOSE_ORDERS 2 1 3) # the usual one first
set(REPOSE_REAL_BITS 32 64)
option(REPOSE_COVER "Compile quadratic and linear splines in full, cubic ones once: for builds that only look for mistakes" OFF)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(known_isas plain avx2 avx512)
else()
  set(known_isas plain)
endif()
set(REPOSE_ISAS "${known_isas}" CACHE STRING "Instruction sets to compile the kernels for")
foreach(isa IN LISTS REPOSE_ISAS)
  if(NOT isa IN_LIST known_isas)
    message(FATAL_ERROR "REPOSE_ISAS: want some of \"${known_isas}\" on this machine, got \"${isa}\"")
  endif()
endforeach()
if(NOT "plain" IN_LIST REPOSE_ISAS)
  message(FATAL_ERROR "REPOSE_ISAS: \"plain\" must be among them, it is what any machine can run")
endif()

set(isa_flags_plain "")
set(isa_flags_avx2 -mavx2 -mfma)
set(isa_flags_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)

# One variant as an object library whose objects become part of the target.
# repose_add_variant(target name isa DEFINITIONS ... SOURCES ...)
function(repose_add_variant target name isa)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "DEFINITIONS;SOURCES")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_library(${name} OBJECT ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS} RP_ISA=${isa})
  target_compile_options(${name} PRIVATE ${isa_flags_${isa}})
  target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

function(repose_write_variant_list header macro rows)
  list(JOIN rows " \\\n    " rows)
  file(CONFIGURE OUTPUT ${header} CONTENT
       "// Written by cmake/variants.cmake.\n#pragma once\n#define ${macro}(X) \\\n    ${rows}\n")
endfunction()

# Is this one of the variants that the build wants? Quadratic splines are what scenes have, linear ones what some
# methods are made for; of cubic ones REPOSE_COVER leaves 3D in single precision.
function(repose_wanted out dim order bits)
  set(${out} ON PARENT_SCOPE)
  if(REPOSE_COVER AND order EQUAL 3 AND NOT (dim EQUAL 3 AND bits EQUAL 32))
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# Sources of src/kernel: per dimension, order, precision and instruction set. X(dim, order, bits, isa)
# carry.c gains little from wide vectors and is compiled as plain C only, for all of them.
function(repose_add_kernel_variants target)
  set(rows "")
  set(wide_sources ${ARGN})
  list(FILTER wide_sources EXCLUDE REGEX "/carry\\.c$")
  foreach(dim IN LISTS REPOSE_DIMENSIONS)
    foreach(order IN LISTS REPOSE_ORDERS)
      foreach(bits IN LISTS REPOSE_REAL_BITS)
        repose_wanted(wanted ${dim} ${order} ${bits})
        foreach(isa IN LISTS REPOSE_ISAS)
          if(wanted)
            set(its_sources ${wide_sources})
            if(isa STREQUAL "plain")
              set(its_sources ${ARGN})
            endif()
            repose_add_variant(${target} kernel_${dim}d_q${order}_f${bits}_${isa} ${isa}
                               DEFINITIONS RP_DIM=${dim} RP_ORDER=${order} RP_REAL_BITS=${bits}
                               SOURCES ${its_sources})
            list(APPEND rows "X(${dim}, ${order}, ${bits}, ${isa})")
          endif()
        endforeach()
      endforeach()
    endforeach()
  endforeach()
  repose_write_variant_list(${REPOSE_GENERATED}/kernel/variant_list.h RP_FOR_EACH_KERNEL_VARIANT
                            "${rows}")
endfunction()

# Sources of src/model, and passes of methods without splines: per dimension, precision and instruction set.
# X(dim, bits, isa)
function(repose_add_law_variants target)
  set(rows "")
  foreach(dim IN LISTS REPOSE_DIMENSIONS)
    foreach(bits IN LISTS REPOSE_REAL_BITS)
      foreach(isa IN LISTS REPOSE_ISAS)
        repose_add_variant(${target} model_${dim}d_f${bits}_${isa} ${isa}
                           DEFINITIONS RP_DIM=${dim} RP_REAL_BITS=${bits}
                           SOURCES ${ARGN})
        list(APPEND rows "X(${dim}, ${bits}, ${isa})")
      endforeach()
    endforeach()
  endforeach()
  repose_write_variant_list(${REPOSE_GENERATED}/model/variant_list.h RP_FOR_EACH_LAW_VARIANT
                            "${rows}")
endfunction()

# Sources of a solver's hot/ folder: per dimension and instruction set, in double precision. X(dim, isa)
function(repose_add_solver_variants target)
  set(rows "")
  foreach(dim IN LISTS REPOSE_DIMENSIONS)
    foreach(isa IN LISTS REPOSE_ISAS)
      repose_add_variant(${target} solver_${dim}d_${isa} ${isa}
                         DEFINITIONS RP_DIM=${dim} RP_REAL_BITS=64
                         SOURCES ${ARGN})
      target_compile_options(solver_${dim}d_${isa} PRIVATE -Wno-psabi)
      list(APPEND rows "X(${dim}, ${isa})")
    endforeach()
  endforeach()
  repose_write_variant_list(${REPOSE_GENERATED}/solver/variant_list.h RP_FOR_EACH_SOLVER_VARIANT
                            "${rows}")
endfunction()
