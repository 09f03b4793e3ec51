#include "wire/humanlayer_status.h"

#include <algorithm>
#include <optional>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/json.h"

namespace holdpoint::humanlayer {
namespace {

constexpr std::size_t kApprove = 0, kReject = 1;  // Among a function call's labels.

using Labels = std::vector<std::string>;

// Those that people were shown, as many as the call has; one that was no choice stood in the text.
Labels shown_labels(const Call& call, const Question& question) {
  Labels labels = labels_of(call.kind, call.options);
  const auto& shown = question.spec.options;
  for (std::size_t i = 0; shown.size() == labels.size() && i < labels.size(); ++i) {
    labels[i] = shown[i].label;
  }
  return labels;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// What a person said: an option by its place, words, or both.
struct Said {
  std::optional<std::size_t> place;
  std::string words;
};

Said read_words(std::string_view text, const Labels& labels) {
  const std::string_view words = trimmed(text);
  Said said{std::nullopt, std::string(words)};
  const std::string folded = lower_case(std::string(words));
  std::size_t longest = 0;  // A label may begin like another.
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string label = lower_case(std::string(trimmed(labels[i])));
    if (label.size() < longest || label.empty() || !folded.starts_with(label)) continue;
    if (folded.size() > label.size() && folded[label.size()] != ':') continue;
    longest = label.size();
    said.place = i;
    said.words = trimmed(words.substr(std::min(label.size() + 1, words.size())));
  }
  return said;
}

Said read_choice(const Choice& choice, const Labels& labels) {
  if (choice.selected.empty()) return read_words(choice.text.value_or(""), labels);
  const auto it = std::find(labels.begin(), labels.end(), choice.selected.front());
  Said said{static_cast<std::size_t>(it - labels.begin()), choice.text.value_or("")};
  if (it == labels.end()) said = {std::nullopt, choice_line(choice)};
  return said;
}

// The option at that place, if it is one of the call's own.
const ReplyOption* own_option(const Call& call, const Labels& labels, const Said& said) {
  const std::size_t before = labels.size() - call.options.size();
  return said.place && *said.place >= before ? &call.options[*said.place - before] : nullptr;
}

std::string first_of(std::initializer_list<std::string> texts) {
  for (const auto& text : texts) {
    if (!is_blank(text)) return text;
  }
  return "";
}

// Why there is no answer and none will come.
std::string unanswered(const Question& question) {
  if (question.status == QuestionStatus::cancelled) {
    return "Nobody answered: the question was cancelled" +
           (question.answered_by ? " by " + *question.answered_by : std::string()) + ".";
  }
  return "Nobody answered in time: the question expired at " + to_iso(question.deadline_at) + ".";
}

void write_text(JsonWriter& out, const char* name, const std::string& text) {
  out.member(name, text.empty() ? std::nullopt : std::optional(text));
}

void write_decision(JsonWriter& out, const Call& call, const Question& question) {
  std::optional<bool> approved;
  std::string comment, option_name;
  if (question.choice) {
    const Labels labels = shown_labels(call, question);
    const Said said = read_choice(*question.choice, labels);
    approved = said.place == kApprove;
    comment = said.words;
    if (const ReplyOption* option = own_option(call, labels, said)) {
      option_name = option->name;
      comment = first_of({comment, option->prompt_fill, option->description, option->title});
    }
    if (!*approved && is_blank(comment)) {
      comment = "rejected" + (question.answered_by ? " by " + *question.answered_by : "");
    }
  } else if (is_settled(question.status)) {
    approved = false;
    comment = unanswered(question);
  }
  out.member("approved", approved);
  write_text(out, "comment", comment);
  write_text(out, "reject_option_name", option_name);
}

void write_response(JsonWriter& out, const Call& call, const Question& question) {
  std::string response, option_name;
  if (question.choice) {
    const Labels labels = shown_labels(call, question);
    const Said said = read_choice(*question.choice, labels);
    response = said.words;
    if (const ReplyOption* option = own_option(call, labels, said)) {
      option_name = option->name;
      response = first_of({response, option->prompt_fill, option->title, option->name});
    }
  } else if (is_settled(question.status)) {
    response = unanswered(question);
  }
  write_text(out, "response", response);
  write_text(out, "response_option_name", option_name);
}

// A member that says nothing is as good as none: the SDK's types have them all optional.
std::string read_text(const Json& status, const char* name) {
  if (!status.contains(name) || status[name].is_null()) return "";
  if (!status[name].is_string()) throw BadRequest(name, "must be a string");
  return std::string(trimmed(status[name].get<std::string>()));
}

// The label of the option that `name` names.
const std::string& label_of(const Call& call, const Labels& labels, const std::string& name,
                            const char* field) {
  std::string known;
  for (std::size_t i = 0; i < call.options.size(); ++i) {
    if (call.options[i].name == name) return labels.at(labels.size() - call.options.size() + i);
    known.append(known.empty() ? "" : ", ").append(call.options[i].name);
  }
  throw BadRequest(field, "\"" + shorten(name, 60) + "\" is none of the call's options" +
                              (known.empty() ? "; it has none" : "; they are: " + known));
}

std::string with_words(const std::string& label, const std::string& words) {
  return words.empty() ? label : label + ": " + words;
}

Reply decision(const Call& call, const Labels& labels, const Json& status) {
  if (!status.contains("approved") || !status["approved"].is_boolean()) {
    throw BadRequest("approved", "is required: true or false");
  }
  const bool approved = status["approved"].get<bool>();
  const std::string comment = read_text(status, "comment");
  const std::string name = read_text(status, "reject_option_name");
  if (approved && !name.empty()) {
    throw BadRequest("reject_option_name", "goes with approved: false only");
  }
  const std::string label = !name.empty() ? label_of(call, labels, name, "reject_option_name")
                                          : labels.at(approved ? kApprove : kReject);
  return {with_words(label, comment), comment.empty() ? "approved" : "comment"};
}

Reply contact_response(const Call& call, const Labels& labels, const Json& status) {
  const std::string response = read_text(status, "response");
  const std::string name = read_text(status, "response_option_name");
  if (name.empty()) {
    if (response.empty()) throw BadRequest("response", "is required, or response_option_name");
    return {response, "response"};
  }
  return {with_words(label_of(call, labels, name, "response_option_name"), response),
          response.empty() ? "response_option_name" : "response"};
}

}  // namespace

void write_call(JsonWriter& out, const Call& call, const Question& question) {
  out.begin_object().member("run_id", call.run_id).member("call_id", call.call_id);
  out.raw_member("spec", call.spec).key("status").begin_object();
  out.member("requested_at", question.created_at).member("responded_at", question.settled_at);
  if (call.kind == Kind::function_call) {
    write_decision(out, call, question);
  } else {
    write_response(out, call, question);
  }
  out.key("user_info");
  if (question.answered_by) {
    out.begin_object().member("name", question.answered_by);
    out.member("via", question.answered_via).end_object();
  } else {
    out.value(nullptr);
  }
  out.end_object().end_object();
}

Reply parse_reply(const Call& call, const Question& question, std::string_view body) {
  const Json status = parse_json(body, "body");
  if (!status.is_object()) throw Unreadable("body", "must be a JSON object");
  const Labels labels = shown_labels(call, question);
  return call.kind == Kind::function_call ? decision(call, labels, status)
                                          : contact_response(call, labels, status);
}

}  // namespace holdpoint::humanlayer
