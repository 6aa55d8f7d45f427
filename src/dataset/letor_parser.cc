#include "dataset/letor_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
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
constexpr std::size_t kShortLine = 64;
constexpr std::string_view kUnlabelled = "-1";
constexpr std::string_view kDocId = "docid";  // after the '#' of a comment

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

// Whether the token at `p` is the label of a document that nobody judged.
bool is_unlabelled(const char* p, const char* end) {
  return std::string_view(p, end).starts_with(kUnlabelled) &&
         ends_token(p + kUnlabelled.size(), end);
}

// Reads an integer below 2^64 that is all of its token; null if there is none.
const char* parse_whole(const char* p, const char* end, std::uint64_t& number) {
  const auto [rest, error] = std::from_chars(p, end, number);
  return error == std::errc() && ends_token(rest, end) ? rest : nullptr;
}

// Parses lines into a piece; stops at the first bad one.
class LineParser {
 public:
  LineParser(LetorText::Piece& piece, const LetorOptions& options)
      : piece_(piece), max_feature_id_(options.max_feature_id), options_(options) {}

  void parse(std::string_view text) {
    text_bytes_ = text.size();
    piece_.values.reserve(text.size() / 10);
    // Lines are about as long as the first one. Growing step by step would touch more memory.
    const std::size_t first_line = std::min(text.find('\n'), text.size());
    piece_.rows.reserve(text.size() / std::max(first_line, kShortLine) + 1);
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
    bool unlabelled = false;
    if (rest == nullptr || number > kMaxLabel) {
      unlabelled = is_unlabelled(p, end);
      if (!unlabelled || options_.unlabelled == Unlabelled::kRefuse) {
        return fail(label_error(p, end));
      }
      rest = p + kUnlabelled.size();
    }
    row.label = static_cast<std::uint8_t>(number);
    for (p = rest; p != end && is_space(*p);) ++p;

    if (end - p < 4 || std::memcmp(p, "qid:", 4) != 0) {
      return fail(fmt::format("no qid after the label{}; {}",
                              ends_token(p, end) ? "" : " but " + shown(p, end), kLineForm));
    }
    std::uint64_t query_id = 0;
    rest = parse_whole(p + 4, end, query_id);
    if (rest == nullptr) {
      return fail(
          fmt::format("query id {}; expected an integer below 2^64 after qid:", shown(p, end)));
    }
    if (unlabelled) {
      ++piece_.unlabelled_documents;
      std::vector<std::uint64_t>& ids = piece_.unlabelled_query_ids;
      if (ids.empty() || ids.back() != query_id) ids.push_back(query_id);
      return true;
    }
    row.first_value = piece_.values.size();
    row.first_id = LetorText::kNoGaps;
    const char* comment = parse_features(rest, end, row);
    if (comment == nullptr) return false;
    read_doc_id(comment, end);
    row.doc_id_end = piece_.doc_ids.size();
    if (piece_.runs.empty() || piece_.runs.back().query_id != query_id) {
      piece_.runs.push_back({query_id, static_cast<std::uint32_t>(piece_.rows.size())});
    }
    piece_.rows.push_back(row);
    return true;
  }

  // "#docid = GX029-35-5894638 inc = 1", as in LETOR. Other comments give no id.
  void read_doc_id(const char* p, const char* end) {
    const auto skip_spaces = [&] {
      while (p != end && is_space(*p)) ++p;
    };
    if (p != end) ++p;  // the '#'
    skip_spaces();
    if (static_cast<std::size_t>(end - p) < kDocId.size() ||
        std::memcmp(p, kDocId.data(), kDocId.size()) != 0) {
      return;
    }
    p += kDocId.size();
    skip_spaces();
    if (p == end || *p != '=') return;
    ++p;
    skip_spaces();
    const char* id = p;
    while (p != end && is_doc_id_byte(*p)) ++p;
    if (piece_.doc_ids.empty()) {
      const auto size = static_cast<std::size_t>(p - id);
      piece_.doc_ids.reserve(std::min(piece_.rows.capacity() * size, text_bytes_));
    }
    piece_.doc_ids.insert(piece_.doc_ids.end(), id, p);
  }

