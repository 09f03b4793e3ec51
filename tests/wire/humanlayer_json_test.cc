#include "wire/humanlayer_json.h"

#include <doctest/doctest.h>

#include "domain/text.h"
#include "tests/domain/complaint.h"
#include "wire/json.h"

namespace holdpoint::humanlayer {
namespace {

using namespace std::chrono_literals;
using test::complaint_of;

const Rules kRules{"humanlayer", {90s, OnTimeout::fail}, {}};

std::string call_with(const std::string& spec, const std::string& call_id = "call-1") {
  return R"({"run_id":"run-1","call_id":")" + call_id + R"(","spec":)" + spec + "}";
}
OutsideAsk approval(const std::string& spec) {
  return parse_call(Kind::function_call, call_with(spec), kRules);
}
OutsideAsk contact(const std::string& spec) {
  return parse_call(Kind::human_contact, call_with(spec), kRules);
}
std::string blamed(Kind kind, const std::string& body) {
  return complaint_of([&] { return parse_call(kind, body, kRules); }).field;
}
std::string blamed(const std::string& spec) { return blamed(Kind::function_call, call_with(spec)); }
std::vector<std::string> labels(const OutsideAsk& outside) {
  std::vector<std::string> all;
  for (const auto& option : outside.ask.questions.at(0).options) all.push_back(option.label);
  return all;
}
using List = std::vector<std::string>;

TEST_CASE(
    "a function call becomes a question that names it, with its arguments, and what it may "
    "choose") {
  const auto outside = approval(
      R"({"fn":"send","kwargs":{"to":"ana","n":12345678901234567890123,"tags":["a"],"who":"Jos\u00e9"},
          "reject_options":[{"name":"risky","title":"Too risky","description":"why"}]})");
  const QuestionSpec& question = outside.ask.questions.at(0);
  CHECK(question.question.starts_with(
      "Approve send?\n\nto: \"ana\"\nn: 12345678901234567890123\ntags: [\n  \"a\"\n]\nwho: "
      "\"José\"\n\n"));
  CHECK(question.header == "Approval");
  CHECK(labels(outside) == List{"Approve", "Reject", "Too risky"});
  CHECK(question.options[2].description == "why");
  CHECK(question.allow_other);
  CHECK(question.style == Style::buttons);
  CHECK(outside.agent_name == "humanlayer");
  CHECK(outside.ask.timeout == 90s);
  CHECK(outside.idempotency_key == "function_call:call-1");
  CHECK_FALSE(outside.dedupe);
  const Json context = read_json(outside.ask.context);
  CHECK(context["kwargs"]["to"] == "ana");
  CHECK(context["call_id"] == "call-1");
  CHECK(outside.ask.context.find("12345678901234567890123") != std::string::npos);
}

TEST_CASE("a contact becomes a question with its subject first") {
  const auto outside = contact(
      R"({"msg":"When?","subject":"A meeting","response_options":[{"name":"mon","title":"Monday"},{"name":"tue"}]})");
  CHECK(outside.ask.questions.at(0).question == "A meeting\n\nWhen?");
  CHECK(labels(outside) == List{"Monday", "tue"});
  CHECK(outside.idempotency_key == "human_contact:call-1");
  CHECK(contact(R"({"msg":"When?"})").ask.questions.at(0).options.empty());
}

TEST_CASE("one response option is no choice: it stands in the text") {
  const auto outside =
      contact(R"({"msg":"Done?","response_options":[{"name":"d","title":"Done"}]})");
  CHECK(outside.ask.questions.at(0).question == "Done?\n\nSuggested answer: Done");
  CHECK(outside.ask.questions.at(0).options.empty());
}

TEST_CASE("a function may have neither arguments nor a name, as JavaScript's do") {
  const auto outside = approval(R"({"fn":""})");
  CHECK(outside.ask.questions.at(0).question.starts_with(
      "Approve a function without a name?\n\n(without arguments)\n\n"));
  CHECK(read_call(Kind::function_call, outside.payload)->spec == R"({"fn":"","kwargs":{}})");
}

TEST_CASE(
    "long arguments are shortened in the question, and whole beside it as far as there is room") {
  const std::string body(5000, 'x');
  const auto outside = approval(R"({"fn":"f","kwargs":{"body":")" + body + R"("}})");
  const std::string& text = outside.ask.questions.at(0).question;
  CHECK(count_chars(text) == 4000);
  CHECK(text.find("xx…\n(shortened)\n\nYour own words") != std::string::npos);
  CHECK(read_json(outside.ask.context)["kwargs"]["body"] == body);

  const auto huge =
      approval(R"({"fn":"f","kwargs":{"body":")" + std::string(70000, 'y') + R"("}})");
  CHECK(read_json(huge.ask.context).contains("kwargs_begins"));
  CHECK(count_chars(contact(R"({"msg":")" + body + R"("})").ask.questions.at(0).question) == 4000);
}

TEST_CASE("labels are titles, or names where titles clash, however they are written") {
  const auto made = [](Kind kind, const std::vector<ReplyOption>& options) {
    return labels_of(kind, options);
  };
  CHECK(made(Kind::function_call, {{"a", "APPROVE", "", ""}, {"reject", "reject", "", ""}}) ==
        List{"Approve", "Reject", "a", "reject (2)"});
  CHECK(made(Kind::human_contact,
             {{"x", "Same", "", ""}, {"y", "same", "", ""}, {"Y", "SAME", "", ""}}) ==
        List{"Same", "y", "Y (2)"});
  CHECK(made(Kind::human_contact, {{"approve", " ", "", ""}}) == List{"approve"});
  for (const auto& label :
       made(Kind::human_contact, {{std::string(300, 'n'), std::string(300, 't'), "", ""}})) {
    CHECK(count_chars(label) <= 200);
  }
}

TEST_CASE(
    "a Slack channel and a mail address are where the question goes; other channels are let be") {
  const auto outside = approval(
      R"({"fn":"f","channel":{"slack":{"channel_or_user_id":"C01","bot_token":"xoxb-1"},
          "email":{"address":"ana@example.org"},"sms":{"phone_number":"1"}}})");
  CHECK(outside.ask.channels ==
        std::vector<Target>{{"slack", "C01"}, {"email", "ana@example.org"}});
  CHECK(approval(R"({"fn":"f","channel":{"slack":{"channel_or_user_id":""}}})").ask.channels ==
        std::vector<Target>{{"slack", ""}});
  CHECK(approval(R"({"fn":"f","channel":null})").ask.channels.empty());
}

