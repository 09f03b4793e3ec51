#pragma once

#include <string>
#include <string_view>

#include "domain/question.h"
#include "wire/humanlayer_json.h"
#include "wire/json_writer.h"

// What a person's answer means to HumanLayer's SDK, and the other way round. Answers are an option,
// or own words; `Label: words` is that option with a comment, on whichever channel it was written.
namespace holdpoint::humanlayer {

// `{"run_id","call_id","spec","status":{…}}`: all of the status is null until the question has
// ended. One that ended without an answer is a rejection, or a response, that says so: the SDK
// would ask for ever.
void write_call(JsonWriter& out, const Call& call, const Question& question);

// An answer in the words of the question, and the member that a complaint about it names.
struct Reply {
  std::string answer;
  std::string field;
};
// The body of POST …/respond, a status object: `approved`, `comment` and `reject_option_name`, or
// `response` and `response_option_name`. Other members are let be. Throws BadRequest.
Reply parse_reply(const Call& call, const Question& question, std::string_view body);

}  // namespace holdpoint::humanlayer
