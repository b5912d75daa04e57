// Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both.
#include "scorebox.hpp"

#include <map>

using namespace scorebox;

static bool in_word(char c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

struct WordF1 {
  bool ignore_case = true;
  double minimum = 0;

  static Info describe() {
    return {
        .id = "word-f1",
        .name = "Word F1",
        .description = "How many words output and ground truth share: 2 * shared / (words of both).",
        .config_schema = R"({"type":"object","additionalProperties":false,"properties":{)"
                         R"("ignoreCase":{"type":"boolean","default":true},)"
                         R"("minimum":{"type":"number","minimum":0,"maximum":1,"default":0}}})",
        .reads = SCOREBOX_GROUND_TRUTH,
    };
  }

  explicit WordF1(std::string_view config) {
    scorebox_text value;
    if (scorebox_json_member(text(config), "ignoreCase", &value)) scorebox_json_bool(value, &ignore_case);
    if (scorebox_json_member(text(config), "minimum", &value)) scorebox_json_number(value, &minimum);
    if (!(minimum >= 0 && minimum <= 1)) refuse("`minimum` must be 0 to 1");
  }

  std::vector<std::string> words_of(std::string_view text) const {
    std::vector<std::string> words;
    std::string word;
    for (size_t i = 0; i <= text.size(); i++) {
      char c = i < text.size() ? text[i] : ' ';
      if (in_word(c)) {
        word += ignore_case && c >= 'A' && c <= 'Z' ? c | 32 : c;
      } else if (!word.empty()) {
        words.push_back(std::exchange(word, {}));
      }
    }
    return words;
  }

  Score score(const Case &it) const {
    if (!it.ground_truth) return invalid_input("the case has no groundTruth");
    auto truth = words_of(text_of(*it.ground_truth)), output = words_of(text_of(it.output));
    std::map<std::string_view, size_t> left;
    for (const auto &word : truth) left[word]++;
    size_t shared = 0;
    for (const auto &word : output) {
      auto found = left.find(word);
      if (found == left.end() || !found->second) continue;
      found->second--;
      shared++;
    }
    size_t total = truth.size() + output.size();
    double f1 = total ? 2.0 * double(shared) / double(total) : 1.0;
    auto number = [](size_t of) { return std::to_string(of); };
    return {
        .score = f1 < minimum ? 0 : f1,
        .reason = number(shared) + " words shared, of " + number(output.size()) + " in the output and " +
                  number(truth.size()) + " in the ground truth",
        .meta = "{\"output\":" + number(output.size()) + ",\"shared\":" + number(shared) +
                ",\"truth\":" + number(truth.size()) + "}",
    };
  }
};

SCOREBOX_SCORER(WordF1)
