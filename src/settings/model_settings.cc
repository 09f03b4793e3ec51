#include <cmath>

#include "settings/reader.h"

namespace holdpoint {
namespace {

constexpr std::string_view kNameChars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_not_of(kNameChars) == std::string::npos;
}

// An alias may look like a version too: gpt-4.1.
bool is_alias(std::string text) {
  std::replace(text.begin(), text.end(), '.', '-');
  return is_name(text);
}

// Whether a header may carry it: no line ends, nothing that is not printed.
bool is_header_value(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void read_tables(Reader& in, const std::string& at, Settings::Llm& llm) {
  llm.models = in.texts_by_name(at, "models");
  for (const auto& [alias, name] : llm.models) {
    if (!is_alias(alias)) {
      in.complain(at, "models", "has \"" + alias + "\": letters, digits, . _ and - make an alias");
    }
    if (name.empty()) in.complain(at, "models", "does not say which model " + alias + " is");
  }
  llm.prices = in.numbers_by_name(at, "prices");
  for (const auto& [model, prices] : llm.prices) {
    const bool fine = std::all_of(prices.begin(), prices.end(), [](double price) {
      return std::isfinite(price) && price >= 0 && price <= 1e6;
    });
    if (!fine || prices.size() < 2 || prices.size() > 3) {
      in.complain(at, "prices",
                  "must be like { " + model + " = [3.0, 15.0] }: in, out, and in from a cache");
    }
  }
  llm.headers = in.secrets_by_name(at, "headers");
  static const std::set<std::string> ours{"content-type", "content-length", "accept", "host",
                                          "transfer-encoding"};
  for (const auto& [name, value] : llm.headers) {
    if (!is_name(name) || ours.count(in_lower_case(name))) {
      in.complain(at, "headers", "cannot have \"" + name + "\"");
    }
    if (!is_header_value(value.reveal())) {
      in.complain(at, "headers", "has a " + name + " that no header can carry: plain ASCII only");
    }
  }
}

Settings::Llm read_service(Reader& in, const std::string& name) {
  const std::string at = "llm." + name;
  Settings::Llm llm;
  llm.name = name;
  if (in.has(at, "api")) llm.api = in.text(at, "api");
  if (llm.api != "anthropic" && llm.api != "openai") {
    in.complain(at, "api", "must be anthropic or openai");
  }
  llm.base_url = in.text(at, "base_url");
  while (llm.base_url.ends_with('/')) llm.base_url.pop_back();
  llm.key = in.secret(at, "key");
  if (!is_header_value(llm.key.reveal())) {
    in.complain(at, "key", "holds what no header can carry: plain ASCII only");
  }
  llm.auth = in.text(at, "auth");
  if (llm.auth != "bearer" && llm.auth != "x-api-key" && llm.auth != "none") {
    in.complain(at, "auth", "must be bearer, x-api-key or none");
  }
  llm.version = in.text(at, "version");
  if (!is_header_value(llm.version)) in.complain(at, "version", "must be like 2026-10-21");
  read_tables(in, at, llm);
  llm.timeout_seconds = in.number(at, "timeout_seconds", 1, 3600);
  llm.max_attempts = in.number(at, "max_attempts", 1, 1000);
  llm.max_tokens = in.number(at, "max_tokens", 1, 1'000'000);
  return llm;
}

}  // namespace

void read_models(Reader& in, Settings& s) {
  s.budgets.steps = in.number("budgets", "steps", 1, 1'000'000);
  s.budgets.tokens = in.number("budgets", "tokens", 1, 1'000'000'000'000);
  s.budgets.seconds = in.number("budgets", "seconds", 1, 31'536'000);
  s.budgets.questions = in.number("budgets", "questions", 0, 1'000'000);
  std::map<std::string, std::string> seen;
  for (const auto& name : in.services()) {
    if (!is_name(name)) {
      in.complain("[llm." + name + "]: letters, digits, _ and - make a service's name");
      continue;
    }
    // Their variables in the environment would be the same.
    std::string folded = in_lower_case(name);
    std::replace(folded.begin(), folded.end(), '-', '_');
    if (const auto [other, fresh] = seen.emplace(folded, name); !fresh) {
      in.complain("[llm." + name + "] and [llm." + other->second + "] are too much alike");
    }
    s.llm.push_back(read_service(in, name));
  }
}

}  // namespace holdpoint
