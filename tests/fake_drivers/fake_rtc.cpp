// An NVRTC, or a hipRTC with KILN_FAKE_HIPRTC, that makes images of the fake drivers: the kernels
// that the source spells "__global__ void NAME(", for the architecture in the options. A source
// with the word "mistake" fails, with a log that names a file below the include folder. The file of
// `#include "FILE"` is part of the source; it is looked up next to the program's name, then in the
// include folder. Every function of rtc_symbols.def is declared from the table and defined here.
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#ifdef KILN_FAKE_HIPRTC
#define RTC(nvrtc, hiprtc) hiprtc
#else
#define RTC(nvrtc, hiprtc) nvrtc
#endif
#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
#define KILN_RTC_SYMBOL(name, nvrtc, hiprtc, result, parameters) \
  FAKE_EXPORT result RTC(nvrtc, hiprtc) parameters;
#include "runtime/src/rtc_symbols.def"

namespace {

struct Program {
  std::string source, name, log, code;
};
Program& of(void* program) { return *static_cast<Program*>(program); }

enum Status { kSuccess = 0, kCompilation = 6 };

std::string kernels_of(const std::string& source) {
  std::string found;
  std::istringstream words(source);
  for (std::string word; words >> word;) {
    if (word != "__global__" || !(words >> word >> word)) continue;
    found += ".entry " + word.substr(0, word.find('(')) + "\n";
  }
  return found;
}

// Returns the file that the source includes, or nothing.
std::string included_text(const Program& program, const std::string& folder) {
  const std::string word = "#include \"";
  const std::size_t begin = program.source.find(word);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + word.size();
  const std::string file = program.source.substr(from, program.source.find('"', from) - from);
  const std::size_t slash = program.name.rfind('/');
  const std::string beside = slash == std::string::npos ? "." : program.name.substr(0, slash);
  for (const std::string& place : {beside, folder}) {
    std::ifstream text(place + "/" + file);
    if (text) return std::string(std::istreambuf_iterator<char>(text), {});
  }
  return {};
}

}  // namespace

FAKE_EXPORT int RTC(nvrtcVersion, hiprtcVersion)(int* major, int* minor) {
  *major = 9;
  *minor = 1;
  return kSuccess;
}
FAKE_EXPORT const char* RTC(nvrtcGetErrorString, hiprtcGetErrorString)(int status) {
  return status == kCompilation ? RTC("NVRTC_ERROR_COMPILATION", "HIPRTC_ERROR_COMPILATION")
                                : "none";
}
FAKE_EXPORT int RTC(nvrtcCreateProgram,
                    hiprtcCreateProgram)(void** program, const char* source, const char* name, int,
                                         const char* const*, const char* const*) {
  *program = new Program{source, name, {}, {}};
  return kSuccess;
}
FAKE_EXPORT int RTC(nvrtcDestroyProgram, hiprtcDestroyProgram)(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return kSuccess;
}
FAKE_EXPORT int RTC(nvrtcCompileProgram, hiprtcCompileProgram)(void* program, int count,
                                                               const char* const* options) {
  std::string arch, folder;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    const std::size_t equals = option.find("arch");
    if (equals != std::string::npos) arch = option.substr(option.find('=') + 1);
    if (option.rfind("-I", 0) == 0 && folder.empty()) folder = option.substr(2);
  }
  if (of(program).source.find("mistake") != std::string::npos) {
    of(program).log = folder + "/scale.cuh(3): error: a mistake\n\n1 error detected\n";
    return kCompilation;
  }
  of(program).code = "FAKE " + arch + "\n" + kernels_of(of(program).source) +
                     kernels_of(included_text(of(program), folder));
  return kSuccess;
}
FAKE_EXPORT int RTC(nvrtcGetProgramLogSize, hiprtcGetProgramLogSize)(void* program,
                                                                     std::size_t* bytes) {
  *bytes = of(program).log.size() + 1;
  return kSuccess;
}
FAKE_EXPORT int RTC(nvrtcGetProgramLog, hiprtcGetProgramLog)(void* program, char* log) {
  std::memcpy(log, of(program).log.c_str(), of(program).log.size() + 1);
  return kSuccess;
}
FAKE_EXPORT int RTC(nvrtcGetCUBINSize, hiprtcGetCodeSize)(void* program, std::size_t* bytes) {
  *bytes = of(program).code.size();
  return kSuccess;
}
FAKE_EXPORT int RTC(nvrtcGetCUBIN, hiprtcGetCode)(void* program, char* code) {
  std::memcpy(code, of(program).code.data(), of(program).code.size());
  return kSuccess;
}
