#include "store/database.h"

namespace holdpoint {

Time Row::time(int column) const {
  const auto time = parse_iso(text(column));
  if (!time) throw StoreError("the database holds a time that is none: " + string(column), false);
  return *time;
}

}  // namespace holdpoint
