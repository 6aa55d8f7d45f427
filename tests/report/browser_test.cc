// The page as a browser sees it. Skipped where there is no Chromium.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file.h"
#include "report/write.h"
#include "samples.h"
#include "support/run_command.h"

namespace plackett::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::paper_comparison;

// Acts on the page as a reader would and writes down what there is to see, as attributes of the
// body, which the browser prints with the rest of the document.
constexpr const char* kReader = R"js(<script>
// Headless virtual time has few frames, and the charts wait for one.
requestAnimationFrame = task => setTimeout(() => task(performance.now()), 0);
// The page forbids all requests, so an attempt at one is a violation.
let requests = 0;
addEventListener('securitypolicyviolation', () => { ++requests; });
addEventListener('load', () => {
  const all = (selector, within) => [...(within || document).querySelectorAll(selector)];
  const note = (name, value) => {
    document.body.setAttribute('data-' + name, value);
    if (parent !== window) parent.postMessage([name, String(value)], '*');
  };
  const send = (element, kind, x, y) => element.dispatchEvent(
    new PointerEvent(kind, {bubbles: kind !== 'pointerenter', clientX: x || 0, clientY: y || 0}));

  // Drawn: lines whose points lie within their chart.
  const charts = all('.panel canvas').map(canvas => Chart.getChart(canvas));
  const curves = charts.filter(chart => chart.config.type === 'line');
  const lines = () => curves.flatMap(chart => chart.data.datasets.map((dataset, at) =>
    ({dataset, chart, points: chart.getDatasetMeta(at).data, shown: chart.isDatasetVisible(at)})));
  const main = lines().filter(line => !line.dataset.isBand);
  note('lines', main.length);
  note('lines-drawn', main.filter(({chart, points}) => points.length > 10 &&
    points[points.length - 1].x - points[0].x > 100 && points.every(point =>
      point.x >= chart.chartArea.left - 1 && point.x <= chart.chartArea.right + 1 &&
      point.y >= chart.chartArea.top - 1 && point.y <= chart.chartArea.bottom + 1)).length);
  note('bands', lines().filter(line => line.dataset.isBand).length / 2);
  note('colours', new Set(curves.slice(0, 1).flatMap(chart => chart.data.datasets.map(
    (_, at) => chart.getDatasetMeta(at).dataset.options.borderColor).filter(
      (_, at) => !chart.data.datasets[at].isBand))).size);
  note('dots', charts.filter(chart => chart.config.type === 'scatter').reduce(
    (sum, chart) => sum + chart.data.datasets[0].data.length, 0));
  note('overflow', Math.max(0, document.documentElement.scrollWidth - innerWidth));
  note('width', innerWidth);
  note('cards', all('#cards b').map(card => card.textContent).join('|'));
  note('rows', all('#table ~ div > .scroll th[scope=row]').length);
  note('differences', all('.differences th[scope=row]').length);
  const [first] = all('.differences tbody tr:nth-child(2)');
  note('difference', first ? all('th, td', first).map(cell => cell.textContent).join('|') : '');
  note('differences-open', document.querySelector('#table ~ div details')?.open ?? '');
  note('stray', (document.getElementById('main').innerText.match(/false|undefined|null|NaN/g) ?? []).length);
  note('bold', all('#table ~ div strong').map(mean => mean.textContent).join('|'));
  setTimeout(() => note('requests', requests), 100);
  note('settings', all('#table ~ div > .scroll thead th.setting').map(name => name.textContent).join('|'));
  note('chosen', all('#table ~ div > .scroll tbody td.setting').slice(0, 2).map(value => value.textContent).join('|'));
  note('facts', document.getElementById('facts').innerText.replace(/\n/g, '|'));

  // What a setting does: its points, its axis, and another measure at the press of a button.
  const sweeps = all('#sweep ~ div .panel canvas').map(canvas => Chart.getChart(canvas));
  if (sweeps.length > 0) {
    const [chart] = sweeps;
    const plain = chart.data.datasets.flatMap((dataset, at) =>
      dataset.isBand ? [] : [{dataset, points: chart.getDatasetMeta(at).data}]);
    note('sweep-lines', sweeps.flatMap(each => each.data.datasets.filter(line => !line.isBand)).length);
    note('sweep-radii', plain.map(({points}) => points.map(point => point.options.radius).join(' ')).join('|'));
    note('sweep-inside', plain.every(({points}) => points.every(point =>
      point.x > chart.chartArea.left + 5 && point.x < chart.chartArea.right - 5 &&
      point.y > chart.chartArea.top && point.y < chart.chartArea.bottom)));
    note('sweep-axis', chart.scales.x.type + ' ' + chart.scales.x.ticks.map(tick => tick.label).join(' '));
    chart.canvas.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}));
    note('sweep-tip', [...chart.tooltip.title, ...chart.tooltip.body.flatMap(part => part.lines)].join('|'));
    chart.canvas.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
    const choices = all('#sweep ~ div .choices button');
    note('sweep-choices', choices.map(choice => choice.textContent).join('|'));
    const seen = () => all('#sweep ~ div .panel canvas').filter(canvas => canvas.offsetParent)
      .map(canvas => canvas.getAttribute('aria-label').split(' by ')[0]).join('|');
    choices[2].click();
    note('sweep-chosen', seen());
    choices[0].click();
    note('sweep-back', seen());
  }

  // The tests behind the marks.
  const marks = document.querySelector('.marks[tabindex]');
  if (marks) {
    send(marks, 'pointerenter');
    note('bubble', document.querySelector('.tip').innerText.replace(/\n/g, '|'));
    send(marks, 'pointerleave');
    note('bubble-after', document.querySelector('.tip').hidden);
  }
  // The legend takes lines away and brings them back.
  const button = document.querySelector('.legend button');
  if (button) {
    const shown = () => lines().filter(line => !line.dataset.isBand && line.shown).length;
    button.click();
    note('lines-after-press', shown());
    button.click();
    note('lines-after-second', shown());
  }
  // Light and dark.
  const paper = () => getComputedStyle(document.body).backgroundColor;
  note('paper', paper());
  document.getElementById('theme').click();
  note('paper-switched', paper());
  note('ticks-switched', curves.length > 0 ? curves[0].scales.y.options.ticks.color : '');
  document.getElementById('theme').click();
  note('paper-back', paper());
  // Values under the pointer, at the right end of the first panel, and by the arrow keys.
  const panel = document.querySelector('.panel canvas');
  if (panel) setTimeout(() => {
    const first = curves[0], said = () => !first.tooltip.opacity ? 'hidden' :
      [...first.tooltip.title, ...first.tooltip.body.flatMap(part => part.lines)].join('|');
    const box = panel.getBoundingClientRect();
    panel.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientY: box.top + box.height / 2,
      clientX: box.left + first.chartArea.right - 1}));
    requestAnimationFrame(() => requestAnimationFrame(() => {
      note('tip', said());
      note('tip-beside', curves.length > 1 ? curves[1].getActiveElements().length : 0);
      const {x, width} = first.tooltip;
      note('tip-inside', x >= 0 && x + width <= first.width);
      panel.dispatchEvent(new MouseEvent('mouseout', {bubbles: true}));
      panel.dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}));
      note('tip-first', said());
      panel.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
      note('tip-next', said());
      panel.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
      note('tip-after', said());
    }));
  }, 300);
});
</script>)js";

