#pragma once

#include <string>

namespace holdpoint {

// Argon2id by libsodium. One at a time costs 64 MiB for some 50 ms: callers bound how many run.
std::string hash_password(const std::string& password);
// An empty hash matches nothing, and takes as long to say so.
bool check_password(const std::string& hash, const std::string& password);

}  // namespace holdpoint
