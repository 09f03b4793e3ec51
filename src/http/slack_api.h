#pragma once

#include <vector>

#include "base/secret.h"
#include "flow/slack_desk.h"
#include "http/router.h"

namespace holdpoint {

// POST /slack/interactions: what people do to our messages, as Slack's servers tell us, signed with
// one of `signing_secrets`. The response is the acknowledgement that Slack waits 3 s for.
Response slack_interaction(SlackDesk& desk, const std::vector<Secret>& signing_secrets,
                           const Request& request, Time now);

}  // namespace holdpoint
