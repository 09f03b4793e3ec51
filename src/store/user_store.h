#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/access.h"
#include "store/database.h"

// The rows of users and logins. Each function is one step of the caller's transaction.
namespace holdpoint::user_store {

struct StoredUser {
  std::string name;
  Role role = Role::viewer;
  std::string password_hash;  // Empty: comes through a trusted proxy only.
  Time created_at;
  std::optional<Time> removed_at;
  std::optional<Time> last_login_at;
};

// A name that was removed may come back. False if it is there.
[[nodiscard]] bool insert(Transaction& tx, const StoredUser& user);
// Removed ones are not found.
// Who logs somebody in, or out for good, has the user to itself first: no login may outlive the
// password it was made with.
void lock(Transaction& tx, const std::string& name);
std::optional<StoredUser> find(Transaction& tx, const std::string& name);
std::vector<StoredUser> list(Transaction& tx);
// Both end the user's logins. False if there is no such user.
[[nodiscard]] bool remove(Transaction& tx, const std::string& name, Time now);
[[nodiscard]] bool set_password(Transaction& tx, const std::string& name, const std::string& hash);
[[nodiscard]] bool set_role(Transaction& tx, const std::string& name, Role role);
// Whether there has ever been one.
bool any(Transaction& tx);

void insert_login(Transaction& tx, const std::string& token_hash, const std::string& name, Time now,
                  Time expires_at);
// Whose login it is; nothing once it has expired or its user is gone.
std::optional<StoredUser> find_by_login(Transaction& tx, const std::string& token_hash, Time now);
bool remove_login(Transaction& tx, const std::string& token_hash);
std::int64_t remove_expired_logins(Transaction& tx, Time now);

}  // namespace holdpoint::user_store
