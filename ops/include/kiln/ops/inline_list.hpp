// Short lists and texts that are stored in the object itself, without allocating memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace kiln::ops {

// A list of at most Capacity plain values. Adding one more ends the program, and so does at() with
// an index past the end.
template <typename T, std::size_t Capacity>
class InlineList {
 public:
  InlineList() = default;
  InlineList(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <typename Iterator>
  InlineList(Iterator first, Iterator last) {
    assign(first, last);
  }

  static constexpr std::size_t capacity() { return Capacity; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  T& at(std::size_t i) { return i < size_ ? values_[i] : (std::abort(), values_[0]); }
  const T& at(std::size_t i) const { return i < size_ ? values_[i] : (std::abort(), values_[0]); }
  T& back() { return at(size_ - 1); }
  const T& back() const { return at(size_ - 1); }

  void clear() { size_ = 0; }
  void resize(std::size_t size) {
    if (size > Capacity) std::abort();
    for (std::size_t i = size_; i < size; ++i) values_[i] = T();
    size_ = size;
  }
  void push_back(const T& value) {
    if (size_ == Capacity) std::abort();
    values_[size_++] = value;
  }
  void pop_back() { --size_; }
  template <typename Iterator>
  void append(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  template <typename Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    append(first, last);
  }

  friend bool operator==(const InlineList& a, const InlineList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator!=(const InlineList& a, const InlineList& b) { return !(a == b); }
  // True if the other list has the same elements.
  template <typename List, typename = typename List::value_type>
  friend bool operator==(const InlineList& a, const List& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<T, Capacity> values_{};
  std::size_t size_ = 0;
};

// A kernel's name of at most 63 characters. The rest of a longer name is dropped, so that no kernel
// is found by it.
class KernelName {
 public:
  KernelName() = default;
  KernelName(std::string_view text) {
    text = text.substr(0, kLongest);
    letters_.assign(text.begin(), text.end());
  }
  KernelName(const std::string& text) : KernelName(std::string_view(text)) {}
  KernelName(const char* text) : KernelName(std::string_view(text)) {}

  KernelName& operator+=(std::string_view text) {
    for (const char letter : text.substr(0, kLongest - letters_.size())) letters_.push_back(letter);
    return *this;
  }

  std::string text() const { return {letters_.data(), letters_.size()}; }
  operator std::string_view() const { return {letters_.data(), letters_.size()}; }
  friend bool operator==(const KernelName& a, std::string_view b) {
    return static_cast<std::string_view>(a) == b;
  }
  friend bool operator!=(const KernelName& a, std::string_view b) { return !(a == b); }
  // Of two names. Templates, so that neither is a candidate for a text, which converts to a name.
  template <typename Name, typename = std::enable_if_t<std::is_same_v<Name, KernelName>>>
  friend bool operator==(const KernelName& a, const Name& b) {
    return a.letters_ == b.letters_;
  }
  template <typename Name, typename = std::enable_if_t<std::is_same_v<Name, KernelName>>>
  friend bool operator!=(const KernelName& a, const Name& b) {
    return !(a == b);
  }

 private:
  static constexpr std::size_t kLongest = 63;
  InlineList<char, kLongest> letters_;
};

}  // namespace kiln::ops
