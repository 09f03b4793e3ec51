#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdpoint::cli {

struct Key {
  enum class Kind {
    character,
    paste,
    up,
    down,
    page_up,
    page_down,
    enter,
    escape,
    backspace,
    erase_line
  };
  Kind kind = Kind::character;
  std::string text;  // Of a character or a paste, in UTF-8.
  bool operator==(const Key&) const = default;
};

// What a terminal in raw mode sends, as keys. What it does not know it drops whole, so that no part
// of an unknown sequence counts as a key of its own.
class TypedKeys {
 public:
  std::vector<Key> feed(std::string_view bytes);

  // An escape may be the key, or the start of what some other key sends.
  bool is_unsure() const { return rest_ == "\x1b"; }
  // Nothing came for a while: it was the key.
  std::vector<Key> be_sure();

 private:
  // Takes one key, or something that is none, off the front of what is left. False: more must come.
  bool take(std::vector<Key>& keys);
  bool take_sequence(std::vector<Key>& keys);
  bool take_paste(std::vector<Key>& keys);
  bool take_character(std::vector<Key>& keys);

  std::string rest_;
  bool pasting_ = false;
};

}  // namespace holdpoint::cli
