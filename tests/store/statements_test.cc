#include <doctest/doctest.h>

#include "store/audit_store.h"
#include "store/commit_marks.h"
#include "store/key_store.h"
#include "store/link_store.h"
#include "store/mail_store.h"
#include "store/node_store.h"
#include "store/receipt_store.h"
#include "store/secret_store.h"
#include "store/user_store.h"
#include "tests/store/fresh_database.h"
#include "tests/support/test_postgres.h"

using namespace holdpoint;
using namespace holdpoint::test;

// Each function of each store runs here once with each of its statements, so that no text is one
// that only one of the engines can read. What they do is for other tests.

namespace {

const Time kLater = kNow + 60s;

SessionId insert_session(Transaction& tx, SessionStatus status = SessionStatus::running) {
  session_store::NewSession session;
  session.id = SessionId::make(kNow);
  session.agent_name = "poet";
  session.status = status;
  session.payload = "{}";
  CHECK(session_store::insert(tx, session, kNow));
  return session.id;
}

Question insert_question(Transaction& tx, const SessionId& session) {
  Question question;
  question.id = QuestionId::make(kNow);
  question.session_id = session;
  question.agent_name = "poet";
  question.ask = 1;
  question.spec.question = "What style?";
  question.created_at = kNow;
  question.deadline_at = kLater;
  question_store::insert(tx, question);
  return question;
}

Delivery insert_delivery(Transaction& tx, const SessionId& session) {
  Delivery delivery;
  delivery.id = DeliveryId::make(kNow);
  delivery.session_id = session;
  delivery.agent_name = "poet";
  delivery.channel = "url";
  delivery.event = "session_completed";
  delivery.destination = "http://h/";
  delivery.host = "h:80";
  delivery.body = "{}";
  delivery.next_attempt_at = delivery.created_at = kNow;
  delivery_store::insert(tx, delivery);
  return delivery;
}

}  // namespace

TEST_CASE("every statement on sessions runs on this engine") {
  using namespace session_store;
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    const auto id = insert_session(tx);
    lock(tx, id);
    CHECK(lock_if_free(tx, id));
    CHECK(find(tx, id));
    CHECK_FALSE(find_by_key(tx, "poet", "key"));
    CHECK(list(tx, {}).size() == 1);
    CHECK(list(tx, {SessionStatus::running, "poet", "", 5}).size() == 1);
    CHECK(count_by_status(tx).size() == 1);
    int newest = 0;
    each_newest(tx, 5, [&](const Brief& row) { newest += row.agent_name == "poet"; });
    CHECK(newest == 1);
    CHECK(next_due(tx) == kNow);
    CHECK(count_due(tx, kNow) == 1);
    add_message(tx, id, MessageId::make(kNow), "1", kNow);
    CHECK(waiting_messages(tx, id).chars == 1);
    CHECK(find_record(tx, id, 10, 10)->messages.size() == 1);
    const auto claim_one = [&](Time now) { return claim(tx, "node", now, now + 30s, 1).at(0); };
    auto turn = claim_one(kNow);
    CHECK(turn.messages.size() == 1);
    CHECK(extend(tx, turn.lease, kNow + 40s) == Commit::done);
    CHECK(release(tx, turn.lease, kNow, true, kNow) == Commit::done);
    turn = claim_one(kNow);
    CHECK(advance(tx, turn.lease, {TurnReason::carry_on, "1", "2", true}, kNow) == Commit::done);
    turn = claim_one(kNow);
    CHECK(reclaim(tx, kNow) == 1);
    turn = claim_one(kNow);
    CHECK(park(tx, turn.lease, 1, "{}", kNow) == Commit::done);
    CHECK(resume(tx, id, TurnReason::answer, "{}", kNow));
    turn = claim_one(kNow);
    CHECK(finish(tx, turn.lease, SessionStatus::failed, std::nullopt, "no", kNow) == Commit::done);
    CHECK(retry(tx, id, kNow));
    CHECK(cancel_running(tx, id, "enough", kNow));
    const auto parked = insert_session(tx, SessionStatus::pending_input);
    CHECK(end_parked(tx, parked,
                     {SessionStatus::completed, TurnReason::answer, "{}", "1", std::nullopt, "{}"},
                     kNow));
    CHECK(find_state(tx, parked) == "{}");
    CHECK(remove_finished(tx, kLater, 10) == 2);
  });
}

