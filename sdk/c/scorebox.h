/* A scorer in C: write the three functions below, and `scorebox build` makes them a component.
 *
 *     scorebox_info       scorebox_describe(void);
 *     scorebox_configured scorebox_configure(scorebox_text config);
 *     scorebox_answer     scorebox_score(const scorebox_case *it);
 *
 * Every text is UTF-8 with a length, and most do not end with a 0. A sandbox serves one call, so nothing must be freed:
 * what these functions return stays until the sandbox ends. C11; the structs and functions also work in C++. */
#ifndef SCOREBOX_H
#define SCOREBOX_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what crosses the sandbox wall: the contract scorebox:scorer@0.1.0, as it is laid out in memory ---- */

/* A text: UTF-8, `length` bytes long. */
typedef struct { const char *at; size_t length; } scorebox_text;
/* A text that may be absent; `some` is 0 or 1. */
typedef struct { uint8_t some; scorebox_text value; } scorebox_optional_text;
typedef struct { uint8_t some; double value; } scorebox_optional_number;
typedef struct { uint8_t some; uint64_t value; } scorebox_optional_count;

/* What the task consumed. */
typedef struct {
  scorebox_optional_count input_tokens, output_tokens, total_tokens;
  scorebox_optional_number cost_usd;
} scorebox_usage;
typedef struct { uint8_t some; scorebox_usage value; } scorebox_optional_usage;

/* One case. Each text is a JSON document; `scorebox_text_of` gives the characters of one. What `reads` does not name,
 * and what the case lacks, is absent. */
typedef struct {
  scorebox_text output;
  scorebox_optional_text input, ground_truth, context;
  scorebox_optional_number latency_ms;
  scorebox_optional_text output_schema, trace;
  scorebox_optional_usage usage;
  scorebox_optional_text metadata, baseline;
} scorebox_case;

/* The parts of a case that a scorer reads, added up. `output` is always present. */
enum {
  SCOREBOX_INPUT = 1,
  SCOREBOX_GROUND_TRUTH = 2,
  SCOREBOX_CONTEXT = 4,
  SCOREBOX_LATENCY = 8,
  SCOREBOX_OUTPUT_SCHEMA = 16,
  SCOREBOX_TRACE = 32,
  SCOREBOX_USAGE = 64,
  SCOREBOX_METADATA = 128,
  SCOREBOX_BASELINE = 256
};
/* The range of the scores: 0 to 1, or any finite number from 0 up. */
enum { SCOREBOX_UNIT = 0, SCOREBOX_POINTS = 1 };
enum { SCOREBOX_HIGHER_IS_BETTER = 0, SCOREBOX_LOWER_IS_BETTER = 1 };
/* How a score below the threshold counts: the case fails, or the shortfall is reported. */
enum { SCOREBOX_GATE = 0, SCOREBOX_SOFT = 1 };

/* What the scorer says about itself. Fields that are not set are 0: scores from 0 to 1, higher is better, a gate. */
typedef struct {
  scorebox_text id;          /* 1 to 64 of a-z, 0-9, - */
  scorebox_text name;        /* for a person */
  scorebox_text description; /* what it scores, how, and where the formula is from */
  scorebox_text version;
  scorebox_optional_text config_schema; /* a JSON Schema of the configuration */
  uint8_t scale, direction;
  uint16_t reads;
  uint8_t severity;
  scorebox_optional_number threshold;
} scorebox_info;

/* One named check inside a score. */
typedef struct {
  scorebox_text name;
  double score; /* 0 to 1 */
  struct { uint8_t some, value; } severity;
  scorebox_optional_number threshold;
  scorebox_optional_text reason;
} scorebox_assertion;

/* A score; without a number, the scorer does not apply to the case. */
typedef struct {
  scorebox_optional_number score;
  scorebox_optional_text label;
  scorebox_optional_text reason; /* why, for a person */
  scorebox_optional_text meta;   /* one JSON document, for programs */
  struct { const scorebox_assertion *at; size_t count; } assertions;
} scorebox_score_value;

