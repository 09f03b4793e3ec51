#include "domain/delivery.h"

namespace holdpoint {

std::string_view to_text(DeliveryStatus status) {
  switch (status) {
    case DeliveryStatus::pending:
      return "pending";
    case DeliveryStatus::delivered:
      return "delivered";
    case DeliveryStatus::dead:
      return "dead";
    case DeliveryStatus::obsolete:
      return "obsolete";
  }
  return "";
}

std::optional<DeliveryStatus> delivery_status_from(std::string_view text) {
  for (const auto status : kDeliveryStatuses) {
    if (to_text(status) == text) return status;
  }
  return std::nullopt;
}

bool can_be_edited(std::string_view channel) { return channel == "slack" || channel == "discord"; }

std::string_view platform_behind(std::string_view channel) {
  return channel == "slack-webhook" ? "slack" : channel;
}

std::string token_mark(const DeliveryId& id) { return "{{token:" + id.text() + "}}"; }

}  // namespace holdpoint
