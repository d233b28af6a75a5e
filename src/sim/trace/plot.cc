#include "sim/trace/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace artel::trace {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 260;
constexpr double kLeft = 110;
constexpr double kRight = 15;
constexpr double kTop = 44;
constexpr double kBottom = 44;
// Told apart by hue, by lightness and by dashes.
constexpr std::array<const char*, 4> kColors = {"#1b5e9e", "#d1581b", "#3a7d34", "#7a3b8f"};
constexpr std::array<const char*, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

double position(const Axis& axis, double value, double from, double to) {
  double part = 0;
  if (axis.logarithmic) {
    part = std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low);
  } else if (axis.high > axis.low) {
    part = (value - axis.low) / (axis.high - axis.low);
  }
  return from + std::clamp(part, 0.0, 1.0) * (to - from);
}

std::string open(const std::string& title, double height) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\">\n"
      "<text x=\"{3}\" y=\"16\" class=\"t\">{2}</text>\n",
      kWidth, height, escaped(title), kLeft);
}

/// Names with their colours in the line below the title.
std::string legend(const std::vector<std::string>& names) {
  std::string out;
  double x = kLeft;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out += fmt::format(
        "<line x1=\"{0:.0f}\" y1=\"30\" x2=\"{1:.0f}\" y2=\"30\" stroke=\"{2}\" stroke-width=\"3\" "
        "stroke-dasharray=\"{3}\"/><text x=\"{4:.0f}\" y=\"34\">{5}</text>\n",
        x, x + 26, kColors[i % kColors.size()], kDashes[i % kDashes.size()], x + 32,
        escaped(names[i]));
    x += 50 + 8 * static_cast<double>(names[i].size());
  }
  return out;
}

std::string x_axis(const Axis& axis, double bottom) {
  std::string out;
  for (const auto& [value, text] : axis.ticks) {
    const double x = position(axis, value, kLeft, kWidth - kRight);
    out += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" class=\"g\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        x, kTop, bottom, bottom + 16, escaped(text));
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                           (kLeft + kWidth - kRight) / 2, bottom + 34, escaped(axis.label));
}

std::string y_axis(const Axis& axis, double bottom) {
  std::string out;
  for (const auto& [value, text] : axis.ticks) {
    const double y = position(axis, value, bottom, kTop);
    out += fmt::format(
        "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" class=\"g\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, y, kWidth - kRight, kLeft - 6, y + 4, escaped(text));
  }
  return out;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20U ? '?' : c;
    }
  }
  return out;
}

Axis linear_axis(std::string label, double high, const std::string& unit) {
  constexpr double kWanted = 8;
  Axis axis{std::move(label), 0, std::max(high, 1e-9), {}, false};
  const double rough = axis.high / kWanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step))));
  for (double tick = 0; tick <= axis.high * 1.001; tick += step)
    axis.ticks.emplace_back(tick, fmt::format("{:.{}f}{}", tick, decimals, unit));
  return axis;
}

Axis wait_axis(std::string label, double high_s) {
  struct Tick {
    double seconds;
    const char* text;
  };
  constexpr std::array kTicks = {
      Tick{1, "1 s"},         Tick{10, "10 s"},         Tick{60, "1 min"},
      Tick{600, "10 min"},    Tick{3600, "1 h"},        Tick{36000, "10 h"},
      Tick{86400 * 3, "3 d"}, Tick{86400 * 30, "30 d"}, Tick{86400 * 300, "300 d"}};
  Axis axis{std::move(label), 1, std::max(high_s, 10.0), {}, true};
  for (const Tick& tick : kTicks) {
    if (tick.seconds <= axis.high) axis.ticks.emplace_back(tick.seconds, tick.text);
  }
  return axis;
}

std::string line_plot(const LinePlot& plot) {
  const double bottom = kHeight - kBottom;
  std::vector<std::string> names;
  for (const Line& line : plot.lines) names.push_back(line.name);
  std::string out = open(plot.title, kHeight) + legend(names);
  out += x_axis(plot.x, bottom) + y_axis(plot.y, bottom);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    out += fmt::format(
        "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-dasharray=\"{}\" "
        "points=\"",
        kColors[i % kColors.size()], kDashes[i % kDashes.size()]);
    for (const auto& [x, y] : plot.lines[i].points) {
      out += fmt::format("{:.1f},{:.1f} ", position(plot.x, x, kLeft, kWidth - kRight),
                         position(plot.y, y, bottom, kTop));
    }
    out += "\"/>\n";
  }
  return out + "</svg>\n";
}

std::string bar_plot(const BarPlot& plot) {
  constexpr double kBar = 11;
  constexpr double kGap = 8;
  const double group = kBar * static_cast<double>(plot.series.size()) + kGap;
  const double bottom = kTop + group * static_cast<double>(plot.bars.size());
  std::vector<std::string> names = plot.series;
  std::string out = open(plot.title, bottom + kBottom) + legend(names) + x_axis(plot.x, bottom);
  double y = kTop + kGap / 2;
  for (const Bar& bar : plot.bars) {
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6,
                       y + (group - kGap) / 2 + 4, escaped(bar.name));
    const double top = y;
    for (std::size_t i = 0; i < bar.values.size(); ++i, y += kBar) {
      out +=
          fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                      kLeft, y, position(plot.x, bar.values[i], kLeft, kWidth - kRight) - kLeft,
                      kBar - 2, kColors[i % kColors.size()]);
    }
    if (bar.mark) {
      const double x = position(plot.x, *bar.mark, kLeft, kWidth - kRight);
      out += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"m\"><title>{3}"
          "</title></line>\n",
          x, top - 2, y, escaped(plot.mark_name));
    }
    y += kGap;
  }
  return out + "</svg>\n";
}

}  // namespace artel::trace
