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
  const auto head = audit_store::head(tx);
  audit_store::Entry entry{head.seq + 1,         to_iso(now),         actor, std::string(action),
                           std::string(subject), std::string(detail), ""};
  entry.hash = hash_of(head.hash, entry);
  audit_store::append(tx, entry);
}

Verdict verify(Database& db, const std::string& expected) {
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
  return db.read([&](Transaction& tx) {
    std::vector<audit_store::Entry> entries;
    audit_store::each(tx, after, limit,
                      [&](const audit_store::Entry& entry) { entries.push_back(entry); });
    return entries;
  });
}

}  // namespace holdpoint::audit
