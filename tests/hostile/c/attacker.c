// For tests: a scorer in C that attacks in the ways that this language has, one at a time, as its configuration says:
// {"score": "spin"}, {"configure": "spin"}. It attacks if the case's output is a text that begins with `attack`, and
// behaves otherwise. README.md says how it is built.

#include "contract.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// The orders for `configure` and for `score`.
static char order_of_configure[64], order_of_score[64];

/// The order for `describe`, which gets no configuration: the tests overwrite `behave`.
static volatile char order_of_describe[64] = "order of describe: behave";

/// Zero, which the compiler must not know.
static volatile int nothing = 0;
static volatile size_t sink;

/// The answer of a scorer that behaves.
static scored answer = {.score = {1, 1}};

static scored *answer_with(const char *reason) {
    answer.reason = (optional_string){1, {reason, strlen(reason)}};
    return &answer;
}

static scored *answer_with_bytes(const void *reason, size_t length) {
    answer.reason = (optional_string){1, {reason, length}};
    return &answer;
}

/// `words`, followed by a number.
static scored *answer_with_number(const char *words, long long number) {
    static char text[128], digits[24];
    char *digit = digits + sizeof digits - 1;
    unsigned long long rest = number < 0 ? -(unsigned long long)number : (unsigned long long)number;
    do *--digit = (char)('0' + rest % 10); while (rest /= 10);
    if (number < 0) *--digit = '-';
    strcpy(text, words);
    strcat(text, digit);
    return answer_with(text);
}

static size_t memory_bytes(void) { return __builtin_wasm_memory_size(0) << 16; }

// Crashes that other languages do not have.

static scored *read_null(void) {
    // In WebAssembly there is readable memory at address 0.
    return answer_with_number("at address 0 is ", *(volatile int *)(uintptr_t)nothing);
}

static scored *write_null(void) {
    *(volatile int *)(uintptr_t)nothing = 7;
    return answer_with_number("at address 0 is now ", *(volatile int *)(uintptr_t)nothing);
}

static scored *read_outside(void) {
    return answer_with_number("read ", *(volatile int *)(uintptr_t)(UINT32_MAX - 63 - nothing));
}

static scored *write_outside(void) {
    *(volatile int *)(uintptr_t)(UINT32_MAX - 63 - nothing) = 7;
    return answer_with("wrote");
}

static scored *read_just_outside(void) {
    return answer_with_number("read ", *(volatile char *)memory_bytes());
}

static scored *divide_by_zero(void) { return answer_with_number("7 / 0 = ", 7 / nothing); }

static scored *divide_beyond_the_greatest(void) {
    return answer_with_number("least / -1 = ", (INT_MIN + nothing) / (nothing - 1));
}

static scored *convert_what_does_not_fit(void) {
    return answer_with_number("1e30 = ", __builtin_wasm_trunc_s_i32_f64(1e30 + nothing));
}

static scored *overflow_a_number(void) {
    volatile int greatest = INT_MAX;
    return answer_with_number("greatest + 1 = ", (int)((unsigned)greatest + 1U + (unsigned)nothing));
}

static scored *shift_too_far(void) {
    return answer_with_number("1 << 33 = ", (int)(1U << ((33 + nothing) & 63)));
}

static scored *unreachable(void) { __builtin_trap(); }

static scored *call_abort(void) { abort(); }

// Calling functions as something that they are not.

typedef double (*of_a_number)(double);
typedef scored *(*of_nothing)(void);

static scored *call_a_wrong_type(void) {
    volatile of_nothing function = read_null;
    return answer_with_number("called, ", (long long)((of_a_number)(void *)function)(1.0));
}

static scored *call_a_null_pointer(void) {
    volatile of_nothing function = NULL;
    return function();
}

static scored *call_a_number(void) {
    volatile of_nothing function = (of_nothing)(uintptr_t)123456;
    return function();
}

static scored *the_wanted_one(void) { return answer_with("called what it was meant to"); }
static scored *the_other_one(void) { return answer_with("called another function of its own"); }

