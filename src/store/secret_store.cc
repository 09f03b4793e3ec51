#include "store/secret_store.h"

namespace holdpoint::secret_store {

std::string find_or_insert(Transaction& tx, const std::string& name, const std::string& fresh) {
  tx.execute("INSERT INTO server_secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
             name, fresh);
  std::string value;
  tx.query(
      "SELECT value FROM server_secrets WHERE name = $1",
      [&](const Row& row) { value = row.string(0); }, name);
  return value;
}

}  // namespace holdpoint::secret_store
