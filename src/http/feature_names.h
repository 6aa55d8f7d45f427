// A model's features by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serving/model_spec.h"

namespace plackett::http {

// Never changes once made.
class FeatureNames {
 public:
  FeatureNames() = default;
  // `spec` must outlive it.
  explicit FeatureNames(const serving::ModelSpec& spec) {
    indices_.reserve(spec.feature_names.size());
    for (std::uint32_t at = 0; at < spec.feature_names.size(); ++at) {
      indices_.emplace(spec.feature_names[at], at);
    }
  }

  [[nodiscard]] bool empty() const { return indices_.empty(); }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const {
    const auto found = indices_.find(name);
    if (found == indices_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> indices_;
};

// The names of the models that one thread meets, each made once. Owner is what keeps a model
// (a shared_ptr): a model that went is forgotten.
template <typename Owner>
class FeatureNamesCache {
 public:
  // `spec` belongs to the model. The result lives until the model or the cache goes.
  const FeatureNames& of(const Owner& model, const serving::ModelSpec& spec) {
    for (std::size_t at = 0; at < entries_.size();) {
      if (entries_[at].model.expired()) {
        entries_[at] = std::move(entries_.back());
        entries_.pop_back();
        continue;
      }
      if (entries_[at].of == model.get()) return *entries_[at].names;
      ++at;
    }
    entries_.push_back({model.get(), model, std::make_unique<FeatureNames>(spec)});
    return *entries_.back().names;
  }

 private:
  struct Entry {
    const void* of = nullptr;
    typename Owner::weak_type model;
    std::unique_ptr<FeatureNames> names;
  };
  std::vector<Entry> entries_;
};

}  // namespace plackett::http
