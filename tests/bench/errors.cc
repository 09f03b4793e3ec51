#include "errors.h"

#include <iostream>

namespace holdpoint::bench {
namespace {

constexpr long kPrinted = 5;
constexpr std::size_t kPrintedBytes = 2000;

}  // namespace

void Errors::add(const std::string& what) {
  ++count_;
  if (count_ <= kPrinted) std::cerr << "error: " << what << '\n';
  if (count_ == kPrinted + 1) std::cerr << "error: further ones are only counted\n";
}

void Errors::add(const std::string& what, const Response& response) {
  add(what + ": HTTP " + std::to_string(response.status) + " " +
      std::string(response.body.substr(0, kPrintedBytes)));
}

}  // namespace holdpoint::bench