static scored *overwrite_a_function_pointer(void) {
    // Nothing but the scorer itself reads this.
    struct {
        char name[8];
        volatile of_nothing function;
    } object = {"", the_wanted_one};
    volatile of_nothing other = the_other_one;
    of_nothing address = other;
    char *volatile name = object.name;
    memcpy(name + sizeof object.name, &address, sizeof address);
    return object.function();
}

// Its own heap and stack.

static scored *overflow_a_buffer(void) {
    char *volatile small = malloc(8), *volatile neighbour = malloc(64);
    strcpy(neighbour, "untouched");
    for (int i = 0; &small[i] < neighbour + 8; i++) small[i] = 'A';
    return answer_with(neighbour);
}

static scored *overflow_all_memory(void) {
    char *volatile small = malloc(8);
    memset(small, 'A', memory_bytes());
    return answer_with("overwrote all");
}

static scored *overflow_and_go_on(void) {
    char *volatile small = malloc(8);
    for (int i = 0; i < 4096; i++) small[i] = (char)0xff;
    for (int i = 1; i < 64; i++) {
        char *volatile other = malloc((size_t)i * 16);
        if (other != NULL) other[0] = 1;
        free(other);
    }
    return answer_with("went on with a broken heap");
}

static scored *free_twice(void) {
    char *volatile block = malloc(100), *volatile after = malloc(100);
    free(block);
    free(block);
    char *volatile one = malloc(100), *volatile two = malloc(100);
    free(after);
    return answer_with(one == two ? "two blocks are one" : "freed twice");
}

static scored *free_what_was_not_given(void) {
    free((char *)&answer + 4);
    char *volatile block = malloc(16);
    return answer_with(block == NULL ? "no memory" : "freed its own data");
}

static scored *use_after_free(void) {
    char *volatile block = malloc(64);
    strcpy(block, "what was here before");
    free(block);
    char *volatile other = malloc(64);
    strcpy(other, "what is here now");
    return answer_with(block);
}

__attribute__((noinline)) static int smash(char *volatile buffer) {
    for (int i = 0; i < 256; i++) buffer[i] = 'A';
    return 1;
}

static scored *smash_the_stack(void) {
    // The return address is not in this memory.
    char buffer[16];
    char *volatile place = buffer;
    return answer_with_number("came back all the same: ", smash(place));
}

/// Large enough that the stack in memory ends long before WebAssembly's own.
#define FRAME 4096

__attribute__((noinline)) static int descend(int levels) {
    volatile char frame[FRAME];
    for (int i = 0; i < FRAME; i++) frame[i] = (char)levels;
    return levels == 0 ? frame[7] : descend(levels - 1) + frame[levels % FRAME];
}

static scored *recurse(void) { return answer_with_number("came back with ", descend(INT_MAX)); }

static char data[8 * FRAME];

static scored *recurse_into_data(void) {
    // Elsewhere the stack is below all data and ends at the end of memory; so it is moved.
    char *stack;
    __asm__ volatile(".globaltype __stack_pointer, i32\n"
                     "global.get __stack_pointer\n"
                     "local.set %0\n"
                     "local.get %1\n"
                     "global.set __stack_pointer"
                     : "=&r"(stack)
                     : "r"(data + sizeof data));
    sink = (size_t)descend(3);
    __asm__ volatile("local.get %0\nglobal.set __stack_pointer" : : "r"(stack));
    int changed = 0;
    for (size_t i = 0; i < sizeof data; i++) changed += data[i] != 0;
    return answer_with(changed ? "its stack ran into its data" : "its data is as it was");
}

static scored *measure_the_unterminated(void) {
    char *start = malloc(1);
    memset(start, 'A', memory_bytes() - (size_t)start);
    char *volatile text = start;
    return answer_with_number("it has ", (long long)strlen(text));
}

// Computing without end, and memory.

static scored *spin(void) {
    for (;;) sink++;
}

static scored *jump_without_end(void) {
again:
    if (!nothing) goto again;
    return answer_with("came out of it");
}

