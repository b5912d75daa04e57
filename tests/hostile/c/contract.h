// How the values of the contract (wit/0.1.0) are laid out in memory, and the names of the imports and exports. Written
// by hand, because generated bindings would prevent most of what an attacker does.

#ifndef CONTRACT_H
#define CONTRACT_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name), used))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define SCORING "scorebox:scorer/scoring@0.1.0"

typedef struct {
    const char *text;
    size_t length;
} string;

typedef struct {
    uint32_t some;
    string value;
} optional_string;

typedef struct {
    uint32_t some;
    double value;
} optional_number;

/// Only the first part is read.
typedef struct {
    string output;
} scorer_input;

typedef struct {
    string name;
    double score;
    uint8_t has_severity;
    uint8_t severity;
    optional_number threshold;
    optional_string reason;
} assertion;

/// `result<score-result, scorer-error>` if it is a score.
typedef struct {
    uint32_t is_error;
    optional_number score;
    optional_string label;
    optional_string reason;
    optional_string meta;
    const assertion *assertions;
    size_t assertion_count;
} scored;

typedef struct {
    string id, name, description, version;
    optional_string config_schema;
    uint8_t scale, direction;
    uint16_t reads;
    uint8_t severity;
    optional_number threshold;
} scorer_info;

/// `result<_, string>`
typedef struct {
    uint32_t is_error;
    string error;
} configured;

enum { DEBUG, INFO, WARN, ERROR };

IMPORT("scorebox:scorer/log@0.1.0", "log")
void contract_log(uint32_t level, const char *text, size_t length);

#endif
