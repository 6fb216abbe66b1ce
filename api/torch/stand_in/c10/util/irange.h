#pragma once
#include "../../mmaproof_tensor.h"

namespace c10 {
// The integers from one number to another one, for loops.
template <typename T> struct integer_range {
  struct iterator {
    T value;
    T operator*() const { return value; }
    iterator& operator++() { ++value; return *this; }
    bool operator!=(const iterator& other) const { return value != other.value; }
  };
  T first, last;
  iterator begin() const { return {first}; }
  iterator end() const { return {last}; }
};
template <typename T, typename U> integer_range<U> irange(T first, U last) {
  const U start = static_cast<U>(first);
  return {start, last > start ? last : start};
}
template <typename T> integer_range<T> irange(T last) { return irange(T(0), last); }
}  // namespace c10
