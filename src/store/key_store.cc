#include "store/key_store.h"

namespace holdpoint::key_store {
namespace {

#define KEY_COLUMNS                                                                   \
  "id, name, secret_hash, scopes, created_at, expires_at, revoked_at, last_used_at, " \
  "last_used_from"

StoredKey read_key(const Row& row) {
  StoredKey key;
  key.id = row.string(0);
  key.name = row.string(1);
  key.secret_hash = row.string(2);
  key.scopes = split_scopes(row.text(3));
  key.created_at = row.time(4);
  key.expires_at = row.optional_time(5);
  key.revoked_at = row.optional_time(6);
  key.last_used_at = row.optional_time(7);
  key.last_used_from = row.optional_string(8);
  return key;
}

}  // namespace

void insert(Transaction& tx, const StoredKey& key) {
  tx.execute(
      "INSERT INTO api_keys (id, name, secret_hash, scopes, created_at, expires_at) VALUES ($1, "
      "$2, $3, $4, $5, $6)",
      key.id, key.name, key.secret_hash, join(key.scopes), key.created_at, key.expires_at);
}

std::optional<StoredKey> find(Transaction& tx, const std::string& id) {
  std::optional<StoredKey> found;
  tx.query(
      "SELECT " KEY_COLUMNS " FROM api_keys WHERE id = $1",
      [&](const Row& row) { found = read_key(row); }, id);
  return found;
}

std::vector<StoredKey> list(Transaction& tx) {
  std::vector<StoredKey> keys;
  tx.query("SELECT " KEY_COLUMNS " FROM api_keys ORDER BY created_at, id",
           [&](const Row& row) { keys.push_back(read_key(row)); });
  return keys;
}

bool revoke(Transaction& tx, const std::string& id, Time now) {
  return tx.execute("UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", id,
                    now) == 1;
}

void note_use(Transaction& tx, const std::string& id, Time at, const std::string& from) {
  tx.execute("UPDATE api_keys SET last_used_at = $2, last_used_from = $3 WHERE id = $1", id, at,
             from);
}

bool any(Transaction& tx) {
  bool found = false;
  tx.query("SELECT 1 FROM api_keys LIMIT 1", [&](const Row&) { found = true; });
  return found;
}

}  // namespace holdpoint::key_store
