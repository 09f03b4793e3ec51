#include "flow/credentials.h"

#include <algorithm>

#include "store/key_store.h"
#include "store/user_store.h"

namespace holdpoint {

bool Credentials::ever(Time now) {
  if (ever_) return true;
  const std::int64_t millis = now.time_since_epoch().count();
  if (millis - looked_at_ < 1000 && millis >= looked_at_) return false;
  ever_ = db_.read([](Transaction& tx) { return key_store::any(tx) || user_store::any(tx); });
  looked_at_ = millis;
  return ever_;
}

bool Credentials::live(Time now) {
  return db_.read([&](Transaction& tx) {
    const auto keys = key_store::list(tx);
    return !user_store::list(tx).empty() ||
           std::any_of(keys.begin(), keys.end(),
                       [&](const key_store::StoredKey& key) { return key.is_live(now); });
  });
}

}  // namespace holdpoint