TEST_CASE("a bot token is kept nowhere, however deep it stands and however it is written") {
  for (const char* channel :
       {R"({"slack":{"channel_or_user_id":"C1","bot_token":"xoxb-1"}})",
        R"({"slack":{"channel_or_user_id":"C1","bot\u005ftoken":"xoxb-1"}})",
        R"({"any":[[{"slack":{"bot_token":{"deep":"xoxb-1"}}}]]})", R"({"bot_token":"xoxb-1"})"}) {
    CAPTURE(channel);
    for (const char* name : {"channel", "ch\\u0061nnel"}) {
      const auto outside =
          approval(R"({"fn":"f","tokens":"xoxb-1",")" + std::string(name) + "\":" + channel + "}");
      CHECK(outside.payload.find("xoxb-1") == std::string::npos);
      CHECK(outside.ask.context.find("xoxb-1") == std::string::npos);
      CHECK(outside.ask.questions.at(0).question.find("xoxb-1") == std::string::npos);
      CHECK(read_call(Kind::function_call, outside.payload).has_value());
    }
  }
}

TEST_CASE("what is wrong with a call is named") {
  const auto of = [](const std::string& body) { return blamed(Kind::function_call, body); };
  CHECK(of("[]") == "body");
  CHECK(of("{") == "body");
  CHECK(of(R"({"call_id":"c","spec":{"fn":"f"}})") == "run_id");
  CHECK(of(R"({"run_id":"r","call_id":5,"spec":{"fn":"f"}})") == "call_id");
  CHECK(of(R"({"run_id":"r","call_id":"c"})") == "spec");
  CHECK(of(call_with("[]")) == "spec");
  for (const std::string id : {"", "a/b", "a?b", "a#b", "a%b", ".", "..", " a", "a ", "a\\nb"}) {
    CAPTURE(id);
    CHECK(of(call_with(R"({"fn":"f"})", id)) == "call_id");
  }
  CHECK(of(call_with(R"({"fn":"f"})", std::string(256, 'x'))) == "call_id");
  CHECK(blamed("{}") == "spec.fn");
  CHECK(blamed(R"({"fn":null})") == "spec.fn");
  CHECK(blamed(R"({"fn":"f","kwargs":"x"})") == "spec.kwargs");
  CHECK(blamed(R"({"fn":"f","state":[]})") == "spec.state");
  CHECK(blamed(R"({"fn":"f","channel":"slack"})") == "spec.channel");
  CHECK(blamed(R"({"fn":"f","channel":{"slack":"C1"}})") == "spec.channel.slack");
  CHECK(blamed(R"({"fn":"f","channel":{"slack":{"channel_or_user_id":1}}})") ==
        "spec.channel.slack.channel_or_user_id");
  CHECK(blamed(R"({"fn":"f","channel":{"email":{}}})") == "spec.channel.email.address");
  CHECK(blamed(R"({"fn":"f","channel":{"email":{"address":"a b"}}})") ==
        "spec.channel.email.address");
  CHECK(blamed(R"({"fn":"f","reject_options":{}})") == "spec.reject_options");
  CHECK(blamed(R"({"fn":"f","reject_options":["a"]})") == "spec.reject_options[0]");
  CHECK(blamed(R"({"fn":"f","reject_options":[{"name":"a"},{"name":"a"}]})") ==
        "spec.reject_options[1].name");
  CHECK(blamed(R"({"fn":"f","reject_options":[{"name":"a","title":1}]})") ==
        "spec.reject_options[0].title");
  CHECK(blamed(Kind::human_contact, call_with(R"({"msg":" "})")) == "spec.msg");
  CHECK(blamed(Kind::human_contact, call_with(R"({"msg":"m","subject":1})")) == "spec.subject");
}