TEST_CASE("every statement on sub-sessions and steps runs on this engine") {
  using namespace session_store;
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    const auto parent = insert_session(tx);
    const auto turn = claim(tx, "node", kNow, kNow + 30s, 1).at(0);
    CHECK(checkpoint(tx, turn.lease, "{}", {1, 10, 5, 2, std::nullopt}, kNow) == Commit::done);
    CHECK(checkpoint(tx, turn.lease, "{}", {1, 10, 5, 2, 70}, kNow) == Commit::done);
    CHECK(find(tx, parent)->spent.cost_micros == 70);
    CHECK(checkpoint(tx, turn.lease, "{}", {1, 10, 5, 2, 30}, kNow) == Commit::done);
    CHECK(find(tx, parent)->spent.cost_micros == 100);
    CHECK(find(tx, parent)->spent.input_tokens == 30);
    CHECK(checkpoint(tx, {parent, 99}, "[]", {}, kNow) == Commit::lease_lost);
    NewSession child;
    child.id = SessionId::make(kNow);
    child.agent_name = "poet";
    child.payload = "{}";
    child.parent_id = parent;
    child.spawned_by = turn.turn;
    child.spawn_call = "toolu_1";
    CHECK(insert(tx, child, kNow));
    CHECK_FALSE(awaits_agents(tx, parent, turn.turn));  // It still runs.
    CHECK(wait_for_agents(tx, turn.lease, "{\"a\":1}", kNow) == Commit::done);
    CHECK_FALSE(awaits_agents(tx, parent, turn.turn));  // So does the child.
    CHECK(find_spawned(tx, child.id)->parent_id == parent);
    CHECK_FALSE(find_spawned(tx, parent));
    CHECK(cancel_running(tx, child.id, "enough", kNow));
    CHECK(spawned_by(tx, parent, turn.turn).size() == 1);
    CHECK(remove_finished(tx, kLater, 10) == 0);  // Its parent has not got its result yet.
    CHECK(awaits_agents(tx, parent, turn.turn));
    resume_parent(tx, parent, "{}", kNow);
    CHECK_FALSE(awaits_agents(tx, parent, turn.turn));
    CHECK(claim(tx, "node", kNow, kNow + 30s, 1).at(0).reason == TurnReason::agents);
  });
}

TEST_CASE("every statement on questions and links runs on this engine") {
  using namespace question_store;
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    const auto session = insert_session(tx);
    const auto question = insert_question(tx, session);
    CHECK(find(tx, question.id));
    CHECK(latest_ask(tx, session).size() == 1);
    CHECK(of_ask(tx, session, question.ask).size() == 1);
    CHECK(of_ask(tx, session, question.ask + 1).empty());
    CHECK(pending_of(tx, session).size() == 1);
    CHECK(list(tx, {}).size() == 1);
    CHECK(list(tx, {QuestionStatus::pending, "poet", std::nullopt, "", 5}).size() == 1);
    CHECK(list(tx, {QuestionStatus::pending, "poet", session, "", 5}).size() == 1);
    CHECK(list_urgent(tx, {}, {}).size() == 1);
    CHECK(count_by_status(tx).size() == 1);
    CHECK(overdue(tx, kLater, 10).size() == 1);
    CHECK(next_deadline(tx) == kLater);
    link_store::insert(tx, {"t", question.id, session, "link", "ana", kNow});
    CHECK(link_store::find(tx, "t"));
    CHECK(settle(tx, question.id, {QuestionStatus::answered, Choice{{"a"}, "b"}, "ana", "test"},
                 kNow));
    CHECK_FALSE(settle(tx, question.id, {}, kNow));
    int answered = 0;
    each_answered(tx, 5, [&](const AnsweredBrief& row) { answered += row.agent_name == "poet"; });
    CHECK(answered == 1);
  });
}

TEST_CASE("every statement on deliveries and events runs on this engine") {
  using namespace delivery_store;
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    const auto session = insert_session(tx);
    const auto delivery = insert_delivery(tx, session);
    insert_delivery(tx, session);
    CHECK(find(tx, delivery.id));
    CHECK(list(tx, {}).size() == 2);
    CHECK(list(tx, {DeliveryStatus::pending, std::nullopt, "", 5}).size() == 2);
    CHECK(list(tx, {DeliveryStatus::pending, session, "", 5}).size() == 2);
    CHECK(count_by_status(tx).size() == 1);
    int newest = 0;
    each_newest(tx, 5, [&](const Brief& row) { newest += row.channel == "url"; });
    CHECK(newest == 2);
    CHECK(owed_hosts(tx).at(0).next_attempt_at == kNow);
    const auto claimed = claim(tx, "h:80", kNow, kLater, 10);
    REQUIRE(claimed.size() == 2);
    release(tx, claimed[0], kNow);
    reclaim(tx, kNow);
    CHECK(record(tx, claimed[0], {DeliveryStatus::delivered, {}, 200, {}, {}}, kNow));
    CHECK(redeliver(tx, claimed[0].id, kNow));
    CHECK(posts_about(tx, insert_question(tx, session)).empty());
    CHECK(following(tx, claimed[0].id, "question_settled").empty());
    CHECK(ban(tx, "http://h/", "gone", kNow));
    CHECK_FALSE(ban(tx, "http://h/", "gone", kNow));
    CHECK(kill_owed(tx, "http://h/", "gone").size() == 2);
    CHECK(is_disabled(tx, "http://h/"));
    enable(tx, "http://h/");
    CHECK_FALSE(is_disabled(tx, "http://h/"));
    event_store::append(tx, session, "t", kNow, "{}");
    CHECK(event_store::after(tx, 0, 10).size() == 1);
    CHECK(event_store::after(tx, session, 0, 10).size() == 1);
    CHECK(event_store::last_seq(tx) == 1);
  });
}

