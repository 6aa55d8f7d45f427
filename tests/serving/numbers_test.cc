// The numbers that a node has for lists, where several nodes make them.
#include <gtest/gtest.h>

#include "served.h"
#include "serving/model.h"

namespace plackett::serving {
namespace {

// Number and node of the next list; 0 and 0 if there is none.
std::pair<std::uint64_t, std::int64_t> next(Model& model) {
  return model.take_number().value_or(std::pair<std::uint64_t, std::int64_t>());
}

TEST(Numbers, OfABlockThatIsUsedUpAreFollowedByThoseOfTheSpareOne) {
  Model model(*check(small_spec()), ModelRow{.id = 1});
  EXPECT_FALSE(model.has_numbers());
  model.add_numbers({10, 12, 7}, 1000);
  model.add_numbers({20, 21, 8}, 2000);
  EXPECT_EQ(model.numbers_left(), 3U);
  EXPECT_EQ(next(model), std::pair(10UL, 7L));
  EXPECT_EQ(model.numbers_since(), 1000);
  EXPECT_EQ(next(model), std::pair(11UL, 7L));
  EXPECT_EQ(model.numbers_since(), 2000);
  EXPECT_EQ(next(model), std::pair(20UL, 8L));
  EXPECT_FALSE(model.take_number());
  // What is added to a spare block comes after it.
  model.add_numbers({30, 31, 8}, 3000);
  model.add_numbers({40, 41, 8}, 3000);
  EXPECT_EQ(next(model).first, 30U);
  model.add_numbers({50, 51, 8}, 3000);
  EXPECT_EQ(next(model).first, 40U);
  EXPECT_EQ(next(model).first, 50U);
}

TEST(Numbers, ThatAreOldAreGivenUpOnlyForYoungerOnes) {
  Model model(*check(small_spec()), ModelRow{.id = 1});
  model.add_numbers({10, 20, 7}, 1000);
  model.drop_old_numbers(5000);
  EXPECT_EQ(next(model).first, 10U) << "there are no others";
  model.add_numbers({30, 40, 7}, 2000);
  model.drop_old_numbers(999);
  EXPECT_EQ(next(model).first, 11U) << "they are young enough";
  model.drop_old_numbers(1000);
  EXPECT_EQ(next(model).first, 30U);
  EXPECT_EQ(model.numbers_since(), 2000);
  EXPECT_EQ(model.numbers_left(), 9U);
}

TEST(Numbers, ThatAreAddedAreToBeToldOf) {
  Model model(*check(small_spec()), ModelRow{.id = 1});
  EXPECT_EQ(model.numbers_told, ImpressionKey::kNumbers) << "there is nothing to tell of";
  model.add_numbers({10, 20, 7}, 1000);
  EXPECT_FALSE(model.numbers_told);
}

}  // namespace
}  // namespace plackett::serving