TEST_CASE("more options than the settings allow are refused, with the setting's name") {
  const auto complaint = complaint_of([] {
    return approval(
        R"({"fn":"f","reject_options":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]})");
  });
  CHECK(complaint.field == "spec.reject_options");
  CHECK(complaint.reason.find("[limits] max_options") != std::string::npos);
  CHECK(complaint.reason.find("at most 3") != std::string::npos);
}

TEST_CASE("members that are not known are let be, and not kept") {
  const auto outside = approval(R"({"fn":"f","kwargs":{"a":1},"novel":{"x":1},"state":{"k":[1]}})");
  CHECK(read_call(Kind::function_call, outside.payload)->spec ==
        R"({"fn":"f","kwargs":{"a":1},"state":{"k":[1]}})");
}

TEST_CASE("a call comes back from its payload, and from no other") {
  const auto outside = approval(R"({"fn":"f","reject_options":[{"name":"a","prompt_fill":"p"}]})");
  const auto call = read_call(Kind::function_call, outside.payload);
  REQUIRE(call);
  CHECK(call->run_id == "run-1");
  CHECK(call->call_id == "call-1");
  CHECK(call->options.at(0).prompt_fill == "p");
  CHECK_FALSE(read_call(Kind::human_contact, outside.payload));
  for (const char* payload :
       {"{}", "[]", "not json", R"({"humanlayer":"function_call"})",
        R"({"humanlayer":"function_call","run_id":"r","call_id":"c","spec":5})",
        R"({"humanlayer":"function_call","run_id":"r","call_id":"c","spec":{"fn":1}})"}) {
    CAPTURE(payload);
    CHECK_FALSE(read_call(Kind::function_call, payload));
  }
}

TEST_CASE("calls are the same if a person would see the same") {
  const auto call = [](const std::string& spec) {
    return *read_call(Kind::function_call, approval(spec).payload);
  };
  const Call first = call(R"({"fn":"f","kwargs":{"a":1,"b":2}})");
  CHECK(asks_the_same(first, call(R"({"kwargs":{"b":2,"a":1},"fn":"f","state":{"n":2}})")));
  CHECK(asks_the_same(
      first,
      call(
          R"({"fn":"f","kwargs":{"a":1,"b":2},"channel":{"slack":{"channel_or_user_id":"C1"}}})")));
  CHECK_FALSE(asks_the_same(first, call(R"({"fn":"f","kwargs":{"a":1,"b":3}})")));
  CHECK_FALSE(asks_the_same(first, call(R"({"fn":"g","kwargs":{"a":1,"b":2}})")));
  CHECK_FALSE(asks_the_same(
      first, call(R"({"fn":"f","kwargs":{"a":1,"b":2},"reject_options":[{"name":"a"}]})")));
}

TEST_CASE("every call has a key of its own, long or odd as its id may be") {
  CHECK(key_of(Kind::function_call, "c-1") == "function_call:c-1");
  CHECK(key_of(Kind::human_contact, "c-1") == "human_contact:c-1");
  for (const std::string& id : {std::string(255, 'x'), std::string("ü"), std::string("a b")}) {
    CAPTURE(id);
    const std::string key = key_of(Kind::function_call, id);
    CHECK_NOTHROW(check_idempotency_key(key, "key"));
    CHECK(key.starts_with("function_call#"));
    CHECK(key != key_of(Kind::function_call, id + "x"));
  }
}

TEST_CASE("a default answer on timeout cannot be had, so such a call fails when nobody answers") {
  Rules rules = kRules;
  rules.defaults.on_timeout = OnTimeout::use_default;
  CHECK(parse_call(Kind::function_call, call_with(R"({"fn":"f"})"), rules).ask.on_timeout ==
        OnTimeout::fail);
  rules.defaults.on_timeout = OnTimeout::carry_on;
  CHECK(parse_call(Kind::function_call, call_with(R"({"fn":"f"})"), rules).ask.on_timeout ==
        OnTimeout::carry_on);
}

}  // namespace
}  // namespace holdpoint::humanlayer
