constexpr float factor = 2;
