// PtxTokenizer: splits PTX into tokens, without white space and comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kiln/result.hpp"

namespace kiln {

enum class PtxTokenKind : std::uint8_t { kEnd, kWord, kNumber, kString, kMark, kUnfinished };

struct PtxToken {
  PtxTokenKind kind = PtxTokenKind::kEnd;
  std::string_view text;  // a part of the PTX
};

// Splits text into words (".param", "ld.param.u64", "%r1"), numbers ("9.0", "0x1f"), strings and
// marks of one character. A word that starts with a dot ends before the next dot: ".param.u64" is
// two words. Ends at the first NUL.
class PtxTokenizer {
 public:
  explicit PtxTokenizer(std::string_view text) : text_(text.substr(0, text.find('\0'))) {}

  PtxToken next();
  // Returns the location of the latest token.
  Location where() const;

 private:
  PtxToken token(PtxTokenKind kind) const;
  void skip_blank();

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t start_ = 0;
};

}  // namespace kiln
