// The body of POST /models/{m}/rank.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "http/feature_row.h"
#include "http/id_table.h"
#include "http/json_reader.h"
#include "plackett/result.h"
#include "serving/service.h"

namespace plackett::http {

// One per thread: keeps its memory between requests.
class RankRequestReader {
 public:
  // Fills `request`, whose views point into the memory of the readers and of `body` until the next
  // read; in any state if the body is refused. Ids are distinct, pins and blocks name items;
  // whether the pins fit together is left to the service.
  Result<void> read(JsonReader& json, JsonText body, const serving::ModelSpec& spec,
                    const FeatureNames& names, std::size_t max_items,
                    serving::RankRequest& request);

 private:
  struct NamedPin {
    std::string_view id;
    std::uint32_t rank = 0;  // from 1
  };

  void read_item(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                 const FeatureNames& names, serving::RankRequest& request);
  void resolve(JsonReader& json, serving::RankRequest& request, const serving::ModelSpec& spec);

  IdTable ids_;
  std::vector<NamedPin> pins_;
  std::vector<std::string_view> blocks_;
};

}  // namespace plackett::http
