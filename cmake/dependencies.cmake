# Debian's packages, but for cpp-httplib and cpr, which Debian 12 has too old: an installed one that is new enough, else the
# source that tools/setup left in .deps/, else upstream's at a pinned commit.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 3.35 REQUIRED)
find_package(PostgreSQL 14 REQUIRED)  # libpq alone: its pipelines came with 14.
find_package(CURL REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(tomlplusplus REQUIRED)
if(HOLDPOINT_FUZZ)
  # Compiled with us, so that the fuzzer sees which way its parser went. As in Debian's library its assertions are off: one of them
  # takes a syntax error after `[` for impossible.
  set_target_properties(tomlplusplus::tomlplusplus PROPERTIES INTERFACE_COMPILE_OPTIONS
    "-DTOML_HEADER_ONLY=1;-DTOML_ASSERT(condition)=static_assert(true);-fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/tests/fuzz/ignore.txt")
endif()
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(gmime REQUIRED IMPORTED_TARGET gmime-3.0)
include(FetchContent)

find_package(httplib 0.41 QUIET)
if(httplib_FOUND)
  set(httplib_dir ${HTTPLIB_INCLUDE_DIR})
elseif(EXISTS ${CMAKE_SOURCE_DIR}/.deps/httplib/httplib.h)
  set(httplib_dir ${CMAKE_SOURCE_DIR}/.deps/httplib)
else()
  FetchContent_Declare(httplib_source GIT_REPOSITORY https://github.com/yhirose/cpp-httplib.git GIT_TAG 9751cff7b44b06a05e059b93f32ee5ac73f4f13b)  # v0.41.0
  FetchContent_GetProperties(httplib_source)
  if(NOT httplib_source_POPULATED)
    FetchContent_Populate(httplib_source)
  endif()
  set(httplib_dir ${httplib_source_SOURCE_DIR})
endif()
file(STRINGS ${httplib_dir}/httplib.h httplib_version REGEX "define CPPHTTPLIB_VERSION \"")
if(NOT httplib_version MATCHES "\"0\\.(4[1-9]|[5-9][0-9])\\.|\"[1-9]")
  message(FATAL_ERROR "cpp-httplib 0.41 or newer is needed (older ones have open CVEs), found: ${httplib_version}")
endif()
add_library(httplib INTERFACE)
target_include_directories(httplib SYSTEM INTERFACE ${httplib_dir})
target_link_libraries(httplib INTERFACE Threads::Threads)
# A real backlog; and how many headers are too many is ours to say, up to this (HttpServer::kMostHeaders).
target_compile_definitions(httplib INTERFACE CPPHTTPLIB_LISTEN_BACKLOG=1024 CPPHTTPLIB_HEADER_MAX_COUNT=1000)

find_package(cpr 1.12 QUIET)
if(NOT cpr_FOUND)
  set(CPR_USE_SYSTEM_CURL ON CACHE BOOL "" FORCE)
  set(CPR_ENABLE_CURL_HTTP_ONLY OFF CACHE BOOL "" FORCE)
  set(BUILD_SHARED_LIBS OFF)
  if(EXISTS ${CMAKE_SOURCE_DIR}/.deps/cpr/CMakeLists.txt)
    add_subdirectory(${CMAKE_SOURCE_DIR}/.deps/cpr ${CMAKE_BINARY_DIR}/cpr EXCLUDE_FROM_ALL SYSTEM)
  else()
    FetchContent_Declare(cpr GIT_REPOSITORY https://github.com/libcpr/cpr.git GIT_TAG da40186618909b1a7363d4e4495aa899c6e0eb75 SYSTEM)  # 1.12.0
    FetchContent_MakeAvailable(cpr)
  endif()
endif()
