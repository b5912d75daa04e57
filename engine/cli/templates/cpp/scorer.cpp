// {{title}}: 1 where the output has the expected answer in it, else 0. Put your own formula in its place.
#include "scorebox.hpp"

struct {{type}} {
  bool ignore_case = true;

  static scorebox::Info describe() {
    return {
        .id = "{{name}}",
        .name = "{{title}}",
        .description = "Scores 1 where the output has the expected answer in it, else 0.",
        .config_schema = R"({"type": "object", "additionalProperties": false, "properties": {
          "ignoreCase": {"type": "boolean", "default": true, "description": "Whether A and a are the same (letters A to Z only)."}}})",
        .reads = SCOREBOX_GROUND_TRUTH,
    };
  }

  explicit {{type}}(std::string_view config) {
    scorebox_text value;
    if (scorebox_json_member(scorebox::text(config), "ignoreCase", &value) && !scorebox_json_bool(value, &ignore_case))
      scorebox::refuse("`ignoreCase` must be true or false");
  }

  std::string folded(std::string_view text) const {
    std::string made(text);
    if (ignore_case)
      for (char &c : made)
        if (c >= 'A' && c <= 'Z') c |= 32;
    return made;
  }

  scorebox::Score score(const scorebox::Case &it) const {
    // The scorer does not apply to a case that does not say what is expected.
    if (!it.ground_truth) return {.reason = "the case has no groundTruth"};
    std::string_view expected = scorebox::text_of(*it.ground_truth);
    std::string output = folded(scorebox::text_of(it.output));
    bool found = output.find(folded(expected)) != std::string::npos;
    return {
        .score = found ? 1 : 0,
        .reason = std::string("the output ") + (found ? "has" : "does not have") + " \"" + std::string(expected) + "\"",
    };
  }
};

SCOREBOX_SCORER({{type}})
