#include "wire/humanlayer_json.h"

#include <algorithm>
#include <set>

#include "domain/bad_request.h"
#include "domain/text.h"
#include "wire/digest.h"
#include "wire/json.h"
#include "wire/rpc.h"

namespace holdpoint::humanlayer {
namespace {

constexpr std::size_t kMostIdBytes = 255;
constexpr std::size_t kShownName = 200;  // Of a function's name or a title, in what people read.
constexpr const char* kSlackField = "spec.channel.slack.channel_or_user_id";
constexpr const char* kEmailField = "spec.channel.email.address";

// Empty if it is not there.
std::string read_text(const Json& object, const std::string& at, const char* name) {
  if (!object.contains(name) || object[name].is_null()) return "";
  if (!object[name].is_string()) throw BadRequest(member_path(at, name), "must be a string");
  return object[name].get<std::string>();
}

const Json* read_object(const Json& object, const std::string& at, const char* name) {
  if (!object.contains(name) || object[name].is_null()) return nullptr;
  if (!object[name].is_object()) throw BadRequest(member_path(at, name), "must be an object");
  return &object[name];
}

std::string read_id(const Json& json, const char* name) {
  const std::string id = read_text(json, "", name);
  if (id.empty() || id.size() > kMostIdBytes) {
    throw BadRequest(name, "must be a string of 1 to 255 bytes");
  }
  return id;
}

// The SDK asks for the call under a path that ends in its id as it is: an answer to one that
// cannot stand there would be waited for in vain.
void check_call_id(const std::string& id) {
  const auto is_wrong = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
           std::string_view("/\\?#%").find(c) != std::string_view::npos;
  };
  if (std::any_of(id.begin(), id.end(), is_wrong) || id == "." || id == ".." || id.front() == ' ' ||
      id.back() == ' ') {
    throw BadRequest("call_id",
                     "must be able to end a URL's path as it is: without control characters, / \\ "
                     "? # %, and spaces around it");
  }
}

const char* options_member(Kind kind) {
  return kind == Kind::function_call ? "reject_options" : "response_options";
}

std::vector<ReplyOption> read_options(Kind kind, const Json& spec) {
  std::vector<ReplyOption> options;
  const char* member = options_member(kind);
  if (!spec.contains(member) || spec[member].is_null()) return options;
  const std::string list = member_path("spec", member);
  if (!spec[member].is_array()) throw BadRequest(list, "must be a list");
  std::set<std::string> names;
  for (const auto& item : spec[member]) {
    const std::string at = list + "[" + std::to_string(options.size()) + "]";
    if (!item.is_object()) throw BadRequest(at, "must be an object with a name");
    ReplyOption option{read_text(item, at, "name"), read_text(item, at, "title"),
                       read_text(item, at, "description"), read_text(item, at, "prompt_fill")};
    if (is_blank(option.name)) throw BadRequest(at + ".name", "is required");
    if (!names.insert(option.name).second) {
      throw BadRequest(at + ".name",
                       "is another option's name too: the answer could not tell them "
                       "apart");
    }
    options.push_back(std::move(option));
  }
  return options;
}

// A token of Slack's may stand in a channel, and in channels inside it.
void drop_tokens(Json& channel) {
  if (channel.is_object()) channel.erase("bot_token");
  for (auto& part : channel) {
    if (part.is_structured()) drop_tokens(part);
  }
}

// A call's JSON, and the text that it was read from.
struct Source {
  std::string_view text;
  const Json& json;

