#include "domain/access.h"

#include <algorithm>
#include <array>

#include "domain/bad_request.h"
#include "domain/text.h"

namespace holdpoint {
namespace {

constexpr std::array<std::string_view, 6> kScopes{"sessions:create",  "sessions:read",
                                                  "questions:ask",    "questions:read",
                                                  "questions:answer", "admin"};
constexpr std::string_view kWebhook = "webhook:";

bool is_scope(std::string_view text) {
  if (text.starts_with(kWebhook)) {
    return text.size() > kWebhook.size() && text.find_first_of(" \t\r\n") == std::string_view::npos;
  }
  return std::find(kScopes.begin(), kScopes.end(), text) != kScopes.end();
}

}  // namespace

Scopes read_scopes(const std::vector<std::string>& names, const std::string& field) {
  Scopes scopes;
  for (const auto& name : names) {
    if (!is_scope(name)) {
      throw BadRequest(field, "has no scope \"" + shorten(name, 60) +
                                  "\"; there are sessions:create, sessions:read, questions:ask, "
                                  "questions:read, questions:answer, webhook:<agent> and admin");
    }
    scopes.insert(name);
  }
  if (scopes.empty()) throw BadRequest(field, "needs at least one scope");
  if (scopes.count("questions:ask") && scopes.count("questions:answer")) {
    throw BadRequest(field,
                     "may not hold both questions:ask and questions:answer: what asks must not "
                     "answer itself. Make two keys");
  }
  if (scopes.count("questions:ask") && scopes.count("admin")) {
    throw BadRequest(field,
                     "may not hold both questions:ask and admin: what asks could make itself a key "
                     "that answers. Make two keys");
  }
  return scopes;
}

bool allows(const Scopes& scopes, std::string_view scope) {
  if (scopes.count(scope)) return true;
  if (scope.starts_with(kWebhook) && scopes.count("sessions:create")) return true;
  return scopes.count("admin") && scope != "questions:ask" && scope != "questions:answer";
}

std::string join(const Scopes& scopes) {
  std::string text;
  for (const auto& scope : scopes) text.append(text.empty() ? "" : " ").append(scope);
  return text;
}

Scopes split_scopes(std::string_view text) {
  Scopes scopes;
  while (!text.empty()) {
    const auto space = text.find(' ');
    if (space != 0) scopes.emplace(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return scopes;
}

std::string_view to_text(Role role) {
  switch (role) {
    case Role::viewer:
      return "viewer";
    case Role::answerer:
      return "answerer";
    case Role::admin:
      return "admin";
  }
  return "viewer";
}

std::optional<Role> role_from(std::string_view text) {
  for (const Role role : {Role::viewer, Role::answerer, Role::admin}) {
    if (to_text(role) == text) return role;
  }
  return std::nullopt;
}

Scopes scopes_of(Role role) {
  switch (role) {
    case Role::viewer:
      return {"questions:read", "sessions:read"};
    case Role::answerer:
      return {"questions:answer", "questions:read", "sessions:read"};
    case Role::admin:
      return {"admin", "questions:answer"};
  }
  return {};
}

Actor Caller::actor(const std::string& address) const {
  switch (kind) {
    case Kind::key:
      return {name, "key:" + id, address};
    case Kind::user:
      return {name, "user:" + id, address};
    case Kind::open:
      return {"", "open", address};
    case Kind::local:
      return {name, "local", address};
    case Kind::nobody:
      break;
  }
  return {"", "nobody", address};
}

bool may_decide(const std::vector<std::string>& answerers, const Actor& actor) {
  if (answerers.empty()) return true;
  constexpr std::string_view key = "key:";
  const bool is_key = actor.credential.starts_with(key);
  const std::string who = lower_case(is_key ? "key:" + actor.name : actor.name);
  if (!is_key && who.starts_with(key)) return false;  // A person who is called like a key.
  return std::any_of(answerers.begin(), answerers.end(),
                     [&](const std::string& listed) { return lower_case(listed) == who; });
}

}  // namespace holdpoint
