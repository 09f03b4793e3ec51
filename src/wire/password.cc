#include "wire/password.h"

#include <sodium.h>

#include <array>
#include <stdexcept>

namespace holdpoint {

std::string hash_password(const std::string& password) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium does not start");
  std::array<char, crypto_pwhash_STRBYTES> hash{};
  if (crypto_pwhash_str(hash.data(), password.data(), password.size(),
                        crypto_pwhash_OPSLIMIT_INTERACTIVE,
                        crypto_pwhash_MEMLIMIT_INTERACTIVE) != 0) {
    throw std::runtime_error("there is not enough memory to hash a password");
  }
  return hash.data();
}

bool check_password(const std::string& hash, const std::string& password) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium does not start");
  static const std::string nobody = hash_password("nobody's password");
  const bool right = crypto_pwhash_str_verify(hash.empty() ? nobody.c_str() : hash.c_str(),
                                              password.data(), password.size()) == 0;
  return right && !hash.empty();
}

}  // namespace holdpoint