// A window is 500 pixels wide at least; a frame in it may be a phone.
constexpr const char* kPhone = R"(<!DOCTYPE html><body><script>
addEventListener('message',
                 event => document.body.setAttribute('data-' + event.data[0], event.data[1]));
</script><iframe src="page.html" width="400" height="900" style="border:0"></iframe></body>)";

class Browser : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0) GTEST_SKIP() << "no chromium";
  }

  // What Chromium prints with these options for the page, after the reader acted on it.
  std::string open(const std::string& page, const std::string& options) {
    write("page.html", page);
    return run(options, "page.html");
  }
  std::string open_on_phone(const std::string& page) {
    write("page.html", page);
    EXPECT_TRUE(write_file(folder_.path() / "phone.html", kPhone).ok());
    return run("--window-size=800,1000 --dump-dom", "phone.html");
  }

  static std::string noted(const std::string& dom, std::string_view name) {
    const std::string key = "data-" + std::string(name) + "=\"";
    const std::size_t body = dom.find("<body");
    const std::size_t at = body == std::string::npos ? body : dom.find(key, body);
    if (at == std::string::npos) return "not noted";
    const std::size_t start = at + key.size();
    return dom.substr(start, dom.find('"', start) - start);
  }

  testing::TemporaryFolder folder_;

 private:
  void write(const std::string& name, std::string page) {
    page.insert(page.find("</head>"), kReader);
    EXPECT_TRUE(write_file(folder_.path() / name, page).ok());
  }
  std::string run(const std::string& options, const std::string& name) {
    const std::string line =
        "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync "
        "--hide-scrollbars --virtual-time-budget=2000 --user-data-dir='" +
        folder_ / "profile" + "' " + options + " 'file://" + folder_ / name + "' >'" +
        folder_ / "dom" + "' 2>/dev/null";
    EXPECT_EQ(std::system(line.c_str()), 0);
    return testing::slurp(folder_.path() / "dom");
  }
};