enum { SCOREBOX_INVALID_INPUT = 0, SCOREBOX_FAILED = 1 };

/* A score, or why there is none. Make it with `scorebox_scored` or one of the functions after it. */
typedef struct {
  uint8_t is_error;
  union {
    scorebox_score_value score;
    struct { uint8_t kind; scorebox_text message; } error;
  } is;
} scorebox_answer;

/* Whether the configuration is accepted. Make it with `scorebox_taken` or `scorebox_refused`. */
typedef struct { uint8_t is_error; scorebox_text message; } scorebox_configured;

/* ---- what you write ---- */

/* What this scorer is. */
scorebox_info scorebox_describe(void);
/* Takes the configuration, a JSON object (`{}` if the user gave none). Its keys and their types have already been
 * checked against `config_schema`. */
scorebox_configured scorebox_configure(scorebox_text config);
/* Scores one case. Each call starts from the memory that `scorebox_configure` left. */
scorebox_answer scorebox_score(const scorebox_case *it);

/* ---- texts ---- */

#define SCOREBOX_FORMATS(text, first) __attribute__((format(printf, text, first)))

static inline void *scorebox_allocate(size_t size) {
  void *at = malloc(size ? size : 1);
  if (!at) __builtin_trap();
  return at;
}

/* The text of a C string. */
static inline scorebox_text scorebox_string(const char *text) {
  scorebox_text made = {text, strlen(text)};
  return made;
}

static inline scorebox_optional_text scorebox_some(scorebox_text text) {
  scorebox_optional_text made = {1, text};
  return made;
}

static inline scorebox_text scorebox_format_list(const char *format, va_list values) {
  va_list again;
  va_copy(again, values);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) return scorebox_string("");
  char *at = (char *)scorebox_allocate((size_t)length + 1);
  vsnprintf(at, (size_t)length + 1, format, values);
  scorebox_text made = {at, (size_t)length};
  return made;
}

/* A text, formatted as `printf` does. For a `scorebox_text`, use `%.*s` with `(int)text.length, text.at`. */
SCOREBOX_FORMATS(1, 2) static inline scorebox_text scorebox_format(const char *format, ...) {
  va_list values;
  va_start(values, format);
  scorebox_text made = scorebox_format_list(format, values);
  va_end(values);
  return made;
}

/* The next character of a text at `place`, which moves past it; U+FFFD in place of bytes that are not UTF-8. */
static inline unsigned scorebox_letter(scorebox_text text, size_t *place) {
  unsigned first = (unsigned char)text.at[(*place)++];
  if (first < 0x80) return first;
  unsigned more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
  if (!more) return 0xfffd;
  unsigned code = first & (0x3f >> more), least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
  for (; more && *place < text.length && ((unsigned char)text.at[*place] & 0xc0) == 0x80; more--)
    code = code << 6 | ((unsigned char)text.at[(*place)++] & 0x3f);
  return more || code < least || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? 0xfffd : code;
}

static inline char *scorebox_utf8(char *to, unsigned code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xc0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *to++ = (char)(0xe0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  } else {
    *to++ = (char)(0xf0 | code >> 18);
    *to++ = (char)(0x80 | (code >> 12 & 0x3f));
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  }
  return to;
}

/* The text with U+FFFD in place of bytes that are not UTF-8, such as the rest of a character that was cut. All texts in
 * what the three functions return are converted like this. */
static inline scorebox_text scorebox_valid(scorebox_text text) {
  size_t ascii = 0;
  while (ascii < text.length && (unsigned char)text.at[ascii] < 0x80) ascii++;
  if (ascii == text.length) return text;
  char *start = (char *)scorebox_allocate(text.length * 3), *to = start;
  memcpy(to, text.at, ascii);
  to += ascii;
  for (size_t place = ascii; place < text.length;) to = scorebox_utf8(to, scorebox_letter(text, &place));
  scorebox_text made = {start, (size_t)(to - start)};
  return made;
}

