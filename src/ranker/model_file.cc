#include "plackett/model_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "plackett/scaling.h"

namespace plackett {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kMagic = "PLKMODEL";
constexpr std::uint32_t kPlainVersion = 1;
constexpr std::uint32_t kMemoryVersion = 2;    // version 1, then the learner's memory
constexpr std::uint32_t kSettingsVersion = 3;  // version 2, then the learner's settings
constexpr std::size_t kHeaderBytes = 32;       // magic, version, zero, payload size, checksum
constexpr std::uint32_t kMaxHiddenLayers = 64;

class Writer {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T>
  void put(T value) { put_all(std::span<const T>(&value, 1)); }
  template <typename T>
  void put_all(std::span<const T> values) {
    if (values.empty()) return;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + values.size_bytes());
    std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_all(std::span(text.data(), text.size()));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads values one after another. After the first read past the end all reads give zeros and ok()
// is false; nothing is allocated for bytes that are missing.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T> T get() {
    T value{};
    if (const auto bytes = take(sizeof(T)); !bytes.empty()) {
      std::memcpy(&value, bytes.data(), sizeof(T));
    }
    return value;
  }
  template <typename T>
  std::vector<T> get_all(std::uint64_t count) {
    if (count > bytes_.size() / sizeof(T)) {
      ok_ = false;
      return {};
    }
    std::vector<T> values(count);
    if (const auto bytes = take(count * sizeof(T)); !bytes.empty()) {
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
  }
  std::string get_text() {
    const auto characters = get_all<char>(get<std::uint32_t>());
    return {characters.begin(), characters.end()};
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (!ok_ || size > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

// The number of parameters of a spec; the largest integer on overflow.
std::uint64_t count_parameters(const RankerSpec& spec) {
  if (!has_network(spec.kind)) return spec.feature_count;
  std::uint64_t inputs = spec.feature_count;
  std::uint64_t count = spec.kind == RankerKind::kLinearPlusNeural ? spec.feature_count : 0;
  for (const std::uint64_t units : spec.hidden) {
    if (count > std::numeric_limits<std::uint64_t>::max() / 4) return ~std::uint64_t{0};
    count += (inputs + 1) * units;  // both below 2^32
    inputs = units;
  }
  return count + inputs;
}

// Why a model is inconsistent; empty if it is not.
std::string complaint(const SavedModel& model) {
  const RankerSpec& spec = model.ranker;
  if (spec.feature_count == 0) return "0 features; a model has at least 1";
  if (model.feature_ids.size() != spec.feature_count) {
    return fmt::format("{} feature ids for {} features; there must be one each",
                       model.feature_ids.size(), spec.feature_count);
  }
  for (const std::uint32_t id : model.feature_ids) {
    if (id == 0) return "feature id 0; ids start at 1";
  }
  if (const auto scaling = parse_scaling(model.scaling); !scaling) return scaling.error().message;
  if (has_network(spec.kind) && spec.hidden.empty()) return "a network without layers";
  for (const std::uint32_t units : spec.hidden) {
    if (units == 0) return "a layer of 0 units; a layer has at least 1";
  }
  if (model.parameters.size() != count_parameters(spec)) {
    return fmt::format("{} parameters; its shape needs {}", model.parameters.size(),
                       count_parameters(spec));
  }
  for (const float parameter : model.parameters) {
    if (!std::isfinite(parameter)) return "a parameter that is not finite";
  }
  for (const float value : model.learner.memory) {
    if (!std::isfinite(value)) return "a learner's memory that is not finite";
  }
  if (!std::isfinite(model.learner.learning_rate)) return "a learning rate that is not finite";
  return {};
}

}  // namespace

std::vector<std::byte> serialise_model(const SavedModel& model) {
  Writer payload;
  payload.put(static_cast<std::uint8_t>(model.ranker.kind));
  payload.put(static_cast<std::uint8_t>(model.ranker.activation));
  payload.put(std::uint16_t{0});
  payload.put(model.ranker.feature_count);
  const bool layered = has_network(model.ranker.kind);
  payload.put(static_cast<std::uint32_t>(layered ? model.ranker.hidden.size() : 0));
  if (layered) payload.put_all(std::span(std::as_const(model.ranker.hidden)));
  payload.put_all(std::span(model.feature_ids));
  payload.put_text(model.scaling);
  payload.put_text(model.learner.method);
  payload.put(model.learner.learning_rate);
  payload.put(model.learner.updates);
  payload.put(model.learner.impressions);
  payload.put(std::uint64_t{model.parameters.size()});
  payload.put_all(std::span(model.parameters));
  const std::uint32_t version = !model.settings.empty()         ? kSettingsVersion
                                : !model.learner.memory.empty() ? kMemoryVersion
                                                                : kPlainVersion;
  if (version >= kMemoryVersion) {
    payload.put(std::uint64_t{model.learner.memory.size()});
    payload.put_all(std::span(model.learner.memory));
  }
  if (version >= kSettingsVersion) {
    payload.put(static_cast<std::uint32_t>(model.settings.size()));
    for (const GivenSetting& setting : model.settings) {
      payload.put_text(setting.name);
      payload.put_text(setting.value);
    }
  }

  Writer file;
  file.put_all(std::span(kMagic.data(), kMagic.size()));
  file.put(version);
  file.put(std::uint32_t{0});
  file.put(std::uint64_t{payload.bytes().size()});
  file.put(checksum(payload.bytes()));
  file.put_all(std::span<const std::byte>(payload.bytes()));
  return std::move(file.bytes());
}

Result<SavedModel> parse_model(std::span<const std::byte> bytes, const ParseModelOptions& options) {
  const auto wrong = [&options](std::string_view what) {
    return Error{fmt::format("{}: {}", options.name, what)};
  };
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return wrong("not a plackett model; one starts with PLKMODEL");
  }
  Reader header(bytes.subspan(kMagic.size()));
  const auto version = header.get<std::uint32_t>();
  if (version < kPlainVersion || version > kSettingsVersion) {
    return wrong(fmt::format("model format version {}; this plackett reads versions {} to {}",
                             version, kPlainVersion, kSettingsVersion));
  }
  header.get<std::uint32_t>();
  const auto payload_bytes = header.get<std::uint64_t>();
  const auto expected_checksum = header.get<std::uint64_t>();
  const auto payload = bytes.subspan(kHeaderBytes);
  if (payload.size() != payload_bytes) {
    return wrong(
        fmt::format("{} bytes after the header; it announces {}: the file was cut or "
                    "added to",
                    payload.size(), payload_bytes));
  }
  if (options.check && checksum(payload) != expected_checksum) {
    return wrong("checksum does not match: the file is damaged");
  }

  Reader reader(payload);
  SavedModel model;
  const auto kind = reader.get<std::uint8_t>();
  const auto activation = reader.get<std::uint8_t>();
  reader.get<std::uint16_t>();
  if (kind > static_cast<std::uint8_t>(RankerKind::kLinearPlusNeural)) {
    return wrong(fmt::format("ranker kind {}; known are 0 to 2", kind));
  }
  if (activation > static_cast<std::uint8_t>(Activation::kTanh)) {
    return wrong(fmt::format("activation {}; known are 0 to 2", activation));
  }
  model.ranker.kind = RankerKind{kind};
  model.ranker.activation = Activation{activation};
  model.ranker.feature_count = reader.get<std::uint32_t>();
  const auto hidden_count = reader.get<std::uint32_t>();
  if (hidden_count > kMaxHiddenLayers) {
    return wrong(fmt::format("{} hidden layers; at most {}", hidden_count, kMaxHiddenLayers));
  }
  model.ranker.hidden = reader.get_all<std::uint32_t>(hidden_count);
  model.feature_ids = reader.get_all<std::uint32_t>(model.ranker.feature_count);
  model.scaling = reader.get_text();
  model.learner.method = reader.get_text();
  model.learner.learning_rate = reader.get<double>();
  model.learner.updates = reader.get<std::uint64_t>();
  model.learner.impressions = reader.get<std::uint64_t>();
  model.parameters = reader.get_all<float>(reader.get<std::uint64_t>());
  if (version >= kMemoryVersion) {
    model.learner.memory = reader.get_all<float>(reader.get<std::uint64_t>());
  }
  if (version >= kSettingsVersion) {
    for (auto left = reader.get<std::uint32_t>(); left > 0 && reader.ok(); --left) {
      std::string name = reader.get_text();
      model.settings.push_back({std::move(name), reader.get_text()});
    }
  }
  if (!reader.ok() || !reader.at_end()) return wrong("its parts don't fill it exactly");
  if (const std::string reason = complaint(model); !reason.empty()) return wrong(reason);
  return model;
}

Result<void> save_model(const SavedModel& model, const std::filesystem::path& path) {
  if (const std::string reason = complaint(model); !reason.empty()) {
    return Error{fmt::format("{}: {}", path.string(), reason)};
  }
  auto file = AtomicFile::create(path);
  if (!file) return file.error();
  const auto bytes = serialise_model(model);
  if (auto appended = file->append(bytes); !appended) return appended;
  return file->finish();
}

Result<SavedModel> load_model(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  return parse_model(file->bytes(), {.name = path.string()});
}

Result<std::unique_ptr<Ranker>> restore_ranker(const SavedModel& model) {
  if (const std::string reason = complaint(model); !reason.empty()) return Error{reason};
  Rng rng({.purpose = Purpose::kInitialise});
  auto ranker = make_ranker(model.ranker, rng);
  if (ranker) (*ranker)->set_parameters(model.parameters);
  return ranker;
}

}  // namespace plackett