TEST_F(Browser, ShowsSixMethodsUnderThreeClickModels) {
  const std::string dom =
      open(html_report(paper_comparison({"MQ2007"}, 0)), "--window-size=1400,1000 --dump-dom");
  EXPECT_EQ(noted(dom, "lines"), "36");  // offline and online
  EXPECT_EQ(noted(dom, "lines-drawn"), "36");
  EXPECT_EQ(noted(dom, "bands"), "36");
  EXPECT_EQ(noted(dom, "colours"), "6");
  EXPECT_EQ(noted(dom, "dots"), "36");
  EXPECT_EQ(noted(dom, "width"), "1400");
  EXPECT_EQ(noted(dom, "overflow"), "0");
  EXPECT_EQ(noted(dom, "requests"), "0");
  EXPECT_EQ(noted(dom, "cards"), "0.511|797.3|43 of 48|36 of 36|2,250");
  EXPECT_EQ(noted(dom, "rows"), "18");
  EXPECT_EQ(noted(dom, "bold"), "0.511|797.3|0.496|703.0|0.487|704.8");
  EXPECT_THAT(
      noted(dom, "tip"),
      AllOf(HasSubstr("10,000 impressions|PDGD (linear)  0.511 (0.002)|PDGD (neural)  0.509"),
            HasSubstr("DBGD (neural)  0.463 (0.002)")));
  EXPECT_EQ(noted(dom, "tip-beside"), "6");
  EXPECT_EQ(noted(dom, "tip-inside"), "true");
  EXPECT_THAT(noted(dom, "tip-first"), HasSubstr("1 impression|"));
  EXPECT_THAT(noted(dom, "tip-next"), HasSubstr("2 impressions|"));
  EXPECT_EQ(noted(dom, "tip-after"), "hidden");
  EXPECT_THAT(noted(dom, "bubble"),
              AllOf(HasSubstr("▲ DBGD (linear): better, +0.0280 ± 0.0050, p = 1.1e-22, Holm = "
                              "1.3e-21 (t = 10.95, 228 degrees)|▲ "),
                    HasSubstr("▲ Pairwise (linear): better")));
  EXPECT_EQ(noted(dom, "bubble-after"), "true");
  EXPECT_EQ(noted(dom, "differences"), "48");  // 2 methods, 4 baselines, 3 click models, 2 measures
  EXPECT_EQ(noted(dom, "difference"), "DBGD (linear)||+0.0280 ± 0.0050|1.1e-22|1.3e-21");
  EXPECT_EQ(noted(dom, "differences-open"), "false");
  EXPECT_EQ(noted(dom, "lines-after-press"), "30");
  EXPECT_EQ(noted(dom, "lines-after-second"), "36");
  EXPECT_EQ(noted(dom, "paper"), "rgb(251, 251, 249)");
  EXPECT_EQ(noted(dom, "paper-switched"), "rgb(14, 17, 22)");
  EXPECT_EQ(noted(dom, "ticks-switched"), "rgb(154, 165, 179)");
  EXPECT_EQ(noted(dom, "paper-back"), "rgb(251, 251, 249)");
}

TEST_F(Browser, TablesWithoutBaselinesHoldNumbersOnly) {
  const std::string dom =
      open(html_report(testing::small_comparison()), "--window-size=1400,1000 --dump-dom");
  EXPECT_EQ(noted(dom, "rows"), "6");
  EXPECT_EQ(noted(dom, "differences"), "0");
  EXPECT_EQ(noted(dom, "stray"), "0");
}

