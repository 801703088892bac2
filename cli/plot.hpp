// A quick picture of a recording: joints and energy over time, as SVG or PNG.
#pragma once

#include <string>

#include "articula/simulation/recording.hpp"

namespace articula::cli {

/// By the file's ending; InputError for others than .svg and .png. Checked before a long run begins.
enum class PictureFormat { svg, png };
PictureFormat picture_format(const std::string& path);

std::string picture(const Recording& recording, PictureFormat format);

}  // namespace articula::cli
