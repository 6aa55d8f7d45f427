// The body of POST /models/{m}/rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "http/feature_names.h"
#include "http/id_table.h"
#include "http/json_reader.h"
#include "http/padded_text.h"
#include "plackett/result.h"
#include "serving/model_spec.h"
#include "serving/service.h"

namespace plackett::http {

struct RankLimits {
  std::size_t items = 1000;
};

// One a thread: keeps its memory between requests.
class RankRequestReader {
 public:
  // Fills `request`, whose views point into the reader's memory and `body` until the next read;
  // gives why not where the body is refused, with `request` in any state. Ids are distinct, pins
  // and blocks name items; whether the pins fit together is left to the service.
  std::optional<Error> read(JsonReader& json, const PaddedText& body,
                            const serving::ModelSpec& spec, const FeatureNames& names,
                            const RankLimits& limits, serving::RankRequest& request);

 private:
  struct NamedPin {
    std::string_view id;
    std::uint32_t rank = 0;  // from 1
  };

  void read_item(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                 const FeatureNames& names, serving::RankRequest& request);
  void read_pins(JsonReader& json, JsonValue value);
  void resolve(serving::RankRequest& request, const serving::ModelSpec& spec);

  IdTable ids_;
  std::vector<NamedPin> pins_;
  std::vector<std::string_view> blocks_;
};

}  // namespace plackett::http
