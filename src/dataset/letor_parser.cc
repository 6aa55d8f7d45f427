#include "dataset/letor_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "base/parallel.h"
#include "dataset/parse_value.h"
#include "plackett/judgments.h"

namespace plackett {
namespace {

constexpr const char* kLineForm = "a line is: label qid:ID id:value id:value ... # comment";
constexpr std::size_t kShownBytes = 40;
constexpr std::ptrdiff_t kIdDigits = 9;  // so that an id fits 32 bits without a check

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool ends_token(const char* p, const char* end) { return p == end || is_space(*p) || *p == '#'; }

// The token at `p` for a message: quoted, cut, and printable whatever its bytes are.
std::string shown(const char* p, const char* end) {
  std::string text = "'";
  for (std::size_t bytes = 0; !ends_token(p, end); ++p, ++bytes) {
    if (bytes == kShownBytes) {
      text += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(*p);
    if (byte >= 0x20 && byte < 0x7F) {
      text += *p;
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  return text + "'";
}

// Reads an integer below 2^64 that is all of its token; null if there is none.
const char* parse_whole(const char* p, const char* end, std::uint64_t& number) {
  const auto [rest, error] = std::from_chars(p, end, number);
  return error == std::errc() && ends_token(rest, end) ? rest : nullptr;
}

// Parses lines into a piece; stops at the first bad one.
class LineParser {
 public:
  LineParser(LetorText::Piece& piece, std::uint32_t max_feature_id)
      : piece_(piece), max_feature_id_(max_feature_id) {}

  void parse(std::string_view text) {
    piece_.values.reserve(text.size() / 10);
    const char* p = text.data();
    const char* const text_end = p + text.size();
    while (p != text_end) {
      const auto* newline =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(text_end - p)));
      const char* line_end = newline != nullptr ? newline : text_end;
      const char* next = newline != nullptr ? newline + 1 : text_end;
      if (line_end != p && line_end[-1] == '\r') --line_end;
      ++piece_.line_count;
      if (!parse_line(p, line_end)) return;
      p = next;
    }
  }

 private:
  bool fail(std::string message) {
    piece_.error = std::move(message);
    return false;
  }

  bool parse_line(const char* p, const char* end) {
    while (p != end && is_space(*p)) ++p;
    if (p == end || *p == '#') return true;

    LetorText::Row row;
    std::uint64_t number = 0;
    const char* rest = parse_whole(p, end, number);
    if (rest == nullptr || number > kMaxLabel) {
      return fail(
          fmt::format("label {}; labels are integers from 0 to {}", shown(p, end), kMaxLabel));
    }
    row.label = static_cast<std::uint8_t>(number);
    for (p = rest; p != end && is_space(*p);) ++p;

    if (end - p < 4 || std::memcmp(p, "qid:", 4) != 0) {
      return fail(fmt::format("no qid after the label{}; {}",
                              ends_token(p, end) ? "" : " but " + shown(p, end), kLineForm));
    }
    rest = parse_whole(p + 4, end, row.query_id);
    if (rest == nullptr) {
      return fail(
          fmt::format("query id {}; expected an integer below 2^64 after qid:", shown(p, end)));
    }
    row.first_value = piece_.values.size();
    row.first_id = LetorText::kNoGaps;
    if (!parse_features(rest, end, row)) return false;
    piece_.rows.push_back(row);
    return true;
  }

  bool parse_features(const char* p, const char* end, LetorText::Row& row) {
    std::uint32_t last_id = 0;
    while (true) {
      while (p != end && is_space(*p)) ++p;
      if (p == end || *p == '#') return true;
      const char* token = p;
      std::uint32_t id = 0;
      while (p != end && detail::is_digit(*p) && p - token < kIdDigits) {
        id = id * 10 + static_cast<std::uint32_t>(*p++ - '0');
      }
      if (p == token || p == end || *p != ':' || id <= last_id || id > max_feature_id_) {
        return fail(id_error(token, end, last_id));
      }
      float value = 0;
      const char* rest = parse_value(p + 1, end, value);
      if (rest == nullptr || !ends_token(rest, end) || !std::isfinite(value)) {
        return fail(value_error(id, p + 1, end, rest));
      }
      p = rest;
      if (id != last_id + 1 && row.first_id == LetorText::kNoGaps) {
        row.first_id = piece_.ids.size();
        for (std::uint32_t before = 1; before <= row.count; ++before) piece_.ids.push_back(before);
      }
      if (row.first_id != LetorText::kNoGaps) piece_.ids.push_back(id);
      piece_.values.push_back(value);
      ++row.count;
      last_id = id;
      piece_.max_id = std::max(piece_.max_id, id);
    }
  }

  // The messages are cold: inlined into the loop over features they would slow it down.
  [[nodiscard, gnu::cold]] std::string id_error(const char* token, const char* end,
                                                std::uint32_t last_id) const {
    std::uint64_t id = 0;
    const auto [rest, error] = std::from_chars(token, end, id);
    if (rest == token || rest == end || *rest != ':') {
      return fmt::format("{} is not a feature; features are id:value pairs", shown(token, end));
    }
    const auto digits = std::string_view(token, rest).substr(0, kShownBytes);
    if (error != std::errc() || id > max_feature_id_) {
      return fmt::format(
          "feature id {}; ids go up to {} (rows are dense; max-feature-id raises the limit)",
          digits, max_feature_id_);
    }
    if (rest - token > kIdDigits) {
      return fmt::format("feature id {}; ids have at most {} digits", digits, kIdDigits);
    }
    if (id == 0) return "feature id 0; ids start at 1";
    if (id == last_id) {
      return fmt::format("feature id {} twice; ids must ascend along a line", id);
    }
    return fmt::format("feature id {} after {}; ids must ascend along a line", id, last_id);
  }

  [[gnu::cold]] static std::string value_error(std::uint32_t id, const char* text, const char* end,
                                               const char* rest) {
    if (ends_token(text, end)) {
      return fmt::format("feature {} has no value; features are id:value pairs", id);
    }
    if (rest == nullptr || !ends_token(rest, end)) {
      return fmt::format("feature {} has value {}; values are decimal numbers", id,
                         shown(text, end));
    }
    const bool word = std::none_of(text, rest, detail::is_digit);
    return fmt::format("feature {} has value {}; values must be finite{}", id, shown(text, end),
                       word ? "" : " as floats (at most 3.4e38)");
  }

  LetorText::Piece& piece_;
  std::uint32_t max_feature_id_;
};

// Cuts at line ends into pieces of about `bytes`.
std::vector<std::string_view> cut_at_lines(std::string_view text, std::size_t bytes) {
  std::vector<std::string_view> pieces;
  while (text.size() > bytes) {
    const std::size_t newline = text.find('\n', bytes);
    if (newline == std::string_view::npos) break;
    pieces.push_back(text.substr(0, newline + 1));
    text.remove_prefix(newline + 1);
  }
  if (!text.empty()) pieces.push_back(text);
  return pieces;
}

}  // namespace

Result<std::unique_ptr<LetorText>> parse_letor(std::string_view text, const LetorOptions& options) {
  const auto cuts = cut_at_lines(text, options.chunk_bytes);
  auto parsed = std::make_unique<LetorText>();
  auto& pieces = parsed->pieces_;
  pieces.resize(cuts.size());
  parallel_for(options.threads, cuts.size(), [&](std::size_t number) {
    LineParser(pieces[number], options.max_feature_id).parse(cuts[number]);
  });

  std::size_t lines = 0;
  std::size_t docs = 0;
  for (const auto& piece : pieces) {
    lines += piece.line_count;
    docs += piece.rows.size();
    if (!piece.error.empty()) {
      return Error{fmt::format("{}:{}: {}", options.path, lines, piece.error)};
    }
  }
  if (docs == 0) {
    return Error{fmt::format("{}:{}: {}; a file needs at least one document", options.path,
                             std::max<std::size_t>(lines, 1),
                             text.empty() ? "empty file" : "no document up to the end")};
  }
  parsed->join_queries();
  return parsed;
}

void LetorText::join_queries() {
  std::unordered_map<std::uint64_t, std::uint32_t> number_of;
  std::vector<std::uint32_t> query_of;  // per document, in file order
  std::uint32_t query = 0;
  for (const Piece& piece : pieces_) {
    max_id_ = std::max(max_id_, piece.max_id);
    for (const Row& row : piece.rows) {
      if (query_of.empty() || query_ids_[query] != row.query_id) {
        query = number_of.try_emplace(row.query_id, query_ids_.size()).first->second;
        if (query == query_ids_.size()) {
          query_ids_.push_back(row.query_id);
          query_begin_.push_back(0);
        }
      }
      query_of.push_back(query);
      ++query_begin_[query + 1];
    }
  }
  std::partial_sum(query_begin_.begin(), query_begin_.end(), query_begin_.begin());

  std::vector<std::uint64_t> next(query_begin_.begin(), query_begin_.end() - 1);
  docs_.resize(query_of.size());
  std::size_t doc = 0;
  for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
    for (std::uint32_t row = 0; row < pieces_[piece].rows.size(); ++row) {
      docs_[next[query_of[doc++]]++] = {piece, row};
    }
  }
}

template <typename Visit>
void LetorText::each_value(const Place& place, Visit visit) const {
  const Piece& piece = pieces_[place.piece];
  const Row& row = piece.rows[place.row];
  const float* values = piece.values.data() + row.first_value;
  for (std::uint32_t at = 0; at < row.count; ++at) {
    visit(row.first_id == kNoGaps ? at : piece.ids[row.first_id + at] - 1, values[at]);
  }
}

std::vector<bool> LetorText::varying(unsigned threads) const {
  std::vector<float> first(max_id_);  // the values of the first document
  each_value(docs_.front(), [&](std::uint32_t feature, float value) { first[feature] = value; });
  std::vector<std::vector<std::uint8_t>> differs(pieces_.size());  // by piece and feature
  parallel_for(threads, pieces_.size(), [&](std::size_t number) {
    std::vector<std::uint8_t>& differ = differs[number];
    differ.resize(max_id_);
    std::vector<std::size_t> present(max_id_);
    const std::size_t rows = pieces_[number].rows.size();
    for (std::uint32_t row = 0; row < rows; ++row) {
      each_value({static_cast<std::uint32_t>(number), row},
                 [&](std::uint32_t feature, float value) {
                   ++present[feature];
                   if (value != first[feature]) differ[feature] = 1;
                 });
    }
    for (std::uint32_t feature = 0; feature < max_id_; ++feature) {
      if (first[feature] != 0 && present[feature] < rows) differ[feature] = 1;
    }
  });
  std::vector<bool> varies(max_id_);
  for (std::uint32_t feature = 0; feature < max_id_; ++feature) {
    varies[feature] = std::any_of(differs.begin(), differs.end(),
                                  [&](const auto& differ) { return differ[feature] != 0; });
  }
  return varies;
}

void LetorText::fill(Query query, const ColumnMap& columns, const Target& target) const {
  const std::uint64_t begin = query_begin_[index(query)];
  for (std::uint64_t doc = begin; doc < query_begin_[index(query) + 1]; ++doc) {
    float* out = target.rows + (doc - begin) * target.stride;
    target.labels[doc - begin] = pieces_[docs_[doc].piece].rows[docs_[doc].row].label;
    each_value(docs_[doc], [&](std::uint32_t feature, float value) {
      if (feature < columns.size() && columns[feature] != kDropped) out[columns[feature]] = value;
    });
  }
}

}  // namespace plackett
