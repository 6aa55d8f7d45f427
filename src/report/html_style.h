// The page's style sheet. The colours of series come from report/plot.h and are added to it.
#pragma once

namespace plackett::report {

// Custom properties for each scheme, without the series' colours.
inline constexpr const char* kLightColours =
    "color-scheme:light;--paper:#fbfbf9;--card:#fff;--ink:#161b22;--muted:#57606d;--line:#e2e4e8;"
    "--rail:#d9dce1;--up:#0a7a4b;--down:#c0392b;--agree:#0a7a4b1c;--accent:#0068b5;--shadow:0 1px "
    "2px #1b1f2414,0 8px 24px #1b1f240d;";
inline constexpr const char* kDarkColours =
    "color-scheme:dark;--paper:#0e1116;--card:#161b22;--ink:#edf1f6;--muted:#9aa5b3;--line:#2a313b;"
    "--rail:#333b46;--up:#4cd497;--down:#ff8476;--agree:#4cd49724;--accent:#58aef5;--shadow:0 1px "
    "2px #0006,0 8px 24px #0004;";

inline constexpr const char* kStyle = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.55;
 font:16px/1.55 Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
 font-variant-numeric:tabular-nums}
main,header,footer{max-width:1320px;margin:0 auto;padding:0 clamp(16px,4vw,48px)}
header{padding-top:clamp(20px,3vw,40px)}
.bar{display:flex;align-items:center;justify-content:space-between;gap:16px;
 color:var(--muted);font-size:.95rem}
.brand{display:flex;align-items:center;gap:10px;font-weight:650;letter-spacing:-.01em;
 color:var(--ink)}
.brand svg{color:var(--accent);flex:none}
.brand span{font-weight:400;color:var(--muted)}
button{font:inherit;color:inherit;background:none;border:1px solid var(--line);border-radius:999px;
 padding:5px 14px;cursor:pointer}
button:hover{border-color:var(--muted)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
h1{font-size:clamp(1.9rem,4.6vw,3.5rem);line-height:1.08;letter-spacing:-.028em;font-weight:720;
 margin:clamp(28px,5vw,64px) 0 14px;max-width:24ch;text-wrap:balance;overflow-wrap:anywhere}
.facts{color:var(--muted);margin:0;font-size:clamp(1rem,1.5vw,1.15rem);overflow-wrap:anywhere}
h2{font-size:clamp(1.35rem,2.2vw,1.75rem);letter-spacing:-.018em;line-height:1.2;
 margin:clamp(44px,6vw,76px) 0 6px}
h2+.scroll{margin-top:16px}
h2+p{margin:0 0 18px;color:var(--muted);max-width:70ch}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,216px),1fr));gap:16px;
 margin:clamp(28px,4vw,48px) 0 0;padding:0;list-style:none}
.cards li,.panel,.scroll,.made{background:var(--card);border:1px solid var(--line);
 border-radius:14px;box-shadow:var(--shadow)}
.cards li{padding:20px 22px;display:flex;flex-direction:column}
.cards b{font-size:clamp(1.75rem,2.7vw,2.4rem);white-space:nowrap;font-weight:700;letter-spacing:-.03em;line-height:1.15}
.cards span,.cards small{color:var(--muted);font-size:.92rem;overflow-wrap:anywhere}
.findings{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));
 gap:22px 40px;margin:20px 0 0}
.findings div{border-top:2px solid var(--ink);padding-top:10px}
.findings dt{font-weight:650;overflow-wrap:anywhere}
.findings dd{margin:4px 0 0;color:var(--muted);overflow-wrap:anywhere}
.legend{display:flex;flex-wrap:wrap;gap:8px;margin:0 -8px 8px;padding:8px;position:sticky;top:0;
 z-index:1;background:var(--paper)}
.legend button{display:flex;align-items:center;gap:9px;font-size:.93rem;background:var(--card);
 overflow-wrap:anywhere;text-align:left}
