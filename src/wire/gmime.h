#pragma once

namespace holdpoint {

// Makes GMime ready; before any other call of it, as often as one likes, from any thread.
void use_gmime();

}  // namespace holdpoint
