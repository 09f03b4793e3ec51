#include "flow/audit.h"

#include "wire/digest.h"
#include "wire/json_writer.h"

namespace holdpoint::audit {
namespace {

// As JSON, so that no two rows read alike when text moves from one column to the next.
std::string hash_of(const std::string& before, const audit_store::Entry& e) {
  JsonWriter out;
  out.begin_array().value(before).value(e.seq).value(e.at).value(e.actor.name);
  out.value(e.actor.credential).value(e.actor.address).value(e.action).value(e.subject);
  out.value(e.detail).end_array();
  return sha256_hex(out.take());
}

}  // namespace

void record(Transaction& tx, const Actor& actor, std::string_view action, std::string_view subject,
            std::string_view detail, Time now) {
  const audit_store::Entry entry{
      0, to_iso(now), actor, std::string(action), std::string(subject), std::string(detail), ""};
  audit_store::add_pending(tx, new_uuid(now), entry);
}

bool link_pending(Database& db, std::int64_t most, audit_store::Wait wait) {
  return db.write([&](Transaction& tx) {
    auto head = audit_store::lock_head(tx, wait);
    if (!head) return false;
    auto waiting = audit_store::pending(tx, most);
    for (auto& [id, entry] : waiting) {
      entry.seq = head->seq + 1;
      entry.hash = hash_of(head->hash, entry);
      audit_store::link(tx, id, entry);
      *head = {entry.seq, entry.hash};
    }
    if (!waiting.empty()) audit_store::move_head(tx, *head);
    return static_cast<std::int64_t>(waiting.size()) == most;
  });
}

void link_all(Database& db, audit_store::Wait wait) {
  while (db.read([](Transaction& tx) { return audit_store::any_pending(tx); }) &&
         link_pending(db, kLot, wait)) {
  }
}

Verdict verify(Database& db, const std::string& expected) {
  link_all(db, audit_store::Wait::yes);
  return db.read([&](Transaction& tx) {
    Verdict verdict;
    bool met = expected.empty();
    std::string before;
    audit_store::each(tx, [&](const audit_store::Entry& entry) {
      if (!verdict.broken.empty()) return;
      const std::string row = "row " + std::to_string(entry.seq);
      if (entry.seq <= verdict.rows) {
        verdict.broken = row + " does not belong there";
      } else if (entry.seq != verdict.rows + 1) {
        verdict.broken = "row " + std::to_string(verdict.rows + 1) + " is missing";
      } else if (entry.hash != hash_of(before, entry)) {
        verdict.broken = row + " was changed, or the one before it";
      } else {
        before = entry.hash;
        met = met || entry.hash == expected;
        ++verdict.rows;
      }
    });
    verdict.head = audit_store::head(tx);
    if (verdict.broken.empty() &&
        (verdict.head.seq != verdict.rows || verdict.head.hash != before)) {
      verdict.broken = "the last rows are missing: " + std::to_string(verdict.rows) +
                       " are there, the head says " + std::to_string(verdict.head.seq);
    }
    if (verdict.broken.empty() && !met) verdict.broken = "no row has the expected hash";
    return verdict;
  });
}

std::vector<audit_store::Entry> list(Database& db, std::int64_t after, std::int64_t limit) {
  link_all(db, audit_store::Wait::yes);
  return db.read([&](Transaction& tx) {
    std::vector<audit_store::Entry> entries;
    audit_store::each(tx, after, limit,
                      [&](const audit_store::Entry& entry) { entries.push_back(entry); });
    return entries;
  });
}

}  // namespace holdpoint::audit
