// Decodes a small transformer token by token, using only kiln's kernels:
//
//   tiny_llama [DEVICE...]               a model with random weights, made here
//   tiny_llama --model FILE [DEVICE...]  that file, with the tensors of model.hpp
//   tiny_llama --write FILE              writes the model with random weights, and decodes nothing
//
// The host decodes first. Every GPU of this machine, and every named device, then reads the host's
// tokens, and its logits must be near the host's. If the device has graphs, it decodes the text
// again by replays of one captured step, which must choose the same tokens as launches do. Exit
// status: 0 if all were right, else 1.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/gguf/writer.hpp"
#include "examples/graph_capture/graph.hpp"
#include "examples/tiny_llama/decoder.hpp"
#include "kiln/runtime.hpp"

namespace {

using Tokens = std::vector<std::uint32_t>;
using Logits = std::vector<float>;

constexpr std::uint32_t kFirstToken = 1;
// Bound of the difference, as a share of the greatest logit. Activations have 8 bits, and devices
// add floats in different orders. So a value is sometimes rounded the other way, by one step of
// 127, and later layers carry the difference on.
constexpr double kBound = 0.05;

int fail(const kiln::Error& error) {
  std::fprintf(stderr, "tiny_llama: error: %s\n", error.message.c_str());
  for (const kiln::Note& note : error.notes) std::fprintf(stderr, "  %s\n", note.text.c_str());
  return 1;
}

// The tokens that the host read and its logits, by position.
struct Text {
  Tokens tokens;
  std::vector<Logits> logits;
};

kiln::Result<Text> decode(const Decoder& decoder, std::size_t count) {
  Text text;
  if (auto done = decoder.start(kFirstToken); !done) return std::move(done).error();
  for (std::size_t i = 0; i < count; ++i) {
    const auto token = decoder.token();
    if (!token) return token.error();
    text.tokens.push_back(*token);
    if (auto done = decoder.step(); !done) return std::move(done).error();
    auto logits = decoder.logits();
    if (!logits) return logits.error();
    text.logits.push_back(std::move(*logits));
  }
  return text;
}

double distance(const Logits& a, const Logits& b) {
  double most = 0, greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double between = std::fabs(double{a[i]} - double{b[i]});
    if (!(between <= most)) most = between;  // true for NaN, too
    greatest = std::max(greatest, std::fabs(double{b[i]}));
  }
  return most / greatest;
}

// Returns the distance of the device's logits from the text's when it reads the same tokens.
kiln::Result<double> read_along(const Decoder& decoder, const Text& text) {
  double most = 0;
  if (auto done = decoder.start(kFirstToken); !done) return std::move(done).error();
  for (std::size_t i = 0; i < text.tokens.size(); ++i) {
    if (auto done = decoder.set_token(text.tokens[i]); !done) return std::move(done).error();
    if (auto done = decoder.step(); !done) return std::move(done).error();
    const auto logits = decoder.logits();
    if (!logits) return logits.error();
    const double off = distance(*logits, text.logits[i]);
    if (!(off <= most)) most = off;
  }
  return most;
}

struct Timed {
  Tokens tokens;
  double seconds = 0;
};
// Times steps without reading anything back in between.
template <typename Step>
kiln::Result<Timed> timed(const Decoder& decoder, const kiln::Stream& stream, std::size_t count,
                          const Step& step) {
  if (auto done = decoder.start(kFirstToken); !done) return std::move(done).error();
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    if (auto done = step(); !done) return std::move(done).error();
  }
  if (auto done = stream.synchronize(); !done) return std::move(done).error();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  auto tokens = decoder.chosen();
  if (!tokens) return tokens.error();
  tokens->resize(count);
  return Timed{std::move(*tokens), took.count()};
}

void print_speed(const char* how, const Timed& run, std::size_t launches) {
  const double us = 1e6 * run.seconds / static_cast<double>(run.tokens.size());
  std::printf("    %-14s %9.1f tokens/s, %8.1f us a token, %7.2f us a launch\n", how, 1e6 / us, us,
              us / static_cast<double>(launches));
}