static inline bool scorebox_equal(scorebox_text one, scorebox_text other) {
  return one.length == other.length && (one.length == 0 || memcmp(one.at, other.at, one.length) == 0);
}

/* ---- answers ---- */

/* A score; `answer.is.score` takes a reason, a label, meta and assertions. */
static inline scorebox_answer scorebox_scored(double score) {
  scorebox_answer answer;
  memset(&answer, 0, sizeof answer);
  answer.is.score.score.some = 1;
  answer.is.score.score.value = score;
  return answer;
}

/* This scorer does not apply to the case. */
static inline scorebox_answer scorebox_not_applicable(void) {
  scorebox_answer answer;
  memset(&answer, 0, sizeof answer);
  return answer;
}

static inline scorebox_answer scorebox_error(uint8_t kind, scorebox_text message) {
  scorebox_answer answer;
  memset(&answer, 0, sizeof answer);
  answer.is_error = 1;
  answer.is.error.kind = kind;
  answer.is.error.message = message;
  return answer;
}

/* No score: the case lacks what the scorer needs, or has it in a form that the scorer cannot read. */
SCOREBOX_FORMATS(1, 2) static inline scorebox_answer scorebox_invalid_input(const char *format, ...) {
  va_list values;
  va_start(values, format);
  scorebox_answer answer = scorebox_error(SCOREBOX_INVALID_INPUT, scorebox_format_list(format, values));
  va_end(values);
  return answer;
}

/* No score: anything else that went wrong. */
SCOREBOX_FORMATS(1, 2) static inline scorebox_answer scorebox_failed(const char *format, ...) {
  va_list values;
  va_start(values, format);
  scorebox_answer answer = scorebox_error(SCOREBOX_FAILED, scorebox_format_list(format, values));
  va_end(values);
  return answer;
}

/* The configuration is accepted. */
static inline scorebox_configured scorebox_taken(void) {
  scorebox_configured made;
  memset(&made, 0, sizeof made);
  return made;
}

/* The configuration is refused: which key, what was found, what is allowed. */
SCOREBOX_FORMATS(1, 2) static inline scorebox_configured scorebox_refused(const char *format, ...) {
  scorebox_configured made = scorebox_taken();
  va_list values;
  va_start(values, format);
  made.is_error = 1;
  made.message = scorebox_format_list(format, values);
  va_end(values);
  return made;
}

/* ---- JSON: the host passes on valid documents only ---- */

static inline size_t scorebox_json_blank(scorebox_text json, size_t place) {
  while (place < json.length && (json.at[place] == ' ' || (json.at[place] >= '\t' && json.at[place] <= '\r'))) place++;
  return place;
}

/* The kind of a document: `{`, `[`, `"`, `0` (a number), `t`, `f`, `n`. */
static inline char scorebox_json_kind(scorebox_text json) {
  size_t place = scorebox_json_blank(json, 0);
  if (place == json.length) return 'n';
  char first = json.at[place];
  return first == '-' || (first >= '0' && first <= '9') ? '0' : first;
}

