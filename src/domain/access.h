#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "domain/actor.h"

namespace holdpoint {

// What a credential may do: `sessions:create`, `sessions:read`, `questions:ask`, `questions:read`,
// `questions:answer`, `webhook:<agent>`, `admin`.
using Scopes = std::set<std::string, std::less<>>;

// Throws BadRequest naming `field` for an unknown scope, for none, and for a pair that no
// credential may hold: what asks must not answer.
Scopes read_scopes(const std::vector<std::string>& names, const std::string& field);
// `admin` brings all that it takes to run the server, but neither asking nor answering.
bool allows(const Scopes& scopes, std::string_view scope);
std::string join(const Scopes& scopes);
Scopes split_scopes(std::string_view text);

enum class Role { viewer, answerer, admin };
std::string_view to_text(Role role);
std::optional<Role> role_from(std::string_view text);
// People never ask: they have no need to, and what asks must not answer.
Scopes scopes_of(Role role);

// Who makes a request.
struct Caller {
  // `open`: anyone on this machine, while nobody has made a credential. `local`: whoever holds the
  // database itself, on the command line.
  enum class Kind { nobody, open, local, key, user };
  Kind kind = Kind::nobody;
  std::string name;  // A key's or a user's.
  std::string id;    // A key's id, or the user's name.
  Scopes scopes;

  bool may(std::string_view scope) const {
    return kind == Kind::open || kind == Kind::local || allows(scopes, scope);
  }
  Actor actor(const std::string& address) const;
};

// Whether an agent's `answerers:` let this actor decide; keys stand there as `key:<name>`. An empty
// list lets everybody.
bool may_decide(const std::vector<std::string>& answerers, const Actor& actor);

}  // namespace holdpoint
