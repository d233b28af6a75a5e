// Line and bar plots as SVG text, to be put into a page.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace artel::trace {

/// Text that stands for itself in HTML and SVG.
std::string escaped(const std::string& text);

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // ascending x
};

struct Axis {
  std::string label;
  double low{};
  double high{};
  std::vector<std::pair<double, std::string>> ticks;
  bool logarithmic = false;
};

/// Ticks at round numbers, at most nine; `unit` behind each.
Axis linear_axis(std::string label, double high, const std::string& unit);
/// Of lengths of time, from a second up.
Axis wait_axis(std::string label, double high_s);

struct LinePlot {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Line> lines;  // at most four
};
std::string line_plot(const LinePlot& plot);

struct Bar {
  std::string name;
  std::vector<double> values;  // one for each series
  std::optional<double> mark;  // a line across the bars
};

struct BarPlot {
  std::string title;
  std::string mark_name;
  std::vector<std::string> series;  // at most four
  std::vector<Bar> bars;
  Axis x;
};
std::string bar_plot(const BarPlot& plot);

}  // namespace artel::trace
