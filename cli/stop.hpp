// How a run is asked to end: by Ctrl-C, SIGTERM or SIGHUP, or by a time limit. It has a tenth of a second to do so.
#pragma once

#include <atomic>
#include <string>

namespace articula::cli {

/// From here on signals only ask: the run sees it at its next evaluation (Watch::stop) and finishes its files. What
/// has not come to an end after a tenth of a second of work (a large factorization, a file to convert) is ended:
/// the doomed file is removed, `last_words` go to stderr, the exit code is 1.
void watch_signals(const std::string& last_words);
/// Asks in the same way after this many seconds; `last_words` as above, until watch_signals() has others.
void limit_time(double seconds, const std::string& last_words);

enum class AskedBy { nobody, signal, time_limit };
AskedBy asked_by();
inline bool asked_to_stop() { return asked_by() != AskedBy::nobody; }
/// What a Watch looks at.
const std::atomic<bool>& stop_flag();

/// The file to remove if a signal ends the program; empty: none.
void doom(const std::string& path);
/// Until watch_signals(): signals remove the doomed file, and end the program as they do by default.
void remove_on_signals(const std::string& path);
/// Removes the temporary file of an Output that will not be finished. Allocates nothing: for the program's last
/// moments.
void remove_unfinished();

}  // namespace articula::cli
