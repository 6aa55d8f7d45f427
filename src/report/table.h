// Tables for readers, one model for every kind of output. The results come in the paper's layout:
// means with their standard deviations, the best of each dataset and click model in bold, and marks
// for significant differences from each baseline. With one dataset the columns are the measures;
// with several there is one table per measure and the columns are the datasets. Settings that were
// swept are columns in front of them. No run times: the same results give the same tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/arrangement.h"

namespace plackett::report {

struct Cell {
  std::string mean = {};          // "0.511", or any text; empty: there is no such cell
  std::string std = {};           // "0.017", "–" for a single run; empty: none
  bool bold = false;              // the mean
  std::vector<TTest> tests = {};  // one per mark
  std::string sign = {};          // right after the mean, never bold: "†"

  [[nodiscard]] std::string deviation() const { return std.empty() ? "" : "(" + std + ")"; }
  [[nodiscard]] std::string marks() const;  // "▲▲ ·", one per test
};

struct TableRow {
  std::string title;  // the method, raw, as all titles
  std::vector<Cell> cells = {};
  // The values of Table::settings, empty where the method has none: "0.1", or "0.1 / 0.3" if they
  // differ between the datasets.
  std::vector<std::string> settings = {};
};

struct TableSection {
  std::string title;
  std::vector<TableRow> rows = {};
};

struct Table {
  std::string title = {};                 // empty if there is one table only
  std::string about = {};                 // a sentence; empty: none
  std::vector<std::string> columns = {};  // titles
  std::vector<TableSection> sections = {};
  std::vector<std::string> settings = {};  // columns between the method and the numbers
  std::size_t group = 1;  // columns after the first stay beside each other in groups of so many

  [[nodiscard]] std::vector<const TableRow*> rows() const;  // of all sections
};

// A value as the paper writes it; a dash if the mean is not finite.
Cell make_cell(const Moments& value, int digits, bool bold = false, std::vector<TTest> tests = {});
// None if there are no cells.
std::vector<Table> results_tables(const Arrangement& arrangement);
// The differences behind the marks, with their intervals and p-values: as results_tables(), with a
// row per method and baseline. None if nothing was tested.
std::vector<Table> difference_tables(const Arrangement& arrangement);

struct TableStyle {
  bool ansi = false;       // bold, dim and coloured marks; otherwise a "*" stands for bold
  std::size_t width = 80;  // columns; long names are cut to fit, numbers never
  bool ascii = false;      // for terminals without UTF-8: marks ^ A v V . and plain rules
};

// Settings are shown where they fit beside all numbers, or, if they were chosen on validation
// queries and no label shows them, beside one column of numbers. Ends in a line break. Every line
// is at most `style.width` columns wide if that is >= 72 and there are at most eight baselines;
// columns that do not fit side by side go below.
std::string terminal_table(const Comparison& comparison, const TableStyle& style = {});

// For GitHub's Markdown.
std::string markdown_table(const Comparison& comparison);

// As part of a page, without style but the alignment.
std::string embedded_table(const Comparison& comparison);

// For a paper: \input it into a document that loads amssymb, or run pdflatex on it alone. Looks
// best with booktabs and compiles without.
std::string latex_table(const Comparison& comparison);

// A header and one line per cell: raw names, what was swept of methods and surroundings, and
// numbers that read back to the same double; empty if a number is not finite.
std::string csv_table(const Comparison& comparison);

// A header and one line per contrast, or pair of leaders, and measure, with all tests, as
// csv_table.
std::string csv_tests(const Comparison& comparison);

// A header and one line per run, with what it ended with, as csv_table.
std::string csv_runs(const Comparison& comparison);

// A header and one line per run and drift, with the measures of the run, whether (1, 0) it regained
// the level before that drift and after how long (DriftMeasures), and how often it restarted, as
// csv_table. Empty without drift.
std::string csv_drift(const Comparison& comparison);

// A header and one line per run and point of its curve, as csv_table. `runs`: one vector per cell.
std::string csv_curves(const Comparison& comparison,
                       const std::vector<std::vector<RunRecord>>& runs);

}  // namespace plackett::report
