#include "flow/unsubscribe.h"

#include "flow/audit.h"
#include "store/delivery_store.h"
#include "store/session_store.h"

namespace holdpoint {

std::optional<Delivery> Unsubscribe::find(const std::string& token) {
  const auto id = tokens_.read(token);
  if (!id) return std::nullopt;
  auto mail = db_.read([&](Transaction& tx) { return delivery_store::find(tx, *id); });
  if (!mail || mail->channel != "email") return std::nullopt;
  return mail;
}

void Unsubscribe::stop(const Delivery& mail, const std::string& address, Time now) {
  const std::string reason = "the recipient unsubscribed";
  const Story told = db_.write([&](Transaction& tx) {
    Story story;
    // Before any other row, as the courier does it.
    if (!delivery_store::ban(tx, mail.destination, reason, now)) return story;
    session_store::lock(tx, mail.session_id);
    story.add(tx, events::destination_disabled(mail.session_id, mail.host, reason), now);
    for (const auto& [id, session] : delivery_store::kill_owed(tx, mail.destination, reason)) {
      story.add(tx, events::delivery_dead(id, session, reason), now);
    }
    audit::record(tx, {mail.destination, "mail:" + mail.id.text(), address}, "unsubscribed",
                  "destination:" + mail.destination, "", now);
    return story;
  });
  journal_.announce(told);
}

}  // namespace holdpoint