// Returns true if the device is right, and times it while it decodes `count` tokens. Without a
// text, the device's own output counts as right and becomes the text.
kiln::Result<bool> check(const kiln::Runtime& runtime, const std::string& id,
                         const gguf::File& file, Text& text, std::size_t count) {
  const auto device = runtime.device(id);
  if (!device) return device.error();
  const auto stream = device->create_stream();
  if (!stream) return stream.error();
  const auto decoder = Decoder::make(*device, *stream, file);
  if (!decoder) return decoder.error();
  if (auto done = decoder->prepare(); !done) {
    if (done.error().code != kiln::ErrorCode::kNoImage) return std::move(done).error();
    std::printf("  %s: %s\n", id.c_str(), done.error().text().c_str());
    return true;
  }
  std::printf("  %s: %zu launches a token\n", id.c_str(), decoder->launches());

  if (text.tokens.empty()) {
    auto first = decode(*decoder, count);
    if (!first) return first.error();
    text = std::move(*first);
    std::printf("    tokens:");
    for (const std::uint32_t token : text.tokens) std::printf(" %u", token);
    std::puts("");
  }
  const auto off = read_along(*decoder, text);
  if (!off) return off.error();
  bool right = *off <= kBound;
  std::printf("    %s: logits within %.2g%% of the host's, %.0f%% are allowed\n",
              right ? "right" : "WRONG", 100 * *off, 100 * kBound);

  const auto launched = timed(*decoder, *stream, count, [&] { return decoder->step(); });
  if (!launched) return launched.error();
  print_speed("by launches:", *launched, decoder->launches());
  const auto graph = Graph::record(runtime, *device, *stream, [&] { return decoder->step(); });
  if (!graph && graph.error().code == kiln::ErrorCode::kUnavailable) return right;
  if (!graph) return graph.error();
  const auto replayed = timed(*decoder, *stream, count, [&] { return graph->launch(); });
  if (!replayed) return replayed.error();
  print_speed("by a graph:", *replayed, decoder->launches());
  if (replayed->tokens != launched->tokens) {
    right = false;
    std::puts("    WRONG: the graph chose other tokens than the launches");
  }
  return right;
}

kiln::Result<bool> run(const std::string& model, std::vector<std::string> named) {
  auto file = model.empty() ? gguf::File::parse(random_model(Sizes()), "random weights")
                            : gguf::File::read(model);
  if (!file) return file.error();
  const auto sizes = sizes_of(*file);
  if (!sizes) return sizes.error();
  const auto runtime = kiln::Runtime::open();
  if (!runtime) return runtime.error();

  std::vector<std::string> ids = {"host"};
  for (const kiln::DeviceInfo& info : runtime->devices()) {
    if (info.backend != kiln::Backend::kHost) ids.push_back(info.id);
  }
  ids.insert(ids.end(), named.begin(), named.end());
  std::printf("%zu layers of width %zu, %zu heads, %zu words\n", sizes->layers, sizes->width,
              sizes->heads, sizes->words);
  Text text;
  bool all_right = true;
  for (const std::string& id : ids) {
    std::size_t count = sizes->positions;
    if (id == "host") count = std::min<std::size_t>(8, count);
    Text part = text;
    if (id.rfind("emulated", 0) == 0) {  // a thousand times slower than a real one
      count = std::min<std::size_t>(2, count);
      part.tokens.resize(count);
    }
    const auto right = check(*runtime, id, *file, id == "host" ? text : part, count);
    if (!right) return right.error();
    all_right = all_right && *right;
  }
  return all_right;
}

}  // namespace

int main(int argc, char** argv) {
  std::string model;
  std::vector<std::string> named;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--model" && i + 1 < argc) {
      model = argv[++i];
    } else if (argument == "--write" && i + 1 < argc) {
      const std::vector<std::byte> bytes = random_model(Sizes());
      if (const auto done = gguf::write_file(argv[i + 1], bytes); !done) return fail(done.error());
      return 0;
    } else {
      named.push_back(argument);
    }
  }
  const auto right = run(model, named);
  if (!right) return fail(right.error());
  return *right ? 0 : 1;
}