.legend button[aria-pressed=false]{opacity:.45;text-decoration:line-through}
.legend svg{flex:none}
.panels{display:grid;gap:18px;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr))}
.of2{grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr))}
.of1{grid-template-columns:minmax(0,900px)}
.panel{margin:0;padding:16px 12px 10px;position:relative;min-width:0}
.panel figcaption{font-weight:650;padding:0 8px 4px 10px;overflow-wrap:anywhere}
.panel svg{display:block;width:100%;height:auto;overflow:visible;touch-action:pan-y}
.panel svg:focus-visible{outline-offset:4px;border-radius:6px}
svg text{font-size:12.5px;fill:var(--muted)}
@media (max-width:640px){.legend{position:static}.strip svg text{font-size:19px}.of1 svg text{font-size:24px}.of2 svg text{font-size:19px}
 .of3 svg text{font-size:13.5px}}
.x{text-anchor:middle}.y{text-anchor:end}
.grid,.axis,.line,.rail,.reach{fill:none}
.grid{stroke:var(--line)}.axis{stroke:var(--muted)}
.line{stroke:currentColor;stroke-width:2.25;stroke-linecap:round;stroke-linejoin:round}
.d1{stroke-dasharray:7 5}.d2{stroke-dasharray:1 5}
.band{fill:currentColor;fill-opacity:.13}
.line,.band{transition:opacity .15s}
.faint{opacity:.12}.off{display:none}
.cross{stroke:var(--muted);stroke-dasharray:3 3}
.dot{fill:currentColor;stroke:var(--card);stroke-width:2}
.tip{position:absolute;z-index:2;pointer-events:none;background:var(--card);color:var(--ink);
 border:1px solid var(--line);border-radius:10px;box-shadow:0 6px 24px #0003;padding:8px 12px;
 font-size:.86rem;line-height:1.5;white-space:nowrap;max-width:calc(100% - 8px)}
.tip b{display:block;font-weight:650}
.tip div{display:flex;align-items:center;gap:8px}
.tip i{width:10px;height:10px;border-radius:50%;background:currentColor;flex:none}
.tip span{color:var(--ink);overflow:hidden;text-overflow:ellipsis}
.tip em{margin-left:auto;padding-left:14px;font-style:normal;color:var(--ink)}
.tip em small{color:var(--muted);font-size:inherit}
.note{color:var(--muted);font-size:.9rem;margin:10px 0 0}
.scroll{--side:clamp(8px,2vw,24px);overflow-x:auto;padding:6px var(--side) 16px}
table{border-collapse:collapse;width:100%}
caption{text-align:left;color:var(--muted);font-size:.92rem;padding:12px 8px 8px}
th,td{padding:8px;text-align:left;font-weight:400;border-top:1px solid var(--line)}
thead th,thead td{border-top:0;color:var(--muted);font-size:.92rem;vertical-align:bottom}
.n{text-align:right}
th[scope=row]{padding-left:24px;overflow-wrap:anywhere;min-width:5.5em}
.group th{font-weight:650;padding-top:18px;overflow-wrap:anywhere}
tbody:first-of-type .group th{border-top-color:var(--muted)}
strong{font-weight:750}
.std{color:var(--muted)}
.spread{width:32%;min-width:160px;padding:0 28px}
.whisker{display:block;width:100%;height:auto;max-height:22px}
.rail{stroke:var(--rail)}
.reach{stroke:currentColor;stroke-width:4;stroke-opacity:.35;stroke-linecap:round}
.whisker circle{fill:currentColor}
h3{font-size:1.12rem;letter-spacing:-.01em;margin:30px 0 12px;overflow-wrap:anywhere}
.m{padding-left:0;text-align:left;width:1%}
.marks{display:inline-block;white-space:nowrap;cursor:help;border-radius:4px;letter-spacing:.06em}
.marks i,.key i{font-style:normal;font-size:.82em}
.marks i{display:inline-block;width:1.15em;text-align:center}
.up{color:var(--up)}.down{color:var(--down)}.same{color:var(--muted);font-weight:900}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;align-items:baseline;margin:14px 0 0;
 color:var(--muted);font-size:.9rem}