TEST_F(Browser, ShowsWhatASettingDoes) {
  const std::string dom =
      open(html_report(testing::sweep_comparison()), "--window-size=1400,1000 --dump-dom");
  EXPECT_EQ(noted(dom, "sweep-lines"), "9");  // linear, neural and MGD in three panels
  // The best is larger; MGD has no such setting, and so no points.
  EXPECT_EQ(noted(dom, "sweep-radii"), "3.5 3.5 3.5 6 3.5|3.5 3.5 6 3.5 3.5|0 0 0 0 0");
  EXPECT_EQ(noted(dom, "sweep-inside"), "true");
  EXPECT_EQ(noted(dom, "sweep-axis"), "logarithmic 0.003 0.01 0.03 0.1 0.3");
  EXPECT_EQ(noted(dom, "sweep-tip"),
            "learning-rate 0.3|PDGD (linear)  0.493 (0.002)|PDGD (neural)  0.470 (0.002)|"
            "MGD (linear)  0.470 (0.002)");
  EXPECT_EQ(noted(dom, "sweep-choices"), "Offline NDCG@10|Online NDCG@10|Offline MAP");
  EXPECT_EQ(noted(dom, "sweep-chosen"), "Offline MAP|Offline MAP|Offline MAP");
  EXPECT_EQ(noted(dom, "sweep-back"), "Offline NDCG@10|Offline NDCG@10|Offline NDCG@10");
  EXPECT_EQ(noted(dom, "settings"), "ranker|learning-rate");
  EXPECT_EQ(noted(dom, "chosen"), "linear|0.003");
  // 3 panels of 9 lines, and for each of 3 measures 3 panels of 11 curves.
  EXPECT_EQ(noted(dom, "lines"), "108");
  EXPECT_EQ(noted(dom, "overflow"), "0");
  EXPECT_EQ(noted(dom, "stray"), "0");
}

TEST_F(Browser, ShowsNoCurvesOfOnePoint) {
  const Comparison comparison = testing::final_curves(paper_comparison({"MQ2007", "MQ2008"}, 0));
  const std::string dom = open(html_report(comparison), "--window-size=1400,1000 --dump-dom");
  EXPECT_EQ(noted(dom, "lines"), "0");
  EXPECT_EQ(noted(dom, "rows"), "36");  // two measures, three click models, six methods
  EXPECT_EQ(noted(dom, "dots"), "72");
  EXPECT_EQ(noted(dom, "stray"), "0");
  EXPECT_THAT(dom, AllOf(HasSubstr("after the last impression only"),
                         ::testing::Not(HasSubstr("id=\"curves\"")),
                         ::testing::Not(HasSubstr("id=\"online\""))));
}

TEST_F(Browser, SaysWhereSettingsWereChosen) {
  const std::string dom =
      open(html_report(testing::selected_comparison()), "--window-size=1400,1000 --dump-dom");
  EXPECT_EQ(noted(dom, "sweep-lines"), "not noted");
  EXPECT_EQ(noted(dom, "chosen"), "linear|0.1");
  EXPECT_THAT(
      noted(dom, "facts"),
      HasSubstr(
          "|Settings were chosen for each fold on its validation queries; offline numbers are of "
          "the test queries."));
}

TEST_F(Browser, FitsAPhone) {
  for (const Comparison& comparison :
       {paper_comparison({"MQ2007", "MQ2008", "MSLR-WEB10K", "Yahoo", "Istella"}, 1),
        testing::weird_comparison(), testing::sweep_comparison()}) {
    const std::string page = html_report(comparison, {.command = std::string(300, 'x')});
    // Fonts differ between machines: wider letters must fit too.
    std::string wide = page;
    wide.insert(wide.find("</head>"), "<style>*{letter-spacing:.6px!important}</style>");
    for (const std::string& variant : {page, wide}) {
      const std::string dom = open_on_phone(variant);
      EXPECT_EQ(noted(dom, "width"), "400");
      EXPECT_EQ(noted(dom, "overflow"), "0");
      EXPECT_EQ(noted(dom, "tip-inside"), "true");
      EXPECT_EQ(noted(dom, "requests"), "0");
    }
  }
}

TEST_F(Browser, TheChecksCanFail) {
  std::string page = html_report(paper_comparison({"MQ2007"}, 0));
  page.insert(page.rfind("</main>"),
              "<img src=\"missing.png\" alt=\"\"><div style=\"width:3000px\">wide</div>");
  const std::string dom = open(page, "--window-size=1400,1000 --dump-dom");
  EXPECT_EQ(noted(dom, "requests"), "1");
  EXPECT_NE(noted(dom, "overflow"), "0");
}

TEST_F(Browser, PaintsThePage) {
  open(html_report(paper_comparison({"MQ2007"}, 0)),
       "--window-size=1400,4000 --screenshot='" + folder_ / "shot.png" + "'");
  const std::string image = testing::slurp(folder_.path() / "shot.png");
  ASSERT_TRUE(image.starts_with("\x89PNG"));
  EXPECT_GT(image.size(), 100'000U);  // a blank page of this size has 20,000
}

}  // namespace
}  // namespace plackett::report
