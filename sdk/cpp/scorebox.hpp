/* A scorer in C++: write a class with the members below, name it with SCOREBOX_SCORER, and `scorebox build` makes it a
 * component.
 *
 *     struct MyScorer {
 *       static scorebox::Info describe();
 *       explicit MyScorer(std::string_view config);             // calls `refuse` if it is not valid
 *       scorebox::Score score(const scorebox::Case &it) const;  // or `failed`, `invalid_input`
 *     };
 *     SCOREBOX_SCORER(MyScorer)
 *
 * If exceptions are compiled in, an uncaught one becomes `failed` with its message. C++20. What `scorebox.h` provides
 * (JSON, log, formats) also works here. */
#pragma once

#include "scorebox.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
#ifdef __cpp_exceptions
#include <exception>
#endif

namespace scorebox {

enum class Scale : uint8_t { unit, points };
enum class Direction : uint8_t { higher_is_better, lower_is_better };
enum class Severity : uint8_t { gate, soft };

/* What the scorer says about itself. */
struct Info {
  std::string id, name, description, version = "0.1.0";
  std::optional<std::string> config_schema = {};
  Scale scale = Scale::unit;
  Direction direction = Direction::higher_is_better;
  uint16_t reads = 0; /* SCOREBOX_GROUND_TRUTH and so on, added up */
  Severity severity = Severity::gate;
  std::optional<double> threshold = {};
};

/* What the task consumed. */
struct Usage {
  std::optional<uint64_t> input_tokens, output_tokens, total_tokens;
  std::optional<double> cost_usd;
};

/* One case. Each text is a JSON document; `text_of` gives the characters of one. */
struct Case {
  std::string_view output;
  std::optional<std::string_view> input, ground_truth, context;
  std::optional<double> latency_ms;
  std::optional<std::string_view> output_schema, trace;
  std::optional<Usage> usage;
  std::optional<std::string_view> metadata, baseline;
};

/* One named check inside a score. */
struct Assertion {
  std::string name;
  double score = 0;
  std::optional<Severity> severity = {};
  std::optional<double> threshold = {};
  std::optional<std::string> reason = {};
};

/* A score, or why there is none. Without a number, the scorer does not apply to the case. */
struct Score {
  std::optional<double> score = {};
  std::optional<std::string> label = {}, reason = {}, meta = {};
  std::vector<Assertion> assertions = {};
  struct Problem { uint8_t kind; std::string message; };
  std::optional<Problem> problem = {};
};

/* No score: the case lacks what the scorer needs, or has it in a form that the scorer cannot read. */
inline Score invalid_input(std::string message) {
  Score made;
  made.problem = {SCOREBOX_INVALID_INPUT, std::move(message)};
  return made;
}

/* No score: anything else that went wrong. */
inline Score failed(std::string message) {
  Score made;
  made.problem = {SCOREBOX_FAILED, std::move(message)};
  return made;
}

inline scorebox_text text(std::string_view of) { return {of.data(), of.size()}; }
inline std::string_view view(scorebox_text of) { return {of.at, of.length}; }

/* The characters of a JSON string; any other document as it is written. */
inline std::string_view text_of(std::string_view json) { return view(scorebox_text_of(text(json))); }

/* Refuses the configuration; call it in the constructor. The first call counts. */
inline std::optional<std::string> refused;
inline void refuse(std::string why) {
  if (!refused) refused = std::move(why);
}

namespace detail {

/* These stay allocated until the sandbox ends. */
inline scorebox_text keep(std::string_view of) {
  char *at = static_cast<char *>(scorebox_allocate(of.size()));
  memcpy(at, of.data(), of.size());
  return {at, of.size()};
}
inline scorebox_optional_text keep_some(const std::optional<std::string> &of) {
  return of ? scorebox_some(keep(*of)) : scorebox_optional_text{};
}
inline scorebox_optional_number number(std::optional<double> of) {
  return {static_cast<uint8_t>(of.has_value()), of.value_or(0)};
}
inline std::optional<std::string_view> given(scorebox_optional_text of) {
  return of.some ? std::optional(view(of.value)) : std::nullopt;
}
inline std::optional<double> given(scorebox_optional_number of) {
  return of.some ? std::optional(of.value) : std::nullopt;
}
inline std::optional<uint64_t> given(scorebox_optional_count of) {
  return of.some ? std::optional(of.value) : std::nullopt;
}

inline scorebox_info lower(const Info &info) {
  scorebox_info made = {};
  made.id = keep(info.id);
  made.name = keep(info.name);
  made.description = keep(info.description);
  made.version = keep(info.version);
  made.config_schema = keep_some(info.config_schema);
  made.scale = static_cast<uint8_t>(info.scale);
  made.direction = static_cast<uint8_t>(info.direction);
  made.reads = info.reads;
  made.severity = static_cast<uint8_t>(info.severity);
  made.threshold = number(info.threshold);
  return made;
}

inline scorebox_answer lower(const Score &score) {
  if (score.problem) return scorebox_error(score.problem->kind, keep(score.problem->message));
  scorebox_answer made = scorebox_not_applicable();
  made.is.score.score = number(score.score);
  made.is.score.label = keep_some(score.label);
  made.is.score.reason = keep_some(score.reason);
  made.is.score.meta = keep_some(score.meta);
  auto *all = static_cast<scorebox_assertion *>(scorebox_allocate(score.assertions.size() * sizeof(scorebox_assertion)));
  for (size_t place = 0; place < score.assertions.size(); place++) {
    const Assertion &from = score.assertions[place];
    all[place] = {};
    all[place].name = keep(from.name);
    all[place].score = from.score;
    all[place].severity.some = from.severity.has_value();
    all[place].severity.value = static_cast<uint8_t>(from.severity.value_or(Severity::gate));
    all[place].threshold = number(from.threshold);
    all[place].reason = keep_some(from.reason);
  }
  made.is.score.assertions.at = all;
  made.is.score.assertions.count = score.assertions.size();
  return made;
}

inline Case lift(const scorebox_case &it) {
  Case made;
  made.output = view(it.output);
  made.input = given(it.input);
  made.ground_truth = given(it.ground_truth);
  made.context = given(it.context);
  made.latency_ms = given(it.latency_ms);
  made.output_schema = given(it.output_schema);
  made.trace = given(it.trace);
  if (it.usage.some) {
    const scorebox_usage &usage = it.usage.value;
    made.usage = Usage{given(usage.input_tokens), given(usage.output_tokens), given(usage.total_tokens), given(usage.cost_usd)};
  }
  made.metadata = given(it.metadata);
  made.baseline = given(it.baseline);
  return made;
}

/* The result of a function, or the message of its exception. */
template <typename Action, typename Problem> auto caught(Action action, Problem problem) -> decltype(action()) {
#ifdef __cpp_exceptions
  try {
    return action();
  } catch (const std::exception &error) {
    return problem(error.what());
  } catch (...) {
    return problem("an exception of an unknown type");
  }
#else
  (void)problem;
  return action();
#endif
}

template <typename Scorer> std::unique_ptr<Scorer> &scorer() {
  static std::unique_ptr<Scorer> made;
  return made;
}

template <typename Scorer> scorebox_configured configure(scorebox_text config) {
  auto refusal = [](std::string_view why) {
    scorebox_configured made = scorebox_taken();
    made.is_error = 1;
    made.message = keep(why);
    return made;
  };
  return caught(
      [&] {
        scorer<Scorer>() = std::make_unique<Scorer>(view(config));
        return refused ? refusal(*refused) : scorebox_taken();
      },
      refusal);
}

template <typename Scorer> scorebox_answer score(const scorebox_case *it) {
  return caught([&] { return lower(scorer<Scorer>()->score(lift(*it))); },
                [](const char *why) { return lower(failed(why)); });
}

} // namespace detail
} // namespace scorebox

/* Makes a class the scorer of this component. */
#define SCOREBOX_SCORER(Scorer)                                                                                          \
  extern "C" scorebox_info scorebox_describe(void) { return scorebox::detail::lower(Scorer::describe()); }               \
  extern "C" scorebox_configured scorebox_configure(scorebox_text config) {                                              \
    return scorebox::detail::configure<Scorer>(config);                                                                  \
  }                                                                                                                      \
  extern "C" scorebox_answer scorebox_score(const scorebox_case *it) { return scorebox::detail::score<Scorer>(it); }
