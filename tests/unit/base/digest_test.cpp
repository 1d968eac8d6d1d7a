// Tests SHA-256 with the vectors of FIPS 180-4 and the short-message set of NIST, and compares
// cache keys with each other.
#include "base/digest.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace {

using kiln::Digest;
using kiln::KeyHasher;
using kiln::Sha256;
using kiln::sha256;

std::string key(const KeyHasher& hasher) { return KeyHasher(hasher).finish().hex(); }

TEST_CASE("sha256 gives the published digest when the message is short") {
  CHECK(sha256("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("\xd3").hex() == "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

TEST_CASE("sha256 gives the published digest when the message spans blocks") {
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex() ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
               "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")
            .hex() == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST_CASE("sha256 gives the published digest when the message is a million letters") {
  CHECK(sha256(std::string(1'000'000, 'a')).hex() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Padding takes one block if at most 55 bytes are left over, otherwise two. The digests come from
// sha256sum.
TEST_CASE("sha256 pads rightly when the message ends around a block's boundary") {
  const struct {
    std::size_t size;
    const char* digest;
  } cases[] = {
      {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
      {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
      {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
      {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
      {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
      {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
  };
  for (const auto& [size, digest] : cases) {
    CAPTURE(size);
    CHECK(sha256(std::string(size, 'a')).hex() == digest);
  }
}

TEST_CASE("sha256 gives one digest by the processor's own instructions and without them") {
  std::string message;
  for (int i = 0; i < 400; ++i) {
    message += static_cast<char>(i * 37 + i / 7);
    Sha256 portable(kiln::Sha256Way::kPortable);
    portable.update(message);
    CAPTURE(i);
    CHECK(portable.finish() == sha256(message));
  }
}

TEST_CASE("Sha256 gives one digest when the message comes in pieces of any size") {
  std::string message;
  for (int i = 0; i < 1000; ++i) message += static_cast<char>(i * 7);
  const Digest whole = sha256(message);
  for (std::size_t piece = 1; piece <= 130; ++piece) {
    CAPTURE(piece);
    Sha256 hash;
    for (std::size_t at = 0; at < message.size(); at += piece) {
      hash.update(std::string_view(message).substr(at, piece));
    }
    CHECK(hash.finish() == whole);
  }
}

TEST_CASE("Digest reads back what it writes and refuses everything else") {
  const Digest digest = sha256("abc");
  Digest read;
  REQUIRE(Digest::parse(digest.hex(), read));
  CHECK(read == digest);
  CHECK(digest.prefix64() == 0xba7816bf8f01cfeaULL);
  CHECK_FALSE(Digest::parse(digest.hex().substr(1), read));
  CHECK_FALSE(Digest::parse(digest.hex() + "0", read));
  CHECK_FALSE(Digest::parse(std::string(64, 'A'), read));
  CHECK_FALSE(Digest::parse(std::string(63, '0') + "g", read));
}

TEST_CASE("KeyHasher gives different keys when the same letters are split differently") {
  const std::string ab_c = key(KeyHasher().add("flags", "ab").add("flags", "c"));
  CHECK(ab_c != key(KeyHasher().add("flags", "a").add("flags", "bc")));
  CHECK(ab_c != key(KeyHasher().add("flags", "abc")));
  CHECK(ab_c != key(KeyHasher().add("flagsab", "").add("flags", "c")));
  CHECK(key(KeyHasher().add("a", "").add("b", "")) != key(KeyHasher().add("b", "").add("a", "")));
}

TEST_CASE("KeyHasher's encoding is label, NUL, size, NUL, bytes") {
  using namespace std::string_literals;
  CHECK(KeyHasher().add("kind", "hipcc").add("env", "").finish() ==
        sha256("kind\0"s + "5\0"s + "hipcc" + "env\0"s + "0\0"s));
}

TEST_CASE("KeyHasher keeps what a key was made of, a line each") {
  KeyHasher hasher;
  hasher.add("kind", "compile").add("tool", sha256("abc"));
  CHECK(hasher.transcript() ==
        "kind: compile\n"
        "tool: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
}

}  // namespace