.key ol{display:flex;flex-wrap:wrap;gap:2px 16px;margin:0;padding:0;list-style:none;
 counter-reset:baseline}
.key li{counter-increment:baseline;overflow-wrap:anywhere}
.key li::before{content:counter(baseline) " "}
.bubble{max-width:min(92vw,560px);white-space:normal}
.bubble div:first-child{font-weight:600}
.strips{display:grid;gap:18px;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr))}
.strip,details{background:var(--card);border:1px solid var(--line);border-radius:14px;
 box-shadow:var(--shadow);margin:0;min-width:0}
.strip{padding:16px 12px 10px}
.strip figcaption{font-weight:650;padding:0 8px 10px 10px}
.strip figcaption small{font-weight:400;color:var(--muted);font-size:.92rem;margin-left:8px}
.strip svg{display:block;width:100%;height:auto;overflow:visible}
.agree{fill:var(--agree)}
.score{fill:currentColor;stroke:var(--card);stroke-width:1.5}
.score.tipped{cursor:help}.score:hover,.score:focus-visible{stroke:var(--ink);outline:none}
details{margin-top:18px}
summary{padding:14px 24px;cursor:pointer;font-weight:650}
details .scroll{border:0;box-shadow:none;background:none;border-radius:0;padding-top:0}
.paper{color:var(--muted)}.far{font-weight:750}
.z{width:116px;padding:0 8px}.z svg{display:block;width:100px;height:14px}
.group th span{position:sticky;left:8px}
.results th[scope=row],.beside th[scope=row]{position:sticky;background:var(--card);
 left:calc(-1*var(--side))}
caption span{position:sticky;left:8px;display:inline-block;max-width:min(100%,calc(100vw - 64px))}
.made{padding:8px 24px 20px}
.made dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,210px),1fr));
 gap:14px 28px;margin:14px 0 0}
.made dt{color:var(--muted);font-size:.9rem}
.made dd{margin:0;overflow-wrap:anywhere}
.command{display:flex;gap:12px;align-items:flex-start;margin-top:20px}
pre{flex:1;min-width:0;margin:0;padding:12px 16px;background:var(--paper);
 border:1px solid var(--line);border-radius:10px;white-space:pre-wrap;overflow-wrap:anywhere;
 font:.92rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
footer{color:var(--muted);font-size:.9rem;padding-top:40px;padding-bottom:48px}
@media (max-width:760px){.spread{display:none}
 .cards{grid-template-columns:repeat(2,minmax(0,1fr));gap:10px}
 .cards li{padding:14px}.cards b{font-size:1.5rem;white-space:normal}}
@media (max-width:520px){.marks{letter-spacing:0}.marks i{width:1em}td.m{padding-left:0;padding-right:2px}
 .strip figcaption small{display:block;margin:0}.std{display:block}table{font-size:.93rem}thead th{font-size:.82rem}
 .legend{gap:6px}.legend button{font-size:.84rem;padding:4px 10px;gap:6px}
 th,td{padding:7px 5px}th[scope=row]{padding-left:10px}
 .command{flex-direction:column}pre{width:100%}.made{padding:8px 16px 18px}}
.js-only{visibility:hidden}.js .js-only{visibility:visible}
@media (prefers-reduced-motion:reduce){*{transition:none!important;scroll-behavior:auto!important}}
@media print{
 body{font-size:11pt;background:#fff}.js-only,.tip,.cross,.dot{display:none!important}
 main,header,footer{max-width:none;padding:0}
 .cards li,.panel,.scroll,.made{box-shadow:none;break-inside:avoid}.findings div{break-inside:avoid}
 .panels{grid-template-columns:repeat(3,1fr);gap:8px}.of2{grid-template-columns:repeat(2,1fr)}
 .of1{grid-template-columns:1fr}.cards{grid-template-columns:repeat(4,1fr)}
 .panel svg text{font-size:17px}
 h2{break-after:avoid;margin-top:24pt}tbody{break-inside:avoid}}
)css";

}  // namespace plackett::report
