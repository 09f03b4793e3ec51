#include "flow/keys.h"

#include "base/log.h"
#include "domain/bad_request.h"
#include "domain/text.h"
#include "flow/audit.h"
#include "wire/digest.h"
#include "wire/token.h"

namespace holdpoint {

using namespace std::chrono_literals;

Keys::Keys(Database& db, const Clock& clock)
    : db_(db), loop_("hp-keys", clock, [this](Time now) { return run_once(now); }) {}

void Keys::stop() {
  loop_.stop();
  try {
    written_at_ = {};
    run_once(Time::max());
  } catch (const StoreError& e) {
    log(Level::warning, "key_use_not_written", {{"reason", e.what()}});
  }
}

Keys::Made Keys::create(const NewKey& wanted, const Actor& by, Time now) {
  if (is_blank(wanted.name) || count_chars(wanted.name) > 64 || !is_clean_utf8(wanted.name)) {
    throw BadRequest("name", "must have 1 to 64 characters");
  }
  const ApiKey key = ApiKey::make();
  Made made;
  made.text = key.text();
  made.key.id = key.id;
  made.key.name = wanted.name;
  made.key.secret_hash = sha256_hex(key.secret);
  made.key.scopes = read_scopes(wanted.scopes, "scopes");
  made.key.created_at = now;
  if (wanted.lives) made.key.expires_at = now + *wanted.lives;
  db_.write([&](Transaction& tx) {
    key_store::insert(tx, made.key);
    audit::record(tx, by, "key_created", "key:" + key.id,
                  wanted.name + ": " + join(made.key.scopes), now);
  });
  log(Level::info, "key_created",
      {{"key", key.id}, {"name", wanted.name}, {"scopes", join(made.key.scopes)}});
  return made;
}

std::vector<key_store::StoredKey> Keys::list() {
  return db_.read([](Transaction& tx) { return key_store::list(tx); });
}

Keys::Revoked Keys::revoke(const std::string& id, const Actor& by, Time now) {
  const auto outcome = db_.write([&](Transaction& tx) {
    const auto key = key_store::find(tx, id);
    if (!key) return Revoked::unknown;
    if (!key_store::revoke(tx, id, now)) return Revoked::already;
    audit::record(tx, by, "key_revoked", "key:" + id, key->name, now);
    return Revoked::done;
  });
  if (outcome == Revoked::done) log(Level::info, "key_revoked", {{"key", id}});
  return outcome;
}

std::optional<Caller> Keys::authenticate(std::string_view text, const std::string& address,
                                         Time now) {
  const auto given = ApiKey::parse(text);
  if (!given) return std::nullopt;
  const auto key = db_.read([&](Transaction& tx) { return key_store::find(tx, given->id); });
  // Hashed in either case, so that the time does not tell whether the id is known.
  const bool right = equal_in_constant_time(sha256_hex(given->secret),
                                            key ? key->secret_hash : std::string(64, '-'));
  if (!right || !key->is_live(now)) return std::nullopt;
  const bool first = uses_.with([&](Uses& uses) {
    const bool empty = uses.empty();
    uses[key->id] = {now, address};
    return empty;
  });
  if (first) loop_.wake();
  return Caller{Caller::Kind::key, key->name, key->id, key->scopes};
}

std::optional<Time> Keys::run_once(Time now) {
  if (now < written_at_ + 60s) return written_at_ + 60s;
  Uses uses = uses_.with([](Uses& all) { return std::exchange(all, {}); });
  if (uses.empty()) return std::nullopt;
  try {
    db_.write([&](Transaction& tx) {
      for (const auto& [id, use] : uses) key_store::note_use(tx, id, use.at, use.from);
    });
  } catch (const StoreError&) {
    uses_.with([&](Uses& all) { all.merge(uses); });  // Newer ones stay.
    throw;
  }
  written_at_ = now;
  return std::nullopt;
}

}  // namespace holdpoint
