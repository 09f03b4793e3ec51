#pragma once

#include <string>
#include <string_view>

namespace holdpoint::bench {

// What the bench's agent answers to one turn (DESIGN 7): it asks for a style, then returns it.
std::string take_turn(std::string_view turn);

}  // namespace holdpoint::bench
