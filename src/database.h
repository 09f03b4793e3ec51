#pragma once

#include <memory>

#include "settings/settings.h"
#include "store/database.h"

namespace holdpoint {

class Metrics;

// Throws SettingsError if the URL cannot be one.
void check_database(const Settings& settings);

// The database that the settings name. Throws StoreError. Commits are counted if there are metrics.
std::unique_ptr<Database> open_database(const Settings& settings, Metrics* metrics);

}  // namespace holdpoint
