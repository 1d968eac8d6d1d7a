#include "tests/bench/report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace kiln::bench {
namespace {

using nlohmann::json;
using ops::Geometry;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string time_text(const std::optional<double>& us) {
  return us ? format("%.2f", *us) : std::string("-");
}
std::string ratio_text(const std::optional<double>& other_us, double us) {
  return other_us ? format("%.2fx", *other_us / us) : std::string("-");
}

json list_of(const ops::Extents& extents) {
  return std::vector<std::size_t>(extents.begin(), extents.end());
}

json describe(const BenchCase& subject) {
  json entry = {{"case", subject.name()},
                {"kernel", subject.kernel},
                {"dims", list_of(subject.dims)},
                {"kind", name(subject.kind)},
                {"view", name(subject.view)}};
  for (const ops::Extents& strides : subject.strides) entry["strides"].push_back(list_of(strides));
  if (!subject.scalars.empty()) entry["scalars"] = subject.scalars;
  return entry;
}

json optional(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

// Returns the case with the smallest original_us / kiln's time.
const Measurement* worst(const std::vector<Measurement>& all, DataKind kind, Geometry geometry) {
  const Measurement* found = nullptr;
  const auto speedup = [&](const Measurement& each) {
    return *each.original_us / each.us(geometry);
  };
  for (const Measurement& each : all) {
    if (!each.original_us || !each.chosen || each.subject.kind != kind) continue;
    if (each.stands_for_original && geometry == Geometry::kReference) continue;
    if (found == nullptr || speedup(each) < speedup(*found)) found = &each;
  }
  return found;
}

}  // namespace

std::string table_heading() {
  return format("%-50s %9s %9s %9s %9s %7s %6s %7s %7s %8s  %s\n", "case", "own us", "orig.grid",
                "original", "PyTorch", "empty", "copy", "own", "o.grid", "own/PT", "verdict");
}

std::string table_row(const Measurement& measured, const std::vector<Failure>& failures) {
  const std::string copy =
      measured.copy_us > 0 ? format("%.0f%%", 100 * measured.copy_us / measured.own_us) : "-";
  std::string row = format(
      "%-50s %9.2f %9.2f %9s %9s %7.2f %6s %7s %7s %8s  %s\n", measured.subject.name().c_str(),
      measured.own_us, measured.original_grid_us, time_text(measured.original_us).c_str(),
      time_text(measured.torch_us).c_str(), measured.empty_us, copy.c_str(),
      ratio_text(measured.original_us, measured.own_us).c_str(),
      ratio_text(measured.original_us, measured.original_grid_us).c_str(),
      ratio_text(measured.torch_us, measured.own_us).c_str(),
      !measured.chosen ? "other kernel" : failures.empty() ? "ok" : "FAIL");
  if (measured.read_us > 0) {
    row += format("    %.0f%% of the rate of a bare read, %.2f us\n",
                  100 * measured.read_us / measured.own_us, measured.read_us);
  }
  if (measured.with_step_before_us) {
    row += format("    with the quantization of its activations: %.2f us",
                  *measured.with_step_before_us);
    if (measured.ggml_us) {
      row += format("; ggml, recorded: %.2f us, %s", *measured.ggml_us,
                    ratio_text(measured.ggml_us, *measured.with_step_before_us).c_str());
    }
    row += "\n";
  }
  for (const Failure& failure : failures) row += "    " + to_string(failure) + "\n";
  return row;
}

std::string conclusion(const std::vector<Measurement>& all, const Summary& summary) {
  std::string text;
  for (const DataKind kind : kDataKinds) {
    for (const Geometry geometry : {Geometry::kOwn, Geometry::kReference}) {
      const Measurement* found = worst(all, kind, geometry);
      if (found == nullptr) continue;
      text +=
          format("worst on %-8s data, %-10s geometry: %.2fx the original's speed: %s\n",
                 std::string(name(kind)).c_str(), geometry == Geometry::kOwn ? "own" : "original's",
                 *found->original_us / found->us(geometry), found->subject.name().c_str());
    }
  }
  const auto mean = [&](const char* label, const std::optional<double>& value) {
    if (value) text += format("geometric mean, cases of 20 us and more: %s %.2f\n", label, *value);
  };
  mean("own geometry / original", summary.own_speedup);
  mean("original's geometry / original", summary.original_grid_speedup);
  mean("own geometry / PyTorch", summary.own_to_torch);
  for (const std::string& failure : summary.failures) text += "FAIL " + failure + "\n";
  return text;
}

std::string to_json(const RunInfo& info, const std::vector<Measurement>& all) {
  json cases = json::array();
  for (const Measurement& each : all) {
    json entry = describe(each.subject);
    entry["min_bytes"] = each.min_bytes;
    entry["module"] = each.module;
    if (!each.chosen) entry["chosen"] = false;
    if (each.stands_for_original) entry["stands_for_original"] = true;
    entry["own_us"] = each.own_us;
    entry["original_grid_us"] = each.original_grid_us;
    entry["original_us"] = optional(each.original_us);
    entry["torch_us"] = optional(each.torch_us);
    entry["empty_us"] = each.empty_us;
    if (each.copy_us > 0) entry["copy_us"] = each.copy_us;
    if (each.read_us > 0) entry["read_us"] = each.read_us;
    if (each.with_step_before_us) entry["with_step_before_us"] = *each.with_step_before_us;
    if (each.ggml_us) entry["ggml_us"] = *each.ggml_us;
    for (const Failure& failure : judge(each)) entry["failures"].push_back(to_string(failure));
    cases.push_back(std::move(entry));
  }
  const json document = {
      {"gpu", info.gpu},          {"target", info.target},
      {"driver", info.driver},    {"date", info.date},
      {"copy_bytes_per_second", info.copy_bytes_per_second},
      {"samples", info.samples},  {"seconds", info.seconds},
      {"cases", std::move(cases)}};
  return document.dump(1) + "\n";
}

std::string cases_as_json(const std::vector<BenchCase>& cases) {
  json list = json::array();
  for (const BenchCase& each : cases) list.push_back(describe(each));
  return json{{"cases", std::move(list)}}.dump(1) + "\n";
}

Result<std::map<std::string, double>> parse_torch_times(const std::string& text) {
  try {
    std::map<std::string, double> times;
    const json document = json::parse(text);
    for (const auto& [name, us] : document.at("us").items()) {
      if (!us.is_null()) times[name] = us.get<double>();
    }
    return times;
  } catch (const json::exception& exception) {
    return Error{ErrorCode::kInvalidInput, exception.what(), {}, {}};
  }
}

}  // namespace kiln::bench
