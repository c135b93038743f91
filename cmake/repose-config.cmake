include(CMakeFindDependencyMacro)
find_dependency(PNG)
find_dependency(OpenMP COMPONENTS C)
include(${CMAKE_CURRENT_LIST_DIR}/repose-targets.cmake)