  bool has(const char* name) const { return json.contains(name) && !json[name].is_null(); }
  // As it is written: numbers and the order of members stay what they were.
  std::string raw(const char* name) const {
    std::string value = member_text(text, name);
    return value.empty() ? json[name].dump() : value;  // Empty: its name is written with escapes.
  }
};

std::string kwargs_of(const Source& spec) {
  return spec.has("kwargs") ? spec.raw("kwargs") : "{}";  // Of a function without arguments.
}

std::string keep_spec(Kind kind, const Source& spec) {
  JsonWriter out;
  out.begin_object();
  const auto keep = [&](const char* name) {
    if (spec.has(name)) out.raw_member(name, spec.raw(name));
  };
  if (kind == Kind::function_call) {
    keep("fn");
    out.raw_member("kwargs", kwargs_of(spec));
  } else {
    keep("msg");
    keep("subject");
  }
  if (spec.has("channel")) {
    Json channel = spec.json["channel"];
    drop_tokens(channel);
    out.raw_member("channel", channel.dump());
  }
  keep(options_member(kind));
  keep("state");
  return out.end_object().take();
}

std::vector<Target> read_channel(const Json& spec) {
  std::vector<Target> places;
  const Json* channel = read_object(spec, "spec", "channel");
  if (!channel) return places;
  if (const Json* slack = read_object(*channel, "spec.channel", "slack")) {
    const std::string to = read_text(*slack, "spec.channel.slack", "channel_or_user_id");
    places.push_back(parse_target(to.empty() ? "slack" : "slack:" + to, kSlackField));
  }
  if (const Json* email = read_object(*channel, "spec.channel", "email")) {
    const std::string to = read_text(*email, "spec.channel.email", "address");
    if (to.empty()) throw BadRequest(kEmailField, "is required");
    places.push_back(parse_target("email:" + to, kEmailField));
  }
  return places;
}

// A line an argument. Values are JSON, so that none can look like another argument.
std::string shown_arguments(const std::string& kwargs) {
  std::string lines;
  for (const auto& [name, value] : members_of(kwargs)) {
    const bool number = value.front() == '-' || (value.front() >= '0' && value.front() <= '9');
    lines.append(lines.empty() ? "" : "\n").append(name).append(": ");
    // Characters that are written as escapes are shown; a number may be more than we can hold.
    lines += number ? std::string(value) : try_ordered_json(value).dump(2);
  }
  return lines.empty() ? "(without arguments)" : lines;
}

// `middle`, shortened to what `most` characters leave for it between the other two.
std::string fit_between(const std::string& head, const std::string& middle, const std::string& tail,
                        std::size_t most) {
  static const std::string kCut = "\n(shortened)";
  const std::size_t around = count_chars(head) + count_chars(tail);
  const std::size_t room = most > around ? most - around : 0;
  if (count_chars(middle) <= room) return head + middle + tail;
  const std::size_t left = room > count_chars(kCut) + 1 ? room - count_chars(kCut) : 1;
  return head + shorten(middle, left) + kCut + tail;
}

// What people see besides: the raw member if there is room, else how it begins.
std::string draw_context(const Call& call, const char* name, const std::string& raw,
                         const Limits& limits) {
  const auto draw = [&](bool whole) {
    JsonWriter out;
    out.begin_object().member("run_id", call.run_id).member("call_id", call.call_id);
    if (whole) {
      out.raw_member(name, raw);
    } else {
      out.member(std::string(name) + "_begins", shorten(raw, limits.max_context_bytes / 8));
    }
    return out.end_object().take();
  };
  std::string context = draw(true);
  return context.size() <= limits.max_context_bytes ? context : draw(false);
}

QuestionSpec draw_approval(const Json& spec, const std::string& kwargs, const Limits& limits) {
  QuestionSpec question;
  const std::string fn = spec["fn"].get<std::string>();
  const std::string name = is_blank(fn) ? "a function without a name" : shorten(fn, kShownName);
  question.header = "Approval";
  question.question =
      fit_between("Approve " + name + "?\n\n", shown_arguments(kwargs),
                  "\n\nYour own words reject it and become the comment. To say more with a choice, "
                  "write it first: \"Approve: …\".",
                  limits.max_question_chars);
  return question;
}

QuestionSpec draw_contact(const Json& spec, const std::vector<std::string>& labels,
                          const Limits& limits) {
  QuestionSpec question;
  const std::string subject = shorten(read_text(spec, "spec", "subject"), kShownName);
  const std::string head = is_blank(subject) ? "" : subject + "\n\n";
  // One option is no choice: it stands in the text, and whoever writes it has picked it.
  const std::string tail = labels.size() == 1 ? "\n\nSuggested answer: " + labels.front() : "";
  question.question =
      fit_between(head, spec["msg"].get<std::string>(), tail, limits.max_question_chars);
  return question;
}

void offer(QuestionSpec& question, Kind kind, const std::vector<ReplyOption>& options,
           const std::vector<std::string>& labels, const Limits& limits) {
  if (labels.size() > limits.max_options) {
    const std::size_t own = labels.size() - options.size();
    throw BadRequest(member_path("spec", options_member(kind)),
                     "has at most " + std::to_string(limits.max_options - own) +
                         " options here, not " + std::to_string(options.size()) +
                         (own ? ", for Approve and Reject count too" : "") +
                         "; [limits] max_options allows more");
  }
  if (labels.size() < 2) return;
  for (const auto& label : labels) question.options.push_back({label, "", "", false});
  for (std::size_t i = 0; i < options.size(); ++i) {
    question.options[labels.size() - options.size() + i].description =
        shorten(options[i].description, 1000);
  }
  question.style = labels.size() > 3 ? Style::select : Style::buttons;
}

void check_spec(Kind kind, const Json& spec) {
  const char* text = kind == Kind::function_call ? "fn" : "msg";
  if (!spec.contains(text)) throw BadRequest(member_path("spec", text), "is required");
  if (!spec[text].is_string()) throw BadRequest(member_path("spec", text), "must be a string");
  if (kind == Kind::function_call) {
    read_object(spec, "spec", "kwargs");
  } else {
    if (is_blank(spec["msg"].get<std::string>())) {
      throw BadRequest("spec.msg", "must not be empty");
    }
    read_text(spec, "spec", "subject");
  }
  read_object(spec, "spec", "state");
}

std::string payload_of(const Call& call) {
  JsonWriter out;
  out.begin_object().member("humanlayer", to_text(call.kind)).member("run_id", call.run_id);
  out.member("call_id", call.call_id).raw_member("spec", call.spec);
  return out.end_object().take();
}

}  // namespace

