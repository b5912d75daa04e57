/* {{title}}: 1 where the output has the expected answer in it, else 0. Put your own formula in its place. */
#include "scorebox.h"

static bool ignore_case = true;

scorebox_info scorebox_describe(void) {
  return (scorebox_info){
      .id = scorebox_string("{{name}}"),
      .name = scorebox_string("{{title}}"),
      .description = scorebox_string("Scores 1 where the output has the expected answer in it, else 0."),
      .version = scorebox_string("0.1.0"),
      .config_schema = scorebox_some(scorebox_string(
          "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
          "\"ignoreCase\": {\"type\": \"boolean\", \"default\": true, \"description\": \"Whether A and a are the same (letters A to Z only).\"}}}")),
      .reads = SCOREBOX_GROUND_TRUTH,
  };
}

scorebox_configured scorebox_configure(scorebox_text config) {
  scorebox_text value;
  if (scorebox_json_member(config, "ignoreCase", &value) && !scorebox_json_bool(value, &ignore_case))
    return scorebox_refused("`ignoreCase` must be true or false");
  return scorebox_taken();
}

static char folded(char c) {
  return ignore_case && c >= 'A' && c <= 'Z' ? c | 32 : c;
}

static bool has(scorebox_text text, scorebox_text wanted) {
  for (size_t from = 0; from + wanted.length <= text.length; from++) {
    size_t same = 0;
    while (same < wanted.length && folded(text.at[from + same]) == folded(wanted.at[same])) same++;
    if (same == wanted.length) return true;
  }
  return false;
}

scorebox_answer scorebox_score(const scorebox_case *it) {
  /* The scorer does not apply to a case that does not say what is expected. */
  if (!it->ground_truth.some) {
    scorebox_answer none = scorebox_not_applicable();
    none.is.score.reason = scorebox_some(scorebox_string("the case has no groundTruth"));
    return none;
  }
  scorebox_text expected = scorebox_text_of(it->ground_truth.value);
  bool found = has(scorebox_text_of(it->output), expected);
  scorebox_answer answer = scorebox_scored(found ? 1 : 0);
  answer.is.score.reason = scorebox_some(scorebox_format(
      "the output %s \"%.*s\"", found ? "has" : "does not have", (int)expected.length, expected.at));
  return answer;
}
