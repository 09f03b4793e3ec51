#include "store/user_store.h"

namespace holdpoint::user_store {
namespace {

#define USER_COLUMNS "u.name, u.role, u.password_hash, u.created_at, u.removed_at, u.last_login_at"

StoredUser read_user(const Row& row) {
  StoredUser user;
  user.name = row.string(0);
  user.role = role_from(row.text(1)).value();
  user.password_hash = row.optional_string(2).value_or("");
  user.created_at = row.time(3);
  user.removed_at = row.optional_time(4);
  user.last_login_at = row.optional_time(5);
  return user;
}

void remove_logins(Transaction& tx, const std::string& name) {
  tx.post("DELETE FROM logins WHERE user_name = $1", name);
}

}  // namespace

bool insert(Transaction& tx, const StoredUser& user) {
  const auto hash = user.password_hash.empty() ? std::nullopt : std::optional(user.password_hash);
  return tx.execute(
             "INSERT INTO users (name, role, password_hash, created_at) VALUES ($1, $2, $3, $4) "
             "ON CONFLICT (name) DO UPDATE SET role = $2, password_hash = $3, created_at = $4, "
             "removed_at = NULL, last_login_at = NULL WHERE users.removed_at IS NOT NULL",
             user.name, to_text(user.role), hash, user.created_at) == 1;
}

void lock(Transaction& tx, const std::string& name) {
  tx.lock("SELECT 1 FROM users WHERE name = $1 FOR UPDATE", name);
}

std::optional<StoredUser> find(Transaction& tx, const std::string& name) {
  std::optional<StoredUser> found;
  tx.query(
      "SELECT " USER_COLUMNS " FROM users u WHERE u.name = $1 AND u.removed_at IS NULL",
      [&](const Row& row) { found = read_user(row); }, name);
  return found;
}

std::vector<StoredUser> list(Transaction& tx) {
  std::vector<StoredUser> users;
  tx.query("SELECT " USER_COLUMNS " FROM users u WHERE u.removed_at IS NULL ORDER BY u.name",
           [&](const Row& row) { users.push_back(read_user(row)); });
  return users;
}

bool remove(Transaction& tx, const std::string& name, Time now) {
  lock(tx, name);
  remove_logins(tx, name);
  return tx.execute("UPDATE users SET removed_at = $2 WHERE name = $1 AND removed_at IS NULL", name,
                    now) == 1;
}

bool set_password(Transaction& tx, const std::string& name, const std::string& hash) {
  lock(tx, name);
  remove_logins(tx, name);
  return tx.execute("UPDATE users SET password_hash = $2 WHERE name = $1 AND removed_at IS NULL",
                    name, hash) == 1;
}

bool set_role(Transaction& tx, const std::string& name, Role role) {
  return tx.execute("UPDATE users SET role = $2 WHERE name = $1 AND removed_at IS NULL", name,
                    to_text(role)) == 1;
}

bool any(Transaction& tx) {
  bool found = false;
  tx.query("SELECT 1 FROM users LIMIT 1", [&](const Row&) { found = true; });
  return found;
}

void insert_login(Transaction& tx, const std::string& token_hash, const std::string& name, Time now,
                  Time expires_at) {
  tx.post(
      "INSERT INTO logins (token_hash, user_name, created_at, expires_at) VALUES ($1, $2, $3, $4)",
      token_hash, name, now, expires_at);
  tx.post("UPDATE users SET last_login_at = $2 WHERE name = $1", name, now);
}

std::optional<StoredUser> find_by_login(Transaction& tx, const std::string& token_hash, Time now) {
  std::optional<StoredUser> found;
  tx.query(
      "SELECT " USER_COLUMNS
      " FROM logins l JOIN users u ON u.name = l.user_name WHERE l.token_hash = $1 AND "
      "l.expires_at > $2 AND u.removed_at IS NULL",
      [&](const Row& row) { found = read_user(row); }, token_hash, now);
  return found;
}

bool remove_login(Transaction& tx, const std::string& token_hash) {
  return tx.execute("DELETE FROM logins WHERE token_hash = $1", token_hash) == 1;
}

std::int64_t remove_expired_logins(Transaction& tx, Time now) {
  return tx.execute("DELETE FROM logins WHERE expires_at <= $1", now);
}

}  // namespace holdpoint::user_store
