#pragma once

#include <functional>
#include <memory>

#include "settings/settings.h"
#include "store/database.h"

namespace holdpoint {

// Throws SettingsError if the URL cannot be one.
void check_database(const Settings& settings);

struct OpenHooks {
  // After every commit: how many writes it carried. From any thread.
  std::function<void(std::size_t writes)> on_commit;
  // Whether to wait no longer for a server that is not there yet.
  std::function<bool()> give_up;
};

// The database that the settings name. Throws StoreError.
std::unique_ptr<Database> open_database(const Settings& settings, OpenHooks hooks = {});

}  // namespace holdpoint
