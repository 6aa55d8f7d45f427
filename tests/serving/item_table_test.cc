#include "serving/item_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace plackett::serving {
namespace {

// A table of items with one feature.
class Table {
 public:
  void put(const std::string& id, std::int64_t version, float feature) {
    const std::vector<float> row = row_of(feature);
    items_.put({&id, 1}, {&version, 1}, row);
  }
  void remove(const std::string& id, std::int64_t version) { items_.remove(id, version); }
  // What another node did; without a feature, it has removed the item.
  void apply(const std::string& id, std::int64_t version, std::optional<float> feature) {
    SharedStore::ItemChange change{.id = id, .version = version};
    if (feature) {
      change.features.emplace(sizeof(float));
      std::memcpy(change.features->data(), &*feature, sizeof(float));
    }
    items_.apply({&change, 1});
  }
  // The item's version, if it has this feature.
  std::int64_t version(const std::string& id, float feature) {
    const std::vector<float> row = row_of(feature);
    return items_.version_with(id, row.data());
  }
  bool has(const std::string& id) { return items_.has(id); }

 private:
  std::vector<float> row_of(float feature) {
    std::vector<float> row(items_.stride(), 0.0F);
    row[0] = feature;
    return row;
  }
  ItemTable items_{1};
};

TEST(ItemTable, AnItemThatAnotherNodeHasRemovedSinceIsNotPutBack) {
  Table table;
  table.apply("x", 6, std::nullopt);
  table.put("x", 5, 1);
  EXPECT_FALSE(table.has("x"));
  table.put("x", 7, 1);
  EXPECT_EQ(table.version("x", 1), 7);
}

TEST(ItemTable, AnItemThatAnotherNodeHasChangedSinceKeepsThat) {
  Table table;
  table.apply("x", 6, 2);
  table.put("x", 5, 1);
  EXPECT_EQ(table.version("x", 2), 6);
  table.remove("x", 5);
  EXPECT_EQ(table.version("x", 2), 6);
  table.remove("x", 6);
  EXPECT_FALSE(table.has("x"));
}

TEST(ItemTable, AnItemThatWasNotChangedIsLeftOut) {
  Table table;
  table.put("x", 0, 1);
  EXPECT_FALSE(table.has("x"));
  table.put("x", 5, 1);
  table.put("x", 0, 2);
  EXPECT_EQ(table.version("x", 1), 5);
}

TEST(ItemTable, ChangesThatAreOlderThanWhatIsHereAreLeftOut) {
  Table table;
  table.put("x", 5, 1);
  table.apply("x", 4, std::nullopt);
  table.apply("x", 3, 2);
  EXPECT_EQ(table.version("x", 1), 5);
  table.apply("x", 6, std::nullopt);
  EXPECT_FALSE(table.has("x"));
}

}  // namespace
}  // namespace plackett::serving
