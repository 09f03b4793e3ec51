#include "flow/events.h"

#include <doctest/doctest.h>

using namespace holdpoint;

TEST_CASE("every event that can happen is of a type that can be asked for") {
  const SessionId s("s");
  const Question q;
  const Delivery d;
  for (const auto& event : {events::session_started(s, "a", {}),
                            events::trigger_repeated(s, "a"),
                            events::ask_joined(s, "a"),
                            events::card_posted(s, "a", {"slack"}),
                            events::turn_started(s, 1, 1, TurnReason::start),
                            events::turn_failed(s, 1, 1, "", {}),
                            events::turn_continued(s, 1),
                            events::turn_released(s, 1),
                            events::turn_discarded(s, 1, 1),
                            events::result_deferred(s, 1, 1),
                            events::agent_output(s, 1, ""),
                            events::question_asked(q),
                            events::ask_refused(s, 1, ""),
                            events::question_answered(q),
                            events::question_expired(q),
                            events::question_cancelled(q),
                            events::session_resumed(s, TurnReason::answer),
                            events::session_completed(s),
                            events::session_failed(s, ""),
                            events::session_cancelled(s, ""),
                            events::session_retried(s, 1),
                            events::message_queued(s, MessageId("m")),
                            events::delivery_sent(d, {}),
                            events::delivery_failed(d, "", {}),
                            events::delivery_dead(d.id, s, ""),
                            events::delivery_obsolete(d),
                            events::delivery_requeued(d),
                            events::destination_disabled(s, "", ""),
                            events::reply_ignored(d, ""),
                            events::reply_refused(d, ""),
                            events::reply_unclear(d, true),
                            events::mail_bounced(d, "")}) {
    CAPTURE(event.type);
    CHECK(events::is_type(event.type));
  }
  for (const char* wrong : {"", "question", "Question_asked", "question_asked "}) {
    CHECK_FALSE(events::is_type(wrong));
  }
}
