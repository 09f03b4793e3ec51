#pragma once

#include <gmime/gmime.h>

#include <memory>
#include <string>

namespace holdpoint {

template <class T>
using GmimeOwned = std::unique_ptr<T, void (*)(void*)>;

// Owns an object that GMime gave away.
template <class T>
GmimeOwned<T> gmime_own(T* object) {
  return GmimeOwned<T>(object, [](void* p) {
    if (p) g_object_unref(p);
  });
}

// A part's bytes, decoded.
std::string gmime_content(GMimePart* part);

}  // namespace holdpoint