static scored *grow_in_steps(void) {
    long long pages = 0;
    while (__builtin_wasm_memory_grow(0, 1) != SIZE_MAX) pages++;
    return answer_with(pages > 900 && pages < 1024 ? "was refused below its limit"
                                                   : "was given more, or less, than its limit");
}

static scored *grow_at_once(void) {
    return answer_with_number("grew: ", (long)__builtin_wasm_memory_grow(0, 65535 - nothing));
}

static scored *allocate_and_do_not_look(void) {
    char *volatile block = malloc((size_t)1 << 30);
    for (int i = 0; i < 64; i++) block[i] = 'A';
    return answer_with(block == NULL ? "wrote to what it was refused" : "was given a gigabyte");
}

static scored *allocate_until_refused(void) {
    void *volatile block;
    do block = malloc(1000); while (block != NULL);
    return answer_with("lives without more memory");
}

// Memory that was not written, and texts that are not valid.

static scored *answer_uninitialised(void) {
    char *volatile block = malloc(64);
    memset(block, 0xfe, 64);
    free(block);
    char *volatile again = malloc(64);
    return answer_with_bytes(again, 64);
}

/// Looks for what other sandboxes left in this one's memory, and leaves something itself.
static scored *look_for_leftovers(void) {
    const size_t size = 8 << 20;
    size_t before = memory_bytes();
    long long found = 0;
    if (__builtin_wasm_memory_grow(0, size >> 16) == SIZE_MAX) return answer_with("no memory");
    unsigned char *fresh = (unsigned char *)before;
    for (size_t i = 0; i < size; i++) found += fresh[i] != 0;
    memset(fresh, 0xaa, size);
    for (size_t i = 0; i < sizeof data; i++) found += data[i] != 0;
    memset(data, 0xaa, sizeof data);
    return answer_with_number("bytes that somebody left: ", found);
}

static scored *keep_state(void) {
    static int in_data = 0;
    static int *on_heap = NULL;
    if (on_heap == NULL) on_heap = calloc(1, sizeof *on_heap);
    return answer_with_number("calls seen: ", 1000 * ++in_data + ++*on_heap);
}

static scored *answer_truncated(void) { return answer_with_bytes("half of \xe2\x82", 10); }
static scored *answer_overlong(void) { return answer_with_bytes("\xc0\x80", 2); }
static scored *answer_surrogates(void) { return answer_with_bytes("\xed\xa0\x80", 3); }

static scored *answer_outside(void) { return answer_with_bytes((char *)(UINT32_MAX - 15), 8); }
static scored *answer_across_the_end(void) {
    return answer_with_bytes((char *)(memory_bytes() - 8), 16);
}
static scored *answer_around_the_end(void) {
    return answer_with_bytes((char *)(UINT32_MAX - 15), 64);
}
static scored *answer_longest(void) { return answer_with_bytes("x", UINT32_MAX); }
static scored *answer_longest_from_zero(void) { return answer_with_bytes(NULL, UINT32_MAX); }

static assertion one_assertion = {.name = {"one", 3}, .score = 1};

static scored *with_assertions(const assertion *list, size_t count) {
    answer.assertions = list;
    answer.assertion_count = count;
    return &answer;
}

static scored *list_longest(void) { return with_assertions(&one_assertion, UINT32_MAX); }
static scored *list_around_the_end(void) { return with_assertions(&one_assertion, 0x10000000 * 3); }
static scored *list_misaligned(void) {
    return with_assertions((assertion *)((char *)&one_assertion + 1), 1);
}
static scored *list_outside(void) { return with_assertions((assertion *)(UINT32_MAX - 7), 1); }
static scored *list_shared(void) {
    // The same long text in each of a thousand assertions.
    static assertion many[1000];
    for (int i = 0; i < 1000; i++) {
        many[i] = (assertion){.name = {data, sizeof data}, .score = 1};
    }
    return with_assertions(many, 1000);
}
static scored *severity_unknown(void) {
    one_assertion.has_severity = 1;
    one_assertion.severity = 9;
    return with_assertions(&one_assertion, 1);
}
static scored *option_unknown(void) {
    answer.reason.some = 0xffffffff;
    return &answer;
}
static scored *result_unknown(void) {
    answer.is_error = 77;
    return &answer;
}
static scored *result_outside(void) { return (scored *)(UINT32_MAX - 63); }
static scored *result_misaligned(void) { return (scored *)((char *)&answer + 4); }
static scored *result_null(void) { return NULL; }

