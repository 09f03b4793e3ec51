#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/access.h"
#include "store/database.h"

// The rows of api_keys. Each function is one step of the caller's transaction.
namespace holdpoint::key_store {

struct StoredKey {
  std::string id;
  std::string name;
  std::string secret_hash;
  Scopes scopes;
  Time created_at;
  std::optional<Time> expires_at;
  std::optional<Time> revoked_at;
  std::optional<Time> last_used_at;
  std::optional<std::string> last_used_from;

  bool is_live(Time now) const { return !revoked_at && (!expires_at || *expires_at > now); }
};

void insert(Transaction& tx, const StoredKey& key);
std::optional<StoredKey> find(Transaction& tx, const std::string& id);
std::vector<StoredKey> list(Transaction& tx);
// False if there is no such key, or it is revoked already.
[[nodiscard]] bool revoke(Transaction& tx, const std::string& id, Time now);
void note_use(Transaction& tx, const std::string& id, Time at, const std::string& from);
// Whether there has ever been one.
bool any(Transaction& tx);

}  // namespace holdpoint::key_store
