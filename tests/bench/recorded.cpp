#include "tests/bench/recorded.hpp"

#include <nlohmann/json.hpp>

#include "tests/bench/families.hpp"
#include "tests/bench/recorded_data.hpp"

namespace kiln::bench {
namespace {

using nlohmann::json;

ops::Extents extents(const json& list) {
  const auto values = list.get<std::vector<std::size_t>>();
  return ops::Extents(values.data(), values.size());
}

View view_named(const std::string& text) {
  for (const View view : {View::kTransposed, View::kPermuted, View::kNarrowed, View::kBroadcast}) {
    if (name(view) == text) return view;
  }
  return View::kContiguous;
}

RecordedCase read_case(const json& entry) {
  RecordedCase recorded;
  BenchCase& subject = recorded.subject;
  subject = contiguous_case(entry.at("kernel"), 1);
  subject.dims = extents(entry.at("dims"));
  subject.shape = count_name(subject.count());
  if (entry.contains("strides")) {
    for (const json& list : entry.at("strides")) subject.strides.push_back(extents(list));
  }
  if (entry.contains("view")) subject.view = view_named(entry.at("view"));
  if (entry.contains("shape")) subject.shape = entry.at("shape");
  if (entry.contains("scalars")) subject.scalars = entry.at("scalars").get<std::vector<double>>();
  if (entry.contains("windows")) {
    const json& windows = entry.at("windows");
    subject.windows = {windows.value("channels", std::size_t{0}), windows.at("size"),
                       windows.value("stride", std::size_t{1}),
                       windows.value("padding", std::size_t{0})};
  }
  subject.indexed_size = entry.value("places", std::size_t{0});
  recorded.original_us = entry.at("original_us");
  if (!entry.at("torch_us").is_null()) recorded.torch_us = entry.at("torch_us").get<double>();
  return recorded;
}

}  // namespace

Result<Recording> recording() { return parse_recording(kRecordedData); }

Result<Recording> parse_recording(std::string_view text) {
  try {
    const json data = json::parse(text);
    Recording recording;
    recording.gpu = data.at("gpu");
    recording.original = data.at("original");
    recording.torch = data.at("torch");
    recording.how = data.at("how");
    for (const json& entry : data.at("cases")) recording.cases.push_back(read_case(entry));
    const json& ggml = data.at("ggml");
    recording.ggml = ggml.at("library");
    for (const auto& [name, us] : ggml.at("us").items()) recording.ggml_us[name] = us;
    return recording;
  } catch (const json::exception& exception) {
    return Error{ErrorCode::kInvalidInput, exception.what(), {"h200_reference.json", 0, 0}, {}};
  }
}

}  // namespace kiln::bench
