// A class of a program that has a member of kiln's. g++ would warn if that had hidden visibility.
#pragma once

#include <kernels_amalgamated.hpp>

struct User {
  const kiln::Device* device;
};
