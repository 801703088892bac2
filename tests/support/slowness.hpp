// How much longer than usual a test may take: sanitizers make programs slow.
#pragma once

namespace articula::testing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr double slowness = 15;
#else
inline constexpr double slowness = 1;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double slowness = 15;
#else
inline constexpr double slowness = 1;
#endif

}  // namespace articula::testing
