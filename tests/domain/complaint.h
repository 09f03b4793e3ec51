#pragma once

#include <string>

#include "domain/bad_request.h"

namespace holdpoint::test {

// What a call complains about by BadRequest.
struct Complaint {
  std::string field = "(none)";
  std::string reason;
  bool says(const std::string& text) const { return reason.find(text) != std::string::npos; }
};

template <class F>
Complaint complaint_of(F&& call) {
  try {
    static_cast<void>(call());
  } catch (const BadRequest& e) {
    return {e.field(), e.what()};
  }
  return {};
}

}  // namespace holdpoint::test
