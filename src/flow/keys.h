#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/loop.h"
#include "store/key_store.h"

namespace holdpoint {

// API keys: made, listed, revoked, and recognised.
class Keys {
 public:
  Keys(Database& db, const Clock& clock);
  ~Keys() { stop(); }
  void start() { loop_.start(); }
  // Writes down the uses that are not on disk yet.
  void stop();

  struct NewKey {
    std::string name;
    std::vector<std::string> scopes;
    std::optional<Duration> lives;  // Nothing: until it is revoked.
  };
  struct Made {
    std::string text;  // `hp_<id>_<secret>`: shown this once.
    key_store::StoredKey key;
  };
  // Throws BadRequest for a name or scopes that break a rule.
  Made create(const NewKey& wanted, const Actor& by, Time now);
  std::vector<key_store::StoredKey> list();
  enum class Revoked { done, already, unknown };
  Revoked revoke(const std::string& id, const Actor& by, Time now);

  // The caller whose key `text` is; nothing if it is unknown, wrong, expired or revoked. Its use is
  // remembered, and written down within a minute.
  std::optional<Caller> authenticate(std::string_view text, const std::string& address, Time now);

  // Writes down uses; for tests and the loop.
  std::optional<Time> run_once(Time now);

 private:
  struct Use {
    Time at;
    std::string from;
  };
  using Uses = std::map<std::string, Use>;

  Database& db_;
  Guarded<Uses> uses_;
  Time written_at_{};
  Loop loop_;
};

}  // namespace holdpoint