std::string_view to_text(Kind kind) {
  return kind == Kind::function_call ? "function_call" : "human_contact";
}

OutsideAsk parse_call(Kind kind, std::string_view body, const Rules& rules) {
  const Json json = parse_json(body, "body");
  if (!json.is_object()) throw Unreadable("body", "must be a JSON object");
  Call call;
  call.kind = kind;
  call.run_id = read_id(json, "run_id");
  call.call_id = read_id(json, "call_id");
  check_call_id(call.call_id);
  if (!read_object(json, "", "spec")) throw BadRequest("spec", "is required");
  const std::string text = Source{body, json}.raw("spec");
  const Source spec{text, json["spec"]};
  check_spec(kind, spec.json);
  call.options = read_options(kind, spec.json);
  call.spec = keep_spec(kind, spec);

  OutsideAsk outside;
  outside.agent_name = rules.agent_name;
  outside.idempotency_key = key_of(kind, call.call_id);
  outside.payload = payload_of(call);
  Ask& ask = outside.ask;
  ask.timeout = rules.defaults.timeout;
  // There is no default to fall back on: whoever is not answered is told so.
  const bool has_default = rules.defaults.on_timeout == OnTimeout::use_default;
  ask.on_timeout = has_default ? OnTimeout::fail : rules.defaults.on_timeout;
  ask.tool_call_id = shorten(call.call_id, 200);
  ask.channels = read_channel(spec.json);
  const auto labels = labels_of(kind, call.options);
  QuestionSpec question;
  if (kind == Kind::function_call) {
    const std::string kwargs = kwargs_of(spec);
    question = draw_approval(spec.json, kwargs, rules.limits);
    ask.context = draw_context(call, "kwargs", kwargs, rules.limits);
  } else {
    question = draw_contact(spec.json, labels, rules.limits);
    ask.context = draw_context(call, "msg", spec.raw("msg"), rules.limits);
  }
  offer(question, kind, call.options, labels, rules.limits);
  ask.questions.push_back(std::move(question));
  check_ask(ask, rules.limits);
  return outside;
}

std::string key_of(Kind kind, std::string_view call_id) {
  std::string key(to_text(kind));
  const bool plain =
      std::all_of(call_id.begin(), call_id.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (plain && call_id.size() <= 200) return key.append(":").append(call_id);
  return key.append("#").append(sha256_hex(call_id));
}

std::optional<Call> read_call(Kind kind, std::string_view payload) {
  const Json json = try_json(payload);
  if (!json.is_object() || json.value("humanlayer", Json()) != std::string(to_text(kind)))
    return std::nullopt;
  try {
    Call call{kind, read_id(json, "run_id"), read_id(json, "call_id"), "", {}};
    if (!read_object(json, "", "spec")) return std::nullopt;
    check_spec(kind, json["spec"]);
    call.spec = Source{payload, json}.raw("spec");
    call.options = read_options(kind, json["spec"]);
    return call;
  } catch (const BadRequest&) {
    return std::nullopt;  // Somebody else's payload that only looks like ours.
  }
}

bool asks_the_same(const Call& one, const Call& other) {
  const Json a = try_json(one.spec), b = try_json(other.spec);
  const auto same = [&](const char* name) {
    return a.value(name, Json()) == b.value(name, Json());
  };
  return one.kind == other.kind && same("fn") && same("kwargs") && same("msg") && same("subject") &&
         same(options_member(one.kind));
}

std::vector<std::string> labels_of(Kind kind, const std::vector<ReplyOption>& options) {
  std::vector<std::string> labels;
  std::set<std::string> taken;
  const auto take = [&](const std::string& label) {
    if (is_blank(label) || !taken.insert(lower_case(label)).second) return false;
    labels.push_back(label);
    return true;
  };
  if (kind == Kind::function_call) {
    take("Approve");
    take("Reject");
  }
  for (const auto& option : options) {
    // With room for a number: labels have at most 200 characters.
    const std::string name = shorten(option.name, 190);
    if (take(shorten(option.title, 190)) || take(name)) continue;
    for (int number = 2; !take(name + " (" + std::to_string(number) + ")");) ++number;
  }
  return labels;
}

std::string field_of(const Target& place) {
  return place.channel == "slack" ? kSlackField : kEmailField;
}

}  // namespace holdpoint::humanlayer
