#include "tools/commands/report.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/timeline.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/json/json_fields.hpp"
#include "tools/report/report_page.hpp"
#include "tools/stages/catalog_json.hpp"
#include "tools/stages/occupancy.hpp"
#include "tools/stages/recognize.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

Json or_null(const std::optional<std::uint32_t>& number) { return number ? Json(*number) : Json(); }

Json spills_of(const KernelInfo& kernel) {
  if (!kernel.spill_stores && !kernel.spill_loads && !kernel.scalar_spills) return {};
  return std::uint64_t{kernel.spill_stores.value_or(0)} + kernel.spill_loads.value_or(0) +
         kernel.scalar_spills.value_or(0);
}

Json kernel_row(const ImageSummary& image, const KernelInfo& kernel) {
  const std::optional<Occupancy> fits = occupancy(image.info.target, kernel);
  return Json::Object{{"module", image.module},
                      {"kernel", with_demangled(kernel.name)},
                      {"target", to_string(image.info.target)},
                      {"registers", or_null(kernel.registers)},
                      {"spills", spills_of(kernel)},
                      {"stack", or_null(kernel.stack_bytes)},
                      {"shared", or_null(kernel.shared_bytes)},
                      {"waves", fits ? Json(fits->waves) : Json()},
                      {"most_waves", fits ? Json(fits->max_waves) : Json()},
                      {"free", fits ? Json(100 - 100 * fits->waves / fits->max_waves) : Json()}};
}

Json image_row(const ImageSummary& image) {
  return Json::Object{{"path", image.path},
                      {"module", image.module},
                      {"target", to_string(image.info.target)},
                      {"format", image.info.format_version},
                      {"kernels", image.info.kernels.size()},
                      {"size", image.size}};
}

// Returns the events of a trace for the page, in milliseconds.
Json::Array step_rows(const Json& trace) {
  Json::Array rows;
  for (const Json& event : array_of(trace, "traceEvents")) {
    if (text_of(event, "ph") != "X") continue;
    const Json* arguments = event.find("args");
    const std::string status = arguments == nullptr ? "" : text_of(*arguments, "status");
    const auto milliseconds = [&](const char* key) {
      const std::int64_t microseconds = integer_of(event, key).value_or(0);
      return microseconds / 1000 + (microseconds % 1000 >= 500 ? 1 : 0);
    };
    rows.push_back(Json::Object{
        {"step", text_of(event, "name")},
        {"status", status.empty() ? "build" : status},
        {"start", milliseconds("ts")},
        {"time", milliseconds("dur")},
        {"lane", integer_of(event, "tid").value_or(0)},
        {"why", arguments == nullptr ? std::string()
                                     : join(texts_of(array_of(*arguments, "reasons")), ", ")}});
  }
  return rows;
}

// Returns the timeline of the last build. Empty, with a warning, if it cannot be read.
Json::Array own_steps(const ReportOptions& options, const fs::path& folder, const World& world) {
  const fs::path path = timeline_file(folder);
  if (world.files.kind(path) == PathKind::kNone) return {};
  const Result<std::string> text = world.files.read(path);
  if (text) {
    const Result<Json> trace = read_json(*text, path.string());
    if (trace && trace->find("traceEvents") != nullptr) return step_rows(*trace);
  }
  world.err << "kiln: warning: the report has no timeline: "
            << (text ? quote(timeline_file(options.folder).generic_string()) +
                           " is no trace; a build that runs a step writes it anew"
                     : text.error().message)
            << "\n";
  return {};
}

Result<Json::Array> read_steps(const ReportOptions& options, const fs::path& folder,
                               const World& world) {
  if (options.trace.empty()) return own_steps(options, folder, world);
  KILN_TRY_ASSIGN(const std::string text,
                  world.files.read(world.environment.current_directory / options.trace));
  const Result<Json> trace = read_json(text, options.trace.string());
  if (trace && trace->find("traceEvents") != nullptr) return step_rows(*trace);
  constexpr const char* kHowToName = "name a file that 'kiln build --trace FILE' wrote";
  if (trace) {
    return Error{ErrorCode::kInvalidInput, quote(options.trace.string()) + " has no \"traceEvents\""}.hint(kHowToName);
  }
  const Recognized recognized = recognize(text, options.trace);
  if (recognized.what.empty()) return Error(trace.error()).hint(kHowToName);
  return misplaced({recognized.what, kHowToName}, "a trace", options.trace);
}

// Escapes JSON so that it cannot end the script element that holds it.
std::string as_script(const Json& data) {
  std::string text;
  for (const char c : write_json(data, JsonLayout::kCompact)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// Only a page that kiln wrote may be replaced.
Result<void> check_page(const fs::path& path, const ReportOptions& options, const World& world) {
  const PathKind kind = world.files.kind(path);
  if (kind == PathKind::kNone) return {};
  if (kind == PathKind::kFile) {
    KILN_TRY_ASSIGN(const std::string text, world.files.read(path));
    const std::string_view page = report_page();
    constexpr std::size_t kSame = 100;
    if (text.starts_with(page.substr(0, kSame))) return {};
  }
  return Error{ErrorCode::kInvalidInput,
               quote(options.page.string()) + " is there, and is no report of kiln"}
      .hint("choose another name: --out FILE");
}

}  // namespace

Result<int> run_report(const ReportOptions& options, World& world) {
  const fs::path& current_folder = world.environment.current_directory;
  const fs::path folder = (current_folder / options.folder).lexically_normal();
  const fs::path page = (current_folder / options.page).lexically_normal();
  const bool is_printed = options.page == "-";
  if (!is_printed) KILN_TRY(check_page(page, options, world));
  KILN_TRY_ASSIGN(const Json document, read_build_document(folder, options.folder, world.files));
  KILN_TRY_ASSIGN(const std::vector<ImageSummary> images,
                  read_images(document, (options.folder / "kiln.json").generic_string()));
  KILN_TRY_ASSIGN(Json::Array steps, read_steps(options, folder, world));
  Json::Array image_rows, kernel_rows;
  std::set<std::pair<std::string, std::string>> kernels;  // by module; each is in many images
  for (const ImageSummary& image : images) {
    image_rows.push_back(image_row(image));
    for (const KernelInfo& kernel : image.info.kernels) {
      kernel_rows.push_back(kernel_row(image, kernel));
      kernels.insert({image.module, kernel.name});
    }
  }
  const Json data = Json::Object{{"name", text_of(document, "name")},
                                 {"targets", strings(texts_of(array_of(document, "targets")))},
                                 {"images", std::move(image_rows)},
                                 {"kernels", std::move(kernel_rows)},
                                 {"steps", std::move(steps)}};
  std::string text(report_page());
  text.replace(text.find(kReportPlace), kReportPlace.size(), as_script(data));
  if (is_printed) {
    world.out << text;
    return 0;
  }
  KILN_TRY(world.files.write(page, text));
  world.out << counted(kernels.size(), "kernel") << " in " << counted(images.size(), "image") << ": "
            << options.page.string() << "\n";
  return 0;
}

}  // namespace kiln::tools
