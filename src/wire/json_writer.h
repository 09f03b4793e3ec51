#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/log.h"
#include "base/time.h"

namespace holdpoint {

// Writes JSON text front to back: members stand in the order they are written, and opaque texts go
// in unread. Text in invalid UTF-8 is mended, never a reason to throw.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name) {
    comma();
    append_json_string(out_, name);
    out_ += ':';
    fresh_ = true;
    return *this;
  }

  JsonWriter& value(std::string_view text) {
    comma();
    append_json_string(out_, text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& value(std::nullptr_t) { return raw("null"); }
  JsonWriter& value(Time time) { return value(to_iso(time)); }
  template <class Tag>
  JsonWriter& value(const Id<Tag>& id) {
    return value(id.text());
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : value(nullptr);
  }
  // JSON that is ready.
  JsonWriter& raw(std::string_view json) {
    comma();
    out_.append(json);
    return *this;
  }

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  JsonWriter& raw_member(std::string_view name, std::string_view json) {
    return key(name).raw(json);
  }
  // The text, or null.
  JsonWriter& raw_or_null(std::string_view name, const std::optional<std::string>& json) {
    return key(name).raw(json ? std::string_view(*json) : "null");
  }

  std::size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  JsonWriter& open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }

  std::string out_;
  bool fresh_ = true;
};

}  // namespace holdpoint
