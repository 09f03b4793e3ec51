#pragma once

#include <vector>

#include "base/secret.h"
#include "flow/replies.h"
#include "flow/unsubscribe.h"
#include "http/router.h"

namespace holdpoint {

// POST /email/inbound: a mail that a provider took for us. Its route has `any_type` and checks the
// caller itself: 401 unless one of `secrets` is the bearer token or the Basic password, or signed
// the call as Standard Webhooks or Mailgun do.
Response email_inbound(Replies& replies, const std::vector<Secret>& secrets, const Request& request,
                       Time now);

// GET and POST /email/unsubscribe?token=…: a page that asks, for whoever opens a link, be it a
// scanner; and what its button, or a mail program's (RFC 8058), does. Routes of theirs check
// nothing but the token: `own_check()`, `page`, `takes_form` and `any_type`, as mail programs post
// either kind of form.
Response unsubscribe_page(Unsubscribe& unsubscribe, const Request& request);
Response unsubscribe(Unsubscribe& unsubscribe, const Request& request, Time now);

}  // namespace holdpoint