static scored *log_outside(void) {
    contract_log(WARN, (char *)(UINT32_MAX - 15), 8);
    return answer_with("logged");
}
static scored *log_longest(void) {
    contract_log(WARN, NULL, UINT32_MAX);
    return answer_with("logged");
}
static scored *log_at_no_level(void) {
    contract_log(77, "x", 1);
    return answer_with("logged");
}
static scored *log_no_text(void) {
    contract_log(ERROR, "\xff\xfe", 2);
    return answer_with("logged");
}

static scored *behave(void) { return answer_with("was told to behave"); }

typedef struct {
    const char *word;
    of_nothing act;
} deed;

/// Attacks on other exports behave in `score`.
static const deed deeds[] = {
    {"behave", behave},
    {"read-null", read_null},
    {"write-null", write_null},
    {"read-outside", read_outside},
    {"write-outside", write_outside},
    {"read-just-outside", read_just_outside},
    {"divide-by-zero", divide_by_zero},
    {"divide-beyond-the-greatest", divide_beyond_the_greatest},
    {"convert-what-does-not-fit", convert_what_does_not_fit},
    {"overflow-a-number", overflow_a_number},
    {"shift-too-far", shift_too_far},
    {"unreachable", unreachable},
    {"abort", call_abort},
    {"call-a-wrong-type", call_a_wrong_type},
    {"call-a-null-pointer", call_a_null_pointer},
    {"call-a-number", call_a_number},
    {"overwrite-a-function-pointer", overwrite_a_function_pointer},
    {"overflow-a-buffer", overflow_a_buffer},
    {"overflow-all-memory", overflow_all_memory},
    {"overflow-and-go-on", overflow_and_go_on},
    {"free-twice", free_twice},
    {"free-what-was-not-given", free_what_was_not_given},
    {"use-after-free", use_after_free},
    {"smash-the-stack", smash_the_stack},
    {"recurse", recurse},
    {"recurse-into-data", recurse_into_data},
    {"measure-the-unterminated", measure_the_unterminated},
    {"spin", spin},
    {"jump-without-end", jump_without_end},
    {"grow-in-steps", grow_in_steps},
    {"grow-at-once", grow_at_once},
    {"allocate-and-do-not-look", allocate_and_do_not_look},
    {"allocate-until-refused", allocate_until_refused},
    {"answer-uninitialised", answer_uninitialised},
    {"look-for-leftovers", look_for_leftovers},
    {"keep-state", keep_state},
    {"answer-truncated", answer_truncated},
    {"answer-overlong", answer_overlong},
    {"answer-surrogates", answer_surrogates},
    {"answer-outside", answer_outside},
    {"answer-across-the-end", answer_across_the_end},
    {"answer-around-the-end", answer_around_the_end},
    {"answer-longest", answer_longest},
    {"answer-longest-from-zero", answer_longest_from_zero},
    {"list-longest", list_longest},
    {"list-around-the-end", list_around_the_end},
    {"list-misaligned", list_misaligned},
    {"list-outside", list_outside},
    {"list-shared", list_shared},
    {"severity-unknown", severity_unknown},
    {"option-unknown", option_unknown},
    {"result-unknown", result_unknown},
    {"result-outside", result_outside},
    {"result-misaligned", result_misaligned},
    {"result-null", result_null},
    {"log-outside", log_outside},
    {"log-longest", log_longest},
    {"log-at-no-level", log_at_no_level},
    {"log-no-text", log_no_text},
};

static scored *act(const char *word) {
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (strcmp(deeds[i].word, word) == 0) return deeds[i].act();
    return answer_with("behaves in `score`");
}

static bool ordered(const char *word) { return strcmp(order_of_score, word) == 0; }