  // Returns where the features end: at a comment or the end of the line. Null after an error.
  const char* parse_features(const char* p, const char* end, LetorText::Row& row) {
    std::uint32_t last_id = 0;
    while (true) {
      while (p != end && is_space(*p)) ++p;
      if (p == end || *p == '#') return p;
      const char* token = p;
      std::uint32_t id = 0;
      while (p != end && detail::is_digit(*p) && p - token < kIdDigits) {
        id = id * 10 + static_cast<std::uint32_t>(*p++ - '0');
      }
      if (p == token || p == end || *p != ':' || id <= last_id || id > max_feature_id_) {
        fail(id_error(token, end, last_id));
        return nullptr;
      }
      float value = 0;
      const char* rest = parse_value(p + 1, end, value);
      if (rest == nullptr || !ends_token(rest, end) || !std::isfinite(value)) {
        value = in_range(id, p + 1, end, rest);
        if (std::isnan(value)) return nullptr;
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

  // Takes what is no finite float: if it is a number and options_ say so, counts it and returns
  // what takes its place; otherwise fails and returns NaN.
  [[gnu::cold]] float in_range(std::uint32_t id, const char* text, const char* end,
                               const char* rest) {
    if (options_.out_of_range == OutOfRange::kRefuse || rest == nullptr || !ends_token(rest, end) ||
        std::none_of(text, rest, detail::is_digit)) {
      fail(value_error(id, text, end, rest));
      return std::numeric_limits<float>::quiet_NaN();
    }
    if (piece_.out_of_range.size() < id) piece_.out_of_range.resize(id);
    LetorText::OutOfRangeCount& counted = piece_.out_of_range[id - 1];
    if (counted.count++ == 0) counted.first_line = piece_.line_count;
    if (options_.out_of_range == OutOfRange::kMissing) return 0;
    constexpr float kLargest = std::numeric_limits<float>::max();
    return *text == '-' ? -kLargest : kLargest;
  }

  // The messages are cold: inlined into the loop over features they would slow it down.
  [[gnu::cold]] static std::string label_error(const char* p, const char* end) {
    return fmt::format("label {}; labels are integers from 0 to {}{}", shown(p, end), kMaxLabel,
                       is_unlabelled(p, end) ? " (unlabelled skip leaves those with -1 out)" : "");
  }

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
                       word ? ""
                            : " as floats (at most 3.4e38; out-of-range clamp or missing takes "
                              "larger ones)");
  }

  LetorText::Piece& piece_;
  std::uint32_t max_feature_id_;
  const LetorOptions& options_;
  std::size_t text_bytes_ = 0;
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
    LineParser(pieces[number], options).parse(cuts[number]);
  });

  std::size_t lines = 0;
  std::size_t docs = 0;
  std::uint64_t unlabelled = 0;
  for (const auto& piece : pieces) {
    lines += piece.line_count;
    docs += piece.rows.size();
    unlabelled += piece.unlabelled_documents;
    if (!piece.error.empty()) {
      return Error{fmt::format("{}:{}: {}", options.path, lines, piece.error)};
    }
  }
  if (docs == 0) {
    return Error{fmt::format("{}:{}: {}; a file needs at least one document", options.path,
                             std::max<std::size_t>(lines, 1),
                             text.empty()     ? "empty file"
                             : unlabelled > 0 ? "no labelled document up to the end"
                                              : "no document up to the end")};
  }
  parsed->join_queries();
  parsed->count_changes();
  return parsed;
}

void LetorText::join_queries() {
  // Calls visit(run, number of its piece, end of its rows) for each run, in file order.
  const auto each_run = [this](auto visit) {
    for (std::uint32_t number = 0; number < pieces_.size(); ++number) {
      Piece& piece = pieces_[number];
      for (std::size_t at = 0; at < piece.runs.size(); ++at) {
        const bool last = at + 1 == piece.runs.size();
        visit(piece.runs[at], number,
              last ? static_cast<std::uint32_t>(piece.rows.size()) : piece.runs[at + 1].first_row);
      }
    }
  };
  std::unordered_map<std::uint64_t, std::uint32_t> number_of;
  each_run([&](Run& run, std::uint32_t /*piece*/, std::uint32_t end_row) {
    run.query = number_of.try_emplace(run.query_id, query_ids_.size()).first->second;
    if (run.query == query_ids_.size()) {
      query_ids_.push_back(run.query_id);
      query_begin_.push_back(0);
    }
    query_begin_[run.query + 1] += end_row - run.first_row;
  });
  std::partial_sum(query_begin_.begin(), query_begin_.end(), query_begin_.begin());

  std::vector<std::uint64_t> next(query_begin_.begin(), query_begin_.end() - 1);
  docs_.resize(query_begin_.back());
  each_run([&](const Run& run, std::uint32_t piece, std::uint32_t end_row) {
    std::uint64_t& doc = next[run.query];
    for (std::uint32_t row = run.first_row; row < end_row; ++row) docs_[doc++] = {piece, row};
  });
  for (const Piece& piece : pieces_) {
    max_id_ = std::max(max_id_, piece.max_id);
    has_doc_ids_ = has_doc_ids_ || !piece.doc_ids.empty();
  }
}

void LetorText::count_changes() {
  std::vector<std::uint64_t> without_label;
  std::size_t lines = 0;
  for (const Piece& piece : pieces_) {
    if (out_of_range_.size() < piece.out_of_range.size()) {
      out_of_range_.resize(piece.out_of_range.size());
    }
    for (std::size_t feature = 0; feature < piece.out_of_range.size(); ++feature) {
      const OutOfRangeCount& here = piece.out_of_range[feature];
      if (here.count == 0) continue;
      OutOfRangeCount& all = out_of_range_[feature];
      if (all.count == 0) all.first_line = lines + here.first_line;
      all.count += here.count;
    }
    lines += piece.line_count;
    unlabelled_documents_ += piece.unlabelled_documents;
    without_label.insert(without_label.end(), piece.unlabelled_query_ids.begin(),
                         piece.unlabelled_query_ids.end());
  }
  if (without_label.empty()) return;
  std::sort(without_label.begin(), without_label.end());
  without_label.erase(std::unique(without_label.begin(), without_label.end()), without_label.end());
  std::vector<std::uint64_t> left = query_ids_;
  std::sort(left.begin(), left.end());
  std::vector<std::uint64_t> lost;
  std::set_difference(without_label.begin(), without_label.end(), left.begin(), left.end(),
                      std::back_inserter(lost));
  unlabelled_queries_ = lost.size();
}

std::string_view LetorText::doc_id(std::uint64_t doc) const {
  const auto [piece, row] = docs_[doc];
  const std::vector<Row>& rows = pieces_[piece].rows;
  const std::size_t begin = row == 0 ? 0 : rows[row - 1].doc_id_end;
  return {pieces_[piece].doc_ids.data() + begin, rows[row].doc_id_end - begin};
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
