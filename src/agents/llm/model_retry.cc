#include "agents/llm/model_retry.h"

#include <algorithm>
#include <charconv>

namespace holdpoint {
namespace {

constexpr Duration kFirst{500};
constexpr Duration kLongest{8'000};
constexpr Duration kLongestAsked{300'000};

std::string header(const HttpResponse& response, const char* name) {
  const auto it = response.headers.find(name);
  return it == response.headers.end() ? "" : it->second;
}

// What the other side asks for; "at once" is no answer to what has just failed.
Duration asked_for(const HttpResponse& response) {
  const std::string text = header(response, "retry-after-ms");
  std::int64_t millis = 0;  // A fraction of one is not read.
  std::from_chars(text.data(), text.data() + text.size(), millis);
  if (millis > 0) return std::min(Duration{millis}, kLongestAsked);
  return std::min(response.retry_after.value_or(Duration{0}), kLongestAsked);
}

}  // namespace

bool may_pass(const HttpResponse& response) {
  if (response.status == 0) return true;
  const std::string told = header(response, "x-should-retry");
  if (told == "true") return true;
  if (told == "false") return false;
  return response.status == 408 || response.status == 409 || response.status == 429 ||
         response.status >= 500;
}

Duration model_backoff(const HttpResponse& response, std::int64_t attempt, double jitter) {
  if (const Duration asked = asked_for(response); asked > Duration{0}) return asked;
  const auto doublings = std::clamp<std::int64_t>(attempt - 1, 0, 10);
  const Duration wait = std::min(kFirst * (std::int64_t{1} << doublings), kLongest);
  return std::chrono::duration_cast<Duration>(wait * (1.0 - jitter / 4));
}

}  // namespace holdpoint
