#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "domain/bad_request.h"
#include "tests/fuzz/expect.h"

namespace holdpoint {

// What `read` gives, or nothing if it refuses with BadRequest. Any other exception ends the run.
template <class Read>
auto unless_refused(Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const BadRequest& e) {
    expect(!e.field().empty() && *e.what(), "a refusal names the field and the reason");
    // Throws what nobody catches if it is not UTF-8: the caller could not be told.
    (void)nlohmann::json{e.field(), e.what()}.dump();
    return std::nullopt;
  }
}

}  // namespace holdpoint
