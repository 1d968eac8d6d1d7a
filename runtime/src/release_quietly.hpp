// How a destructor gives something back.
#pragma once

namespace kiln::runtime {

// Runs `call` in a destructor. Ignores errors and exceptions, because nobody is left to be told. An
// exception may be the program's own, thrown by its trace, or mean that there is no memory for the
// text of an error.
template <typename Call>
void release_quietly(Call call) noexcept {
  try {
    (void)call();
  } catch (...) {
    return;
  }
}

}  // namespace kiln::runtime
