/* Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both. */
#include "scorebox.h"

static bool ignore_case = true;
static double minimum = 0;

typedef struct { scorebox_text *at; size_t count, room; } words;

static bool in_word(char c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static words words_of(scorebox_text text) {
  char *own = scorebox_allocate(text.length);
  words found = {0};
  for (size_t i = 0, from; i < text.length; i++) {
    for (from = i; i < text.length && in_word(text.at[i]); i++) {
      char c = text.at[i];
      own[i] = ignore_case && c >= 'A' && c <= 'Z' ? c | 32 : c;
    }
    if (i == from) continue;
    if (found.count == found.room) {
      found.room = found.room ? found.room * 2 : 64;
      found.at = realloc(found.at, found.room * sizeof *found.at);
    }
    found.at[found.count++] = (scorebox_text){own + from, i - from};
  }
  return found;
}

static int by_bytes(const void *a, const void *b) {
  const scorebox_text *one = a, *other = b;
  size_t both = one->length < other->length ? one->length : other->length;
  int order = memcmp(one->at, other->at, both);
  return order ? order : (one->length > other->length) - (one->length < other->length);
}

scorebox_info scorebox_describe(void) {
  return (scorebox_info){
      .id = scorebox_string("word-f1"),
      .name = scorebox_string("Word F1"),
      .description = scorebox_string("How many words output and ground truth share: 2 * shared / (words of both)."),
      .version = scorebox_string("0.1.0"),
      .config_schema = scorebox_some(scorebox_string(
          "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
          "\"ignoreCase\":{\"type\":\"boolean\",\"default\":true},"
          "\"minimum\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1,\"default\":0}}}")),
      .reads = SCOREBOX_GROUND_TRUTH,
  };
}

scorebox_configured scorebox_configure(scorebox_text config) {
  scorebox_text value;
  if (scorebox_json_member(config, "ignoreCase", &value)) scorebox_json_bool(value, &ignore_case);
  if (scorebox_json_member(config, "minimum", &value)) scorebox_json_number(value, &minimum);
  if (!(minimum >= 0 && minimum <= 1)) return scorebox_refused("`minimum` must be 0 to 1");
  return scorebox_taken();
}

scorebox_answer scorebox_score(const scorebox_case *it) {
  if (!it->ground_truth.some) return scorebox_invalid_input("the case has no groundTruth");
  words truth = words_of(scorebox_text_of(it->ground_truth.value));
  words output = words_of(scorebox_text_of(it->output));
  qsort(truth.at, truth.count, sizeof *truth.at, by_bytes);
  qsort(output.at, output.count, sizeof *output.at, by_bytes);
  size_t shared = 0;
  for (size_t i = 0, j = 0; i < truth.count && j < output.count;) {
    int order = by_bytes(&truth.at[i], &output.at[j]);
    shared += order == 0;
    i += order <= 0;
    j += order >= 0;
  }
  size_t total = truth.count + output.count;
  double f1 = total ? 2.0 * (double)shared / (double)total : 1.0;
  scorebox_answer answer = scorebox_scored(f1 < minimum ? 0 : f1);
  answer.is.score.reason = scorebox_some(scorebox_format(
      "%zu words shared, of %zu in the output and %zu in the ground truth", shared, output.count, truth.count));
  answer.is.score.meta = scorebox_some(
      scorebox_format("{\"output\":%zu,\"shared\":%zu,\"truth\":%zu}", output.count, shared, truth.count));
  return answer;
}
