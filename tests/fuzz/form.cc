// Forms, and texts escaped for URLs.
#include "wire/form.h"

#include "domain/text.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/refusal.h"

namespace holdpoint {
namespace {

bool others_call_it_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

void check_escapes(std::string_view text) {
  const bool clean = is_clean_utf8(text);
  expect(clean == (others_call_it_utf8(text) && text.find('\0') == std::string_view::npos),
         "clean UTF-8 is what others call so, without NUL");
  const auto back = unless_refused([&] { return unescape_url(escape_url(text)); });
  expect(back.has_value() == clean && (!back || *back == text),
         "a clean text comes back from its escapes");
}

void check_form(std::string_view text) {
  const auto form = unless_refused([&] { return Form::parse(text); });
  if (!form) return;
  expect(form->fields().size() <= 100, "a form has at most 100 fields");
  std::string again;
  for (const auto& [name, value] : form->fields()) {
    expect(is_clean_utf8(name) && is_clean_utf8(value), "a form is clean UTF-8");
    expect(form->text(name) == form->texts(name).front(), "the first of a name counts");
    again += (again.empty() ? "" : "&") + escape_url(name) + "=" + escape_url(value);
  }
  expect(Form::parse(again).fields() == form->fields(), "a form can be written and read again");
}

}  // namespace
}  // namespace holdpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdpoint::check_escapes(holdpoint::text_of(data, size));
  holdpoint::check_form(holdpoint::text_of(data, size));
  return 0;
}