/// The word after `"key":"`, if there is one; the engine writes JSON without spaces.
static void find(char *order, size_t room, const char *key, string json) {
    size_t length = strlen(key);
    for (size_t i = 0; i + length < json.length; i++) {
        if (memcmp(json.text + i, key, length) != 0) continue;
        for (size_t j = 0; j + 1 < room && i + length + j < json.length; j++) {
            char letter = json.text[i + length + j];
            if (letter == '"') return;
            order[j] = letter;
        }
    }
}

// What the contract requires.

/// The bytes that the engine requests if the output is `"attack"`.
#define BYTES_OF_ATTACK 8
/// The case as a whole, requested before its texts.
#define ALIGNMENT_OF_CASE 8

EXPORT("cabi_realloc")
void *cabi_realloc(void *old, size_t old_size, size_t alignment, size_t size) {
    if (alignment == 1 && size == BYTES_OF_ATTACK) {
        if (ordered("allocate-outside")) return (void *)(UINT32_MAX - 15);
        if (ordered("allocate-across-the-end")) return (void *)(memory_bytes() - 4);
        if (ordered("allocate-null")) return NULL;
        if (ordered("allocate-over-the-answer")) return &answer;
        if (ordered("allocate-and-crash")) __builtin_trap();
        if (ordered("allocate-and-spin")) spin();
        if (ordered("allocate-and-log")) contract_log(INFO, "from realloc", 12);
        if (ordered("allocate-and-grow")) while (__builtin_wasm_memory_grow(0, 1) != SIZE_MAX);
    }
    if (alignment == ALIGNMENT_OF_CASE && ordered("allocate-misaligned")) {
        return (char *)realloc(old, size + 1) + 1;
    }
    (void)old_size;
    return realloc(old, size);
}

EXPORT(SCORING "#describe")
scorer_info *describe(void) {
#define TEXT(text) {text, sizeof text - 1}
    static scorer_info info = {
        .id = TEXT("c-attacker"),
        .name = TEXT("C attacker"),
        .description = TEXT("For tests: attacks in the ways that C has."),
        .version = TEXT("0.1.0"),
    };
    char order[sizeof order_of_describe] = {0};
    for (size_t i = strlen("order of describe: "); i < sizeof order; i++) {
        if (order_of_describe[i] == ' ') break;
        *strchr(order, 0) = order_of_describe[i];
    }
    if (strcmp(order, "describe-outside") == 0) return (scorer_info *)(UINT32_MAX - 63);
    if (strcmp(order, "describe-longest") == 0) info.description.length = UINT32_MAX;
    if (strcmp(order, "describe-no-text") == 0) info.name.text = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    if (strcmp(order, "describe-no-scale") == 0) info.scale = 200;
    if (strcmp(order, "describe-all-flags") == 0) info.reads = 0xffff;
    act(order);
    return &info;
}

EXPORT(SCORING "#configure")
configured *configure(const char *text, size_t length) {
    static configured good = {0};
    string config = {text, length};
    find(order_of_configure, sizeof order_of_configure, "\"configure\":\"", config);
    find(order_of_score, sizeof order_of_score, "\"score\":\"", config);
    if (order_of_configure[0] != 0) act(order_of_configure);
    return &good;
}

EXPORT(SCORING "#score")
scored *score(const scorer_input *input) {
    const string output = input->output;
    if (output.length >= 7 && memcmp(output.text, "\"attack", 7) == 0) return act(order_of_score);
    answer.score.value = output.length == 1 && output.text[0] == '1';
    return answer_with("behaves on this case");
}

EXPORT("cabi_post_" SCORING "#score")
void after_score(scored *given) {
    if (given->reason.some && given->reason.value.length == strlen("behaves on this case")) return;
    if (ordered("clean-up-and-crash")) __builtin_trap();
    if (ordered("clean-up-and-spin")) spin();
    if (ordered("clean-up-and-log")) contract_log(INFO, "from post-return", 16);
    if (ordered("clean-up-what-is-no-memory")) free((void *)(UINT32_MAX - 15));
}
