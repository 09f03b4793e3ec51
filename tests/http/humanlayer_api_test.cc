#include <doctest/doctest.h>

#include "tests/http/site.h"

using namespace holdpoint;
using namespace holdpoint::test;

namespace {

const std::string kBase = "/humanlayer/v1";

// A server that wants keys, with one that may ask, one that may answer and one that may look.
struct Desk {
  Site site;
  std::string asks = site.key({"questions:ask"});
  std::string answers = site.key({"questions:answer"});
  std::string reads = site.key({"questions:read"});

  Response send(const std::string& key, Call call) {
    return site.send(call.with("Authorization", key));
  }
  Response make(const std::string& call_id, const std::string& spec,
                const std::string& path = "/function_calls") {
    return send(asks,
                post(kBase + path)
                    .json(R"({"run_id":"r","call_id":")" + call_id + R"(","spec":)" + spec + "}"));
  }
  Json look(const std::string& path) {
    const Response response = send(asks, get(kBase + path));
    CHECK(response.status == 200);
    return Json::parse(response.body);
  }
  Response respond(const std::string& path, const std::string& body) {
    return send(answers, post(kBase + "/agent" + path + "/respond").json(body));
  }
  SessionId session(const std::string& key) {
    return site.world.process().views.session_of_key(kHumanLayerAgent, key).value();
  }
};

Json error_of(const Response& response) { return Json::parse(response.body)["error"]; }

}  // namespace

TEST_CASE("a call is made once, and found again under its own id alone") {
  Desk desk;
  const Response first = desk.make("c-1", R"({"fn":"f","kwargs":{"a":1}})");
  CHECK(first.status == 201);
  const Response again = desk.make("c-1", R"({"fn":"f","kwargs":{"a":1}})");
  CHECK(again.status == 200);
  CHECK(again.body == first.body);
  CHECK(desk.site.count("agent_questions") == 1);
  CHECK(desk.look("/function_calls/c-1").dump() == Json::parse(first.body).dump());
  CHECK(desk.send(desk.asks, get(kBase + "/contact_requests/c-1")).status == 404);
  CHECK(error_of(desk.send(desk.asks, get(kBase + "/function_calls/c-2")))["code"] ==
        "unknown_call");
}

TEST_CASE("an id that stands for another question is refused: its answer was not for this one") {
  Desk desk;
  desk.make("c-1", R"({"fn":"delete","kwargs":{"id":1}})");
  const Response other = desk.make("c-1", R"({"fn":"delete","kwargs":{"id":2}})");
  CHECK(other.status == 409);
  CHECK(error_of(other)["code"] == "call_id_taken");
  CHECK(error_of(other)["field"] == "call_id");
  CHECK(desk.site.count("agent_questions") == 1);
}

TEST_CASE("an ask of another kind under a call's key is not taken for the call") {
  Desk desk;
  CHECK(
      desk.send(
              desk.asks,
              post("/agent/ask")
                  .json(
                      R"({"agent":"humanlayer","idempotency_key":"function_call:c-1","questions":[{"question":"Approve?"}]})"))
          .status == 202);
  CHECK(desk.send(desk.asks, get(kBase + "/function_calls/c-1")).status == 404);
  CHECK(desk.make("c-1", R"({"fn":"f"})").status == 409);
  CHECK(Json::parse(desk.send(desk.reads, get(kBase + "/agent/function_calls/pending")).body)
            .empty());
}

TEST_CASE("a response counts once: the same again is fine, another is told what counted") {
  Desk desk;
  desk.make("c-1", R"({"fn":"f","reject_options":[{"name":"risky","title":"Too risky"}]})");
  const std::string no = R"({"approved":false,"comment":"not now","reject_option_name":"risky"})";
  const Response first = desk.respond("/function_calls/c-1", no);
  CHECK(first.status == 200);
  const Json status = Json::parse(first.body)["status"];
  CHECK(status["approved"] == false);
  CHECK(status["comment"] == "not now");
  CHECK(status["reject_option_name"] == "risky");
  CHECK(status["user_info"]["name"] == "ci");
  CHECK(desk.respond("/function_calls/c-1", no).body == first.body);
  const Response other = desk.respond("/function_calls/c-1", R"({"approved":true})");
  CHECK(other.status == 409);
  CHECK(Json::parse(other.body)["answer"] == "Too risky: not now");
  CHECK(desk.look("/function_calls/c-1")["status"] == status);
  CHECK(desk.respond("/function_calls/c-2", no).status == 404);
  CHECK(desk.respond("/human_contacts/c-1", R"({"response":"x"})").status == 404);
}

