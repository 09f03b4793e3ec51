#pragma once

#include <stdexcept>
#include <string>

namespace holdpoint {

// What a caller sent breaks a rule: `field` says where (may be empty), what() says which rule.
// Nothing was changed.
class BadRequest : public std::runtime_error {
 public:
  BadRequest(std::string field, const std::string& reason)
      : std::runtime_error(reason), field_(std::move(field)) {}
  const std::string& field() const { return field_; }

 private:
  std::string field_;
};

// It cannot be read at all: not JSON, or not of the form that could be told what is wrong with it.
class Unreadable : public BadRequest {
  using BadRequest::BadRequest;
};

}  // namespace holdpoint