TEST_CASE("every statement on keys, users, receipts and secrets runs on this engine") {
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    key_store::insert(tx, {"k", "ci", "h", {"admin"}, kNow, kLater, {}, {}, {}});
    CHECK(key_store::find(tx, "k"));
    CHECK(key_store::list(tx).size() == 1);
    key_store::note_use(tx, "k", kNow, "1.2.3.4");
    CHECK(key_store::revoke(tx, "k", kNow));
    CHECK(key_store::any(tx));
    CHECK(mail_store::receive(tx, "m", kNow));
    CHECK_FALSE(mail_store::receive(tx, "m", kNow));
    mail_store::remove_older(tx, kLater);
    CHECK(mail_store::receive(tx, "m", kNow));

    CHECK(user_store::insert(tx, {"ana", Role::admin, "h", kNow, {}, {}}));
    user_store::lock(tx, "ana");
    CHECK(user_store::find(tx, "ana"));
    CHECK(user_store::list(tx).size() == 1);
    CHECK(user_store::set_password(tx, "ana", "h2"));
    CHECK(user_store::set_role(tx, "ana", Role::viewer));
    CHECK(user_store::any(tx));
    user_store::insert_login(tx, "t", "ana", kNow, kLater);
    CHECK(user_store::find_by_login(tx, "t", kNow));
    CHECK(user_store::remove_login(tx, "t"));
    CHECK(user_store::remove_expired_logins(tx, kLater) == 0);
    CHECK(user_store::remove(tx, "ana", kNow));

    const receipt_store::Receipt receipt{"poet", "s", "w", "b"};
    CHECK(receipt_store::insert(tx, receipt, kNow));
    CHECK_FALSE(receipt_store::has_other_body(tx, receipt));
    CHECK(receipt_store::remove_older(tx, kLater) == 1);
    CHECK(secret_store::find_or_insert(tx, "n", "v") == "v");
  });
}

TEST_CASE("every statement on the audit log and on commit marks runs on this engine") {
  using namespace audit_store;
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    const Entry entry{1, to_iso(kNow), {"ana", "user:ana", "here"}, "did", "x", "", "hash"};
    add_pending(tx, "1", entry);
    CHECK(any_pending(tx));
    CHECK(lock_head(tx, audit_store::Wait::yes));
    CHECK(lock_head(tx, audit_store::Wait::no));
    CHECK(pending(tx, 10).size() == 1);
    link(tx, "1", entry);
    move_head(tx, {1, "hash"});
    CHECK(head(tx).seq == 1);
    int rows = 0;
    each(tx, [&](const Entry&) { ++rows; });
    each(tx, 0, 10, [&](const Entry&) { ++rows; });
    CHECK(rows == 2);

    commit_marks::insert(tx, "c", kNow);
    CHECK(commit_marks::close(tx, "c") == 0);
    commit_marks::remove_older(tx, kLater);
  });
}

TEST_CASE("every statement on nodes runs on this engine") {
  using namespace node_store;
  FreshDatabase fresh;
  fresh.write([](Transaction& tx) {
    put(tx, {"n", "h", "a", "v", kNow, kNow});
    CHECK(list(tx).size() == 1);
    remove_unseen(tx, kNow);
    remove_all_but(tx, "n");
    CHECK(list(tx).size() == 1);
    remove(tx, "n");
    CHECK(list(tx).empty());
  });
}

TEST_CASE("transactions are numbered where several processes share the database") {
  if (!test_postgres()) return;
  FreshDatabase fresh;
  const auto own = [&] {
    return fresh.write([](Transaction& tx) { return event_store::this_transaction(tx); });
  };
  const auto first = own();
  CHECK(own() > first);
  CHECK(fresh.read([](Transaction& tx) { return event_store::oldest_transaction(tx); }) > 0);
  fresh.write([&](Transaction& tx) {
    const auto open = event_store::this_transaction(tx);
    const auto oldest =
        fresh.read([](Transaction& other) { return event_store::oldest_transaction(other); });
    CHECK(oldest <= open);
  });
}