TEST_CASE("what asks may not answer, and what answers may not ask") {
  Desk desk;
  desk.make("c-1", R"({"fn":"f"})");
  const auto status = [&](const std::string& key, Call call) {
    return desk.send(key, call).status;
  };
  const Call yes = post(kBase + "/agent/function_calls/c-1/respond").json(R"({"approved":true})");
  CHECK(status(desk.asks, yes) == 403);
  CHECK(status(desk.reads, yes) == 403);
  CHECK(status(desk.answers, get(kBase + "/function_calls/c-1")) == 403);
  CHECK(status(desk.asks, get(kBase + "/agent/function_calls/pending")) == 403);
  CHECK(desk.site.send(get(kBase + "/function_calls/c-1")).status == 401);
  CHECK(desk.look("/function_calls/c-1")["status"]["approved"].is_null());
}

TEST_CASE(
    "an answer over the API decides a call, and one that is too long is blamed on the comment") {
  Desk desk;
  desk.make("c-1", R"({"fn":"f"})");
  desk.make("h-1", R"({"msg":"When?"})", "/human_contacts");
  const auto answer = [&](const std::string& key, const std::string& text) {
    return desk
        .send(desk.answers, post("/agent/answer/" + desk.session(key).text())
                                .json(R"({"answer":")" + text + R"("})"))
        .status;
  };
  const Response too_long = desk.respond(
      "/function_calls/c-1", R"({"approved":true,"comment":")" + std::string(10000, 'x') + R"("})");
  CHECK(too_long.status == 422);
  CHECK(error_of(too_long)["field"] == "comment");
  CHECK(answer("function_call:c-1", "Approve: go") == 200);
  CHECK(answer("human_contact:h-1", "Monday") == 200);
  CHECK(desk.look("/function_calls/c-1")["status"]["comment"] == "go");
  CHECK(desk.look("/contact_requests/h-1")["status"]["response"] == "Monday");
  CHECK(desk.look("/human_contacts/h-1")["status"]["response"] == "Monday");
}

TEST_CASE("a call that nobody answers in time ends as a rejection, and takes no answer any more") {
  Desk desk;
  desk.make("c-1", R"({"fn":"f"})");
  desk.make("h-1", R"({"msg":"When?"})", "/contact_requests");
  desk.site.world.clock.advance(std::chrono::hours{2});
  desk.site.world.process().expiry.run_once(desk.site.world.now());
  const Json status = desk.look("/function_calls/c-1")["status"];
  CHECK(status["approved"] == false);
  CHECK(status["comment"].get<std::string>().starts_with("Nobody answered in time"));
  CHECK_FALSE(status["responded_at"].is_null());
  CHECK(desk.look("/contact_requests/h-1")["status"]["response"].get<std::string>().starts_with(
      "Nobody answered in time"));
  CHECK(desk.respond("/function_calls/c-1", R"({"approved":true})").status == 404);
}

TEST_CASE("a call that is cancelled says so") {
  Desk desk;
  desk.make("c-1", R"({"fn":"f"})");
  CHECK(desk.send(desk.asks,
                  post("/agent/session/" + desk.session("function_call:c-1").text() + "/cancel")
                      .json("{}"))
            .status == 200);
  const Json status = desk.look("/function_calls/c-1")["status"];
  CHECK(status["approved"] == false);
  CHECK(status["comment"].get<std::string>().starts_with(
      "Nobody answered: the question was cancelled"));
}

TEST_CASE("what waits is listed by kind, without what is settled") {
  Desk desk;
  for (const char* id : {"c-1", "c-2", "c-3"}) desk.make(id, R"({"fn":"f"})");
  desk.make("h-1", R"({"msg":"When?"})", "/contact_requests");
  desk.respond("/function_calls/c-2", R"({"approved":true})");
  const auto ids = [&](const std::string& kind) {
    std::vector<std::string> all;
    for (const auto& call :
         Json::parse(desk.send(desk.reads, get(kBase + "/agent/" + kind + "/pending")).body)) {
      all.push_back(call["call_id"]);
    }
    return all;
  };
  CHECK(ids("function_calls") == std::vector<std::string>{"c-3", "c-1"});
  CHECK(ids("human_contacts") == std::vector<std::string>{"h-1"});
}

TEST_CASE("a channel that is not set up is blamed on the call's own member") {
  Desk desk;
  const Response slack =
      desk.make("c-1", R"({"fn":"f","channel":{"slack":{"channel_or_user_id":"C1"}}})");
  CHECK(slack.status == 422);
  CHECK(error_of(slack)["field"] == "spec.channel.slack.channel_or_user_id");
  CHECK(error_of(slack)["message"].get<std::string>().find("[slack] bot_token") !=
        std::string::npos);
  const Response email = desk.make("c-1", R"({"fn":"f","channel":{"email":{"address":"a@b.c"}}})");
  CHECK(error_of(email)["field"] == "spec.channel.email.address");
  CHECK(desk.site.count("agent_questions") == 0);
}

TEST_CASE("escalating is not offered, and says so") {
  Desk desk;
  const Response response = desk.send(
      desk.asks,
      post(kBase + "/agent/function_calls/c-1/escalate_email").json(R"({"escalation_msg":"x"})"));
  CHECK(response.status == 501);
  CHECK(error_of(response)["code"] == "not_offered");
}