static inline size_t scorebox_json_end(scorebox_text json, size_t place) {
  int depth = 0;
  bool in_string = false;
  for (; place < json.length; place++) {
    char c = json.at[place];
    if (in_string) {
      if (c == '\\') place++;
      else if (c == '"') {
        in_string = false;
        if (!depth) return place + 1;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      if (!depth) return place;
      if (!--depth) return place + 1;
    } else if (!depth && (c == ',' || c == ':' || c == ' ' || (c >= '\t' && c <= '\r'))) {
      return place;
    }
  }
  return json.length;
}

static inline scorebox_text scorebox_json_value(scorebox_text json, size_t *place) {
  size_t from = scorebox_json_blank(json, *place);
  size_t to = scorebox_json_end(json, from);
  *place = scorebox_json_blank(json, to);
  scorebox_text value = {json.at + from, to - from};
  return value;
}

/* The next element of an array, or member of an object: `place` is 0 at first. For a member, `key` is set to its name
 * as a JSON string; `key` may be NULL. */
static inline bool scorebox_json_next(scorebox_text json, size_t *place, scorebox_text *key, scorebox_text *value) {
  char kind = scorebox_json_kind(json);
  if (kind != '{' && kind != '[') return false;
  if (!*place) *place = scorebox_json_blank(json, 0) + 1;
  *place = scorebox_json_blank(json, *place);
  if (*place < json.length && json.at[*place] == ',') *place = scorebox_json_blank(json, *place + 1);
  if (*place >= json.length || json.at[*place] == '}' || json.at[*place] == ']') return false;
  if (kind == '{') {
    scorebox_text name = scorebox_json_value(json, place);
    if (key) *key = name;
    if (*place < json.length) ++*place;
  }
  *value = scorebox_json_value(json, place);
  return true;
}

static inline unsigned scorebox_json_hex(scorebox_text json, size_t place) {
  unsigned code = 0;
  for (size_t end = place + 4; place < end; place++) {
    char c = place < json.length ? json.at[place] : '0';
    code = code * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return code & 0xffff;
}

/* The characters of a JSON string; any other document as it is written. Half a surrogate pair becomes U+FFFD. */
static inline scorebox_text scorebox_text_of(scorebox_text json) {
  size_t place = scorebox_json_blank(json, 0);
  if (place == json.length || json.at[place] != '"') return json;
  size_t end = scorebox_json_end(json, place) - 1;
  const char *from = json.at + ++place;
  if (!memchr(from, '\\', end - place)) {
    scorebox_text plain = {from, end - place};
    return plain;
  }
  char *start = (char *)scorebox_allocate(json.length), *to = start;
  while (place < end) {
    char c = json.at[place++];
    if (c != '\\' || place >= end) {
      *to++ = c;
      continue;
    }
    switch (c = json.at[place++]) {
      case 'b': *to++ = '\b'; break;
      case 'f': *to++ = '\f'; break;
      case 'n': *to++ = '\n'; break;
      case 'r': *to++ = '\r'; break;
      case 't': *to++ = '\t'; break;
      case 'u': {
        unsigned code = scorebox_json_hex(json, place);
        place += 4;
        if (code >= 0xd800 && code < 0xdc00 && place + 6 <= end && json.at[place] == '\\' && json.at[place + 1] == 'u') {
          unsigned low = scorebox_json_hex(json, place + 2);
          if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            place += 6;
          }
        }
        to = scorebox_utf8(to, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
        break;
      }
      default: *to++ = c;
    }
  }
  scorebox_text made = {start, (size_t)(to - start)};
  return made;
}

/* The member of an object, the last one if several have this name; false if there is none. */
static inline bool scorebox_json_member(scorebox_text object, const char *name, scorebox_text *value) {
  scorebox_text key, found, wanted = scorebox_string(name);
  size_t place = 0;
  bool is_there = false;
  if (scorebox_json_kind(object) != '{') return false;
  while (scorebox_json_next(object, &place, &key, &found)) {
    if (!scorebox_equal(scorebox_text_of(key), wanted)) continue;
    *value = found;
    is_there = true;
  }
  return is_there;
}

/* Whether a document is a number; if so, sets the number. */
static inline bool scorebox_json_number(scorebox_text json, double *number) {
  if (scorebox_json_kind(json) != '0') return false;
  scorebox_text copy = scorebox_format("%.*s", (int)json.length, json.at);
  *number = strtod(copy.at, NULL);
  return true;
}

/* Whether a document is true or false; if so, sets the value. */
static inline bool scorebox_json_bool(scorebox_text json, bool *value) {
  char kind = scorebox_json_kind(json);
  if (kind != 't' && kind != 'f') return false;
  *value = kind == 't';
  return true;
}

/* A text as a JSON string, for `meta`. */
static inline scorebox_text scorebox_json_string(scorebox_text text) {
  char *start = (char *)scorebox_allocate(text.length * 6 + 2), *to = start;
  *to++ = '"';
  for (size_t place = 0; place < text.length; place++) {
    unsigned char c = (unsigned char)text.at[place];
    if (c == '"' || c == '\\') {
      *to++ = '\\';
      *to++ = (char)c;
    } else if (c < ' ') {
      const char *digits = "0123456789abcdef";
      memcpy(to, "\\u00", 4);
      to += 4;
      *to++ = digits[c >> 4];
      *to++ = digits[c & 15];
    } else {
      *to++ = (char)c;
    }
  }
  *to++ = '"';
  scorebox_text made = {start, (size_t)(to - start)};
  return made;
}

/* ---- messages for the author who debugs a scorer ---- */

enum { SCOREBOX_DEBUG = 0, SCOREBOX_INFO = 1, SCOREBOX_WARN = 2, SCOREBOX_ERROR = 3 };

__attribute__((import_module("scorebox:scorer/log@0.1.0"), import_name("letter"))) void scorebox_log_letter(uint32_t letter);
__attribute__((import_module("scorebox:scorer/log@0.1.0"), import_name("end"))) void scorebox_log_end(uint32_t level);

/* Logs one message, formatted as `printf` does. (Printed text is logged too, one message per line.) */
SCOREBOX_FORMATS(2, 3) static inline void scorebox_log(uint32_t level, const char *format, ...) {
  va_list values;
  va_start(values, format);
  scorebox_text text = scorebox_format_list(format, values);
  va_end(values);
  for (size_t place = 0; place < text.length;) scorebox_log_letter(scorebox_letter(text, &place));
  scorebox_log_end(level);
}

/* ---- what the host calls; the same in every file that includes this one ---- */

#define SCOREBOX_EXPORT(name) __attribute__((weak, used, export_name(name)))

/* Memory for what the host passes in. */
SCOREBOX_EXPORT("cabi_realloc") void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
  enum { CHUNK = 16 << 10 };
  static char *free_at, *free_end;
  if (!size) return (void *)align;
  size_t start = ((size_t)free_at + align - 1) & ~(align - 1);
  if (start + size > (size_t)free_end) {
    size_t room = size + align > CHUNK ? size + align : CHUNK;
    free_at = (char *)scorebox_allocate(room);
    free_end = free_at + room;
    start = ((size_t)free_at + align - 1) & ~(align - 1);
  }
  free_at = (char *)(start + size);
  if (old_size) memcpy((void *)start, old, old_size < size ? old_size : size);
  return (void *)start;
}

static inline void scorebox_make_valid(scorebox_text *text) { *text = scorebox_valid(*text); }
static inline void scorebox_make_some_valid(scorebox_optional_text *text) {
  if (text->some) scorebox_make_valid(&text->value);
}

static inline void scorebox_make_score_valid(scorebox_score_value *score) {
  scorebox_make_some_valid(&score->label);
  scorebox_make_some_valid(&score->reason);
  scorebox_make_some_valid(&score->meta);
  size_t count = score->assertions.count;
  if (!count) return;
  scorebox_assertion *all = (scorebox_assertion *)scorebox_allocate(count * sizeof *all);
  memcpy(all, score->assertions.at, count * sizeof *all);
  for (size_t place = 0; place < count; place++) {
    scorebox_make_valid(&all[place].name);
    scorebox_make_some_valid(&all[place].reason);
  }
  score->assertions.at = all;
}

SCOREBOX_EXPORT("scorebox:scorer/scoring@0.1.0#describe") scorebox_info *scorebox_export_describe(void) {
  static scorebox_info info;
  info = scorebox_describe();
  scorebox_make_valid(&info.id);
  scorebox_make_valid(&info.name);
  scorebox_make_valid(&info.description);
  scorebox_make_valid(&info.version);
  scorebox_make_some_valid(&info.config_schema);
  return &info;
}

/* Room for what scores allocate: a score that must ask the host for more memory takes longer. In blocks of one page
 * each, because `malloc` of Zig's C library uses a separate page for each size of block. */
static inline void scorebox_make_room(void) {
  enum { BLOCKS = 8, BLOCK = 60000 };
  void *volatile blocks[BLOCKS];
  for (int block = 0; block < BLOCKS; block++) blocks[block] = malloc(BLOCK);
  for (int block = 0; block < BLOCKS; block++) free(blocks[block]);
}

SCOREBOX_EXPORT("scorebox:scorer/scoring@0.1.0#configure")
scorebox_configured *scorebox_export_configure(const char *at, size_t length) {
  static scorebox_configured configured;
  scorebox_text config = {at, length};
  configured = scorebox_configure(config);
  if (configured.is_error) scorebox_make_valid(&configured.message);
  scorebox_make_room();
  return &configured;
}

SCOREBOX_EXPORT("scorebox:scorer/scoring@0.1.0#score") scorebox_answer *scorebox_export_score(const scorebox_case *it) {
  static scorebox_answer answer;
  answer = scorebox_score(it);
  if (answer.is_error) scorebox_make_valid(&answer.is.error.message);
  else scorebox_make_score_valid(&answer.is.score);
  return &answer;
}

/* ---- the layout, which the compiler checks; a test of scorebox compares the numbers with the contract ---- */

#ifdef __cplusplus
#define SCOREBOX_AT(record, field, offset) static_assert(offsetof(record, field) == offset, "a 32-bit target is needed")
#else
#define SCOREBOX_AT(record, field, offset) _Static_assert(offsetof(record, field) == offset, "a 32-bit target is needed")
#endif
SCOREBOX_AT(scorebox_usage, input_tokens, 0);
SCOREBOX_AT(scorebox_usage, output_tokens, 16);
SCOREBOX_AT(scorebox_usage, total_tokens, 32);
SCOREBOX_AT(scorebox_usage, cost_usd, 48);
SCOREBOX_AT(scorebox_case, output, 0);
SCOREBOX_AT(scorebox_case, input, 8);
SCOREBOX_AT(scorebox_case, ground_truth, 20);
SCOREBOX_AT(scorebox_case, context, 32);
SCOREBOX_AT(scorebox_case, latency_ms, 48);
SCOREBOX_AT(scorebox_case, output_schema, 64);
SCOREBOX_AT(scorebox_case, trace, 76);
SCOREBOX_AT(scorebox_case, usage, 88);
SCOREBOX_AT(scorebox_case, metadata, 160);
SCOREBOX_AT(scorebox_case, baseline, 172);
SCOREBOX_AT(scorebox_info, id, 0);
SCOREBOX_AT(scorebox_info, name, 8);
SCOREBOX_AT(scorebox_info, description, 16);
SCOREBOX_AT(scorebox_info, version, 24);
SCOREBOX_AT(scorebox_info, config_schema, 32);
SCOREBOX_AT(scorebox_info, scale, 44);
SCOREBOX_AT(scorebox_info, direction, 45);
SCOREBOX_AT(scorebox_info, reads, 46);
SCOREBOX_AT(scorebox_info, severity, 48);
SCOREBOX_AT(scorebox_info, threshold, 56);
SCOREBOX_AT(scorebox_assertion, name, 0);
SCOREBOX_AT(scorebox_assertion, score, 8);
SCOREBOX_AT(scorebox_assertion, severity, 16);
SCOREBOX_AT(scorebox_assertion, threshold, 24);
SCOREBOX_AT(scorebox_assertion, reason, 40);
SCOREBOX_AT(scorebox_score_value, score, 0);
SCOREBOX_AT(scorebox_score_value, label, 16);
SCOREBOX_AT(scorebox_score_value, reason, 28);
SCOREBOX_AT(scorebox_score_value, meta, 40);
SCOREBOX_AT(scorebox_score_value, assertions, 52);
SCOREBOX_AT(scorebox_answer, is, 8);
SCOREBOX_AT(scorebox_answer, is.error.message, 12);
SCOREBOX_AT(scorebox_configured, message, 4);

#ifdef __cplusplus
}
#endif
#endif
