#include "tools/commands/diff.hpp"

#include <algorithm>

#include "base/demangle.hpp"
#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "tools/commands/table.hpp"
#include "tools/engine/build_folder.hpp"
#include "tools/stages/diff_builds.hpp"

namespace kiln::tools {
namespace {

Result<std::vector<ImageSummary>> read(const std::filesystem::path& path, const World& world) {
  const BuildPath build = build_path(path, world.environment.current_directory);
  KILN_TRY_ASSIGN(const Json document, read_build_document(build.folder, build.shown, world.files));
  return read_images(document, (build.shown / "kiln.json").lexically_normal().generic_string());
}

// Returns a text such as "+12.5%".
std::string percent(std::uint64_t before, std::uint64_t after) {
  if (before == 0) return "";
  const bool is_more = after >= before;
  const std::uint64_t tenths =
      ((is_more ? after - before : before - after) * 1000 + before / 2) / before;
  return (is_more ? "+" : "-") + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
         "%";
}

std::string difference(std::uint64_t before, std::uint64_t after) {
  return after >= before ? "+" + std::to_string(after - before)
                         : "-" + std::to_string(before - after);
}

std::string spell(const KernelName& name) {
  return printable_line(name.module + "." + with_demangled(name.kernel));
}

void print(const BuildDiff& diff, std::ostream& out) {
  const auto heading = [&](const char* text) { out << text << "\n"; };
  for (const std::string& target : diff.added_targets)
    out << "+ target " << printable_line(target) << "\n";
  for (const std::string& target : diff.removed_targets)
    out << "- target " << printable_line(target) << "\n";
  for (const KernelName& name : diff.added_kernels) {
    if (diff.is_renamed(name)) continue;
    out << "+ kernel " << spell(name) << "\n";
  }
  for (const KernelName& name : diff.removed_kernels) {
    if (diff.is_renamed(name)) continue;
    out << "- kernel " << spell(name) << "\n";
  }
  for (const SignatureChange& change : diff.signatures) {
    out << "! kernel " << spell(change.kernel)
        << (change.is_renamed() ? ", now " + printable_line(change.after_kernel) : "")
        << "\n    " << printable_line(change.before)
        << "\n -> " << printable_line(change.after) << "\n";
  }
  for (const ImageName& name : diff.images) {
    const bool has_size = std::ranges::any_of(diff.sizes, [&](const SizeChange& change) {
      return change.module == name.module && change.target == name.target;
    });
    if (has_size) continue;  // the table of sizes lists it
    out << "! images of module " << printable_line(name.module) << " for " << printable_line(name.target)
        << ": other bytes, as many\n";
  }
  if (!diff.sizes.empty()) {
    heading("bytes of images");
    Table table({"module", "target", "before", "after", "change", ""});
    for (const SizeChange& change : diff.sizes) {
      table.add({printable_line(change.module), printable_line(change.target),
                 std::to_string(change.before), std::to_string(change.after),
                 percent(change.before, change.after), ""});
    }
    table.add({"all", "", std::to_string(diff.total_before), std::to_string(diff.total_after),
               percent(diff.total_before, diff.total_after), ""});
    table.print(out);
  }
  if (!diff.resources.empty()) {
    heading("resources of kernels");
    Table table({"kernel", "target", "resource", "before", "after", "change", ""});
    for (const ResourceChange& change : diff.resources) {
      table.add({spell(change.kernel), printable_line(change.target),
                 std::string(to_string(change.resource)), std::to_string(change.before),
                 std::to_string(change.after), difference(change.before, change.after), ""});
    }
    table.print(out);
  }
  if (diff.is_empty()) out << "no difference\n";
}

}  // namespace

Result<int> run_diff(const DiffOptions& options, World& world) {
  RegressionLimits limits;
  for (const std::string& text : options.fail_on) KILN_TRY(add_regression_limit(text, limits));
  KILN_TRY_ASSIGN(const std::vector<ImageSummary> before, read(options.before, world));
  KILN_TRY_ASSIGN(const std::vector<ImageSummary> after, read(options.after, world));
  const BuildDiff diff = diff_builds(before, after);
  const std::vector<std::string> worse = regressions(diff, limits);
  if (options.json) {
    Json document = diff_json(diff);
    std::get<Json::Object>(document.value)
        .push_back({"regressions", Json::Array(worse.begin(), worse.end())});
    world.out << write_json(document);
  } else {
    print(diff, world.out);
  }
  if (worse.empty()) return 0;
  Error error{.code = ErrorCode::kBuildFailed,
              .message = quote(options.after.string()) + " is worse than " +
                         quote(options.before.string()) + " in " + counted(worse.size(), "point")};
  for (const std::string& line : worse) error.note(line);
  return error;
}

}  // namespace kiln::tools
