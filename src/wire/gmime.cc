#include "wire/gmime.h"

#include <gmime/gmime.h>

namespace holdpoint {

// g_mime_init counts its callers without a lock.
void use_gmime() {
  [[maybe_unused]] static const bool ready = [] {
    g_mime_init();
    return true;
  }();
}

}  // namespace holdpoint
