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

}  // namespace holdpoint
