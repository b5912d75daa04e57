//! A scorer in Zig: declare what it is and how it scores, and `scorebox build` makes it a component.
//!
//!     const scorebox = @import("scorebox");
//!     const Config = struct { ignoreCase: bool = true };
//!     comptime { scorebox.scorer(Config, info, score); }
//!     fn score(config: Config, it: scorebox.Case) !scorebox.Score { … }
//!
//! A sandbox serves one call, so nothing must be freed: `scorebox.gpa` only allocates. An error that `score` returns
//! becomes `failed`, with its name or the message of `fail`. Written for Zig 0.17; needs no libc.
const std = @import("std");

var arena: std.heap.ArenaAllocator = .init(std.heap.wasm_allocator);
/// Memory that stays until the sandbox ends.
pub const gpa = arena.allocator();

// ---- what a scorer is made of ----

/// The parts of a case that a scorer reads. `output` is always present.
pub const Fields = packed struct(u16) {
    input: bool = false,
    ground_truth: bool = false,
    context: bool = false,
    latency: bool = false,
    output_schema: bool = false,
    trace: bool = false,
    usage: bool = false,
    metadata: bool = false,
    baseline: bool = false,
    _: u7 = 0,
};
/// The range of the scores: 0 to 1, or any finite number from 0 up.
pub const Scale = enum(u8) { unit, points };
pub const Direction = enum(u8) { higher_is_better, lower_is_better };
/// How a score below the threshold counts: the case fails, or the shortfall is reported.
pub const Severity = enum(u8) { gate, soft };

/// What the scorer says about itself.
pub const Info = struct {
    /// 1 to 64 of a-z, 0-9, -.
    id: []const u8,
    /// For a person.
    name: []const u8,
    /// What it scores, how, and where the formula is from.
    description: []const u8,
    version: []const u8 = "0.1.0",
    /// A JSON Schema of the configuration. Keys and types are checked against it before `configure`.
    config_schema: ?[]const u8 = null,
    scale: Scale = .unit,
    direction: Direction = .higher_is_better,
    reads: Fields = .{},
    severity: Severity = .gate,
    threshold: ?f64 = null,
};

/// What the task consumed.
pub const Usage = struct { input_tokens: ?u64, output_tokens: ?u64, total_tokens: ?u64, cost_usd: ?f64 };

/// One case. Each text is a JSON document; `text` gives the characters of one, `parse` reads it. What `reads` does not
/// name, and what the case lacks, is null.
pub const Case = struct {
    output: []const u8,
    input: ?[]const u8 = null,
    ground_truth: ?[]const u8 = null,
    context: ?[]const u8 = null,
    latency_ms: ?f64 = null,
    output_schema: ?[]const u8 = null,
    trace: ?[]const u8 = null,
    usage: ?Usage = null,
    metadata: ?[]const u8 = null,
    baseline: ?[]const u8 = null,
};

/// One named check inside a score.
pub const Assertion = struct {
    name: []const u8,
    /// 0 to 1.
    score: f64,
    severity: ?Severity = null,
    threshold: ?f64 = null,
    reason: ?[]const u8 = null,
};

/// A score; without a number, the scorer does not apply to the case.
pub const Score = struct {
    score: ?f64,
    label: ?[]const u8 = null,
    /// Why, for a person.
    reason: ?[]const u8 = null,
    /// One JSON document, for programs.
    meta: ?[]const u8 = null,
    assertions: []const Assertion = &.{},
};

/// `InvalidInput`: the case lacks what the scorer needs. `Failed`: anything else.
pub const Error = error{ InvalidInput, Failed };

/// The last message of `fail`, and its error: an error that was handled must not explain another one.
var said: ?struct { problem: anyerror, message: []const u8 } = null;

/// Sets the message of the error that is returned next: `return scorebox.fail(error.InvalidInput, "no {s}",
/// .{"answer"});`
pub fn fail(kind: Error, comptime format: []const u8, values: anytype) Error {
    say(kind, format, values);
    return kind;
}

fn say(problem: anyerror, comptime format: []const u8, values: anytype) void {
    const message = std.fmt.allocPrint(gpa, format, values) catch return;
    said = .{ .problem = problem, .message = message };
}

/// The message of an error: at least its name.
fn messageOf(problem: anyerror) []const u8 {
    const last = said orelse return @errorName(problem);
    return if (last.problem == problem) last.message else @errorName(problem);
}

/// A text, formatted as `std.fmt` does.
pub fn print(comptime format: []const u8, values: anytype) ![]const u8 {
    return std.fmt.allocPrint(gpa, format, values);
}

// ---- JSON ----

/// Reads a document into a value of a type. Keys that the type does not have are skipped, and if a key is repeated, the
/// last one counts. An error states the place in the document.
pub fn parse(comptime T: type, json: []const u8) !T {
    return read(T, json, .{ .ignore_unknown_fields = true, .duplicate_field_behavior = .use_last });
}

fn read(comptime T: type, json: []const u8, options: std.json.ParseOptions) !T {
    var scanner: std.json.Scanner = .initCompleteInput(gpa, json);
    var place: std.json.Diagnostics = .{};
    scanner.enableDiagnostics(&place);
    return std.json.parseFromTokenSourceLeaky(T, gpa, &scanner, options) catch |problem| {
        const shown = json[0..@min(json.len, 60)];
        const dots = if (shown.len < json.len) "…" else "";
        say(problem, "{s} at byte {d} of {s}{s}", .{ @errorName(problem), place.getByteOffset(), shown, dots });
        return problem;
    };
}

/// The characters of a JSON string; any other document as it is written. Half a surrogate pair becomes U+FFFD.
pub fn text(json: []const u8) ![]const u8 {
    const start = std.mem.trim(u8, json, " \t\r\n");
    if (start.len < 2 or start[0] != '"') return json;
    const inner = start[1 .. start.len - 1];
    if (std.mem.findScalar(u8, inner, '\\') == null) return inner;
    var made: std.ArrayList(u8) = try .initCapacity(gpa, inner.len);
    var rest = inner;
    while (std.mem.findScalar(u8, rest, '\\')) |at| {
        made.appendSliceAssumeCapacity(rest[0..at]);
        rest = rest[@min(at + 2, rest.len)..];
        switch (inner[inner.len - rest.len - 1]) {
            'b' => made.appendAssumeCapacity(8),
            'f' => made.appendAssumeCapacity(12),
            'n' => made.appendAssumeCapacity('\n'),
            'r' => made.appendAssumeCapacity('\r'),
            't' => made.appendAssumeCapacity('\t'),
            'u' => {
                var letter: u21 = try escaped(&rest);
                if (letter >= 0xd800 and letter < 0xdc00 and std.mem.startsWith(u8, rest, "\\u")) {
                    var after = rest[2..];
                    const low: u21 = try escaped(&after);
                    if (low >= 0xdc00 and low < 0xe000) {
                        letter = 0x10000 + ((letter - 0xd800) << 10) + (low - 0xdc00);
                        rest = after;
                    }
                }
                appendLetter(&made, letter);
            },
            else => |same| made.appendAssumeCapacity(same),
        }
    }
    made.appendSliceAssumeCapacity(rest);
    return made.items;
}

/// The number of four hexadecimal digits, which are removed from the rest.
fn escaped(rest: *[]const u8) !u16 {
    if (rest.len < 4) return error.SyntaxError;
    const code = try std.fmt.parseInt(u16, rest.*[0..4], 16);
    rest.* = rest.*[4..];
    return code;
}

/// Appends a character, or U+FFFD for half a surrogate pair. There is room for it.
fn appendLetter(made: *std.ArrayList(u8), letter: u21) void {
    var bytes: [4]u8 = undefined;
    const length = std.unicode.utf8Encode(letter, &bytes) catch std.unicode.utf8Encode(0xfffd, &bytes) catch unreachable;
    made.appendSliceAssumeCapacity(bytes[0..length]);
}

/// A value as a JSON document, for `meta`. A number that is not finite is an error, because JSON has none. In texts,
/// U+FFFD replaces what is not UTF-8.
pub fn stringify(value: anytype) ![]const u8 {
    var made: std.Io.Writer.Allocating = .init(gpa);
    var out: std.json.Stringify = .{ .writer = &made.writer };
    try write(&out, value);
    return made.written();
}

/// As `std.json.Stringify.write`, which however writes such numbers as texts, and such texts as lists of bytes.
fn write(out: *std.json.Stringify, value: anytype) !void {
    const T = @TypeOf(value);
    if (T == std.json.Value) return writeJson(out, value);
    if (comptime std.meta.hasFn(T, "jsonStringify")) return out.write(value);
    switch (@typeInfo(T)) {
        .float => {
            if (!std.math.isFinite(value)) return fail(error.Failed, "the number {d} cannot be written as JSON", .{value});
            try out.write(value);
        },
        .optional => if (value) |it| try write(out, it) else try out.write(null),
        .@"struct" => |parts| {
            if (parts.is_tuple) try out.beginArray() else try out.beginObject();
            inline for (parts.field_names, parts.field_types) |name, Part| {
                if (Part == void) continue;
                if (!parts.is_tuple) try out.objectField(name);
                try write(out, @field(value, name));
            }
            if (parts.is_tuple) try out.endArray() else try out.endObject();
        },
        .pointer => |pointer| switch (pointer.size) {
            .one => switch (@typeInfo(pointer.child)) {
                .array => try write(out, @as([]const std.meta.Elem(pointer.child), value)),
                else => try write(out, value.*),
            },
            .slice => if (pointer.child == u8) try out.write(valid(value)) else try writeAll(out, value),
            else => try out.write(value),
        },
        .array => try write(out, &value),
        else => try out.write(value),
    }
}

fn writeAll(out: *std.json.Stringify, values: anytype) !void {
    try out.beginArray();
    for (values) |value| try write(out, value);
    try out.endArray();
}

fn writeJson(out: *std.json.Stringify, value: std.json.Value) (std.json.Stringify.Error || Error)!void {
    switch (value) {
        .string => |it| try out.write(valid(it)),
        .float => |it| try write(out, it),
        .array => |it| {
            try out.beginArray();
            for (it.items) |item| try writeJson(out, item);
            try out.endArray();
        },
        .object => |it| {
            try out.beginObject();
            for (it.keys(), it.values()) |name, member| {
                try out.objectField(valid(name));
                try writeJson(out, member);
            }
            try out.endObject();
        },
        else => try out.write(value),
    }
}

// ---- texts ----

/// The next character of a text, which is removed from the rest; U+FFFD in place of bytes that are not UTF-8.
fn nextLetter(rest: *[]const u8) u21 {
    const length = std.unicode.utf8ByteSequenceLength(rest.*[0]) catch 0;
    const letter: ?u21 = if (length == 0 or length > rest.len) null else std.unicode.utf8Decode(rest.*[0..length]) catch null;
    rest.* = rest.*[if (letter == null) 1 + continuations(rest.*[1..]) else length..];
    return letter orelse 0xfffd;
}

/// How many bytes continue an incomplete character: they are not separate characters.
fn continuations(rest: []const u8) usize {
    var count: usize = 0;
    while (count < @min(rest.len, 3) and rest[count] & 0xc0 == 0x80) count += 1;
    return count;
}

/// The text with U+FFFD in place of what is not UTF-8, such as the rest of a character that was cut. All texts of a
/// score, of an error and of the scorer's info are converted like this.
fn valid(value: []const u8) []const u8 {
    if (std.unicode.utf8ValidateSlice(value)) return value;
    var made: std.ArrayList(u8) = std.ArrayList(u8).initCapacity(gpa, 3 * value.len) catch @trap();
    var rest = value;
    while (rest.len > 0) appendLetter(&made, nextLetter(&rest));
    return made.items;
}

// ---- messages for the author who debugs a scorer ----

pub const Level = enum(u32) { debug, info, warn, @"error" };

const host = struct {
    extern "scorebox:scorer/log@0.1.0" fn letter(letter: u32) void;
    extern "scorebox:scorer/log@0.1.0" fn end(level: u32) void;
};

/// Logs one message. U+FFFD replaces what is not UTF-8.
pub fn log(level: Level, comptime format: []const u8, values: anytype) void {
    const message = std.fmt.allocPrint(gpa, format, values) catch return;
    var rest: []const u8 = message;
    while (rest.len > 0) host.letter(nextLetter(&rest));
    host.end(@intFromEnum(level));
}

/// A panic is a trap; this logs its message first.
fn panicked(message: []const u8, _: ?usize) noreturn {
    log(.@"error", "{s}", .{message});
    @trap();
}

/// For the root file: `pub const panic = scorebox.panic;`
pub const panic = std.debug.FullPanic(panicked);

// ---- the contract scorebox:scorer@0.1.0, as it is laid out in memory ----

const abi = struct {
    const String = extern struct {
        at: [*]const u8 = @ptrFromInt(1),
        length: usize = 0,

        fn of(value: []const u8) String {
            const whole = valid(value);
            return if (whole.len == 0) .{} else .{ .at = whole.ptr, .length = whole.len };
        }
        fn slice(self: String) []const u8 {
            return if (self.length == 0) "" else self.at[0..self.length];
        }
    };
    fn Option(comptime T: type) type {
        return extern struct {
            some: u8 = 0,
            value: T = std.mem.zeroes(T),

            fn of(value: ?T) @This() {
                return if (value) |it| .{ .some = 1, .value = it } else .{};
            }
            fn get(self: @This()) ?T {
                return if (self.some != 0) self.value else null;
            }
        };
    }
    const OptionString = extern struct {
        some: u8 = 0,
        value: String = .{},

        fn of(value: ?[]const u8) OptionString {
            return if (value) |it| .{ .some = 1, .value = .of(it) } else .{};
        }
        fn get(self: OptionString) ?[]const u8 {
            return if (self.some != 0) self.value.slice() else null;
        }
    };
    const Usage = extern struct {
        input_tokens: Option(u64),
        output_tokens: Option(u64),
        total_tokens: Option(u64),
        cost_usd: Option(f64),
    };
    const OptionUsage = extern struct { some: u8, value: abi.Usage };
    const Input = extern struct {
        output: String,
        input: OptionString,
        ground_truth: OptionString,
        context: OptionString,
        latency_ms: Option(f64),
        output_schema: OptionString,
        trace: OptionString,
        usage: OptionUsage,
        metadata: OptionString,
        baseline: OptionString,
    };
    const Info = extern struct {
        id: String,
        name: String,
        description: String,
        version: String,
        config_schema: OptionString,
        scale: u8,
        direction: u8,
        reads: u16,
        severity: u8,
        threshold: Option(f64),
    };
    const Assertion = extern struct {
        name: String,
        score: f64,
        severity: extern struct { some: u8 = 0, value: u8 = 0 },
        threshold: Option(f64),
        reason: OptionString,
    };
    const Result = extern struct {
        score: Option(f64),
        label: OptionString = .{},
        reason: OptionString = .{},
        meta: OptionString = .{},
        assertions: extern struct { at: ?[*]const abi.Assertion = null, count: usize = 0 } = .{},
    };
    const Problem = extern struct { kind: u8, message: String };
    const Answer = extern struct {
        is_error: u8,
        is: extern union { score: Result, problem: Problem },
    };
    const Configured = extern struct { is_error: u8 = 0, message: String = .{} };

    // The compiler compares these with the structs above; a test of scorebox compares the numbers with the contract.
    fn at(comptime Record: type, comptime field: []const u8, comptime offset: usize) void {
        if (@offsetOf(Record, field) != offset) @compileError(field ++ " is not where the contract has it");
    }
    comptime {
        at(abi.Usage, "input_tokens", 0);
        at(abi.Usage, "output_tokens", 16);
        at(abi.Usage, "total_tokens", 32);
        at(abi.Usage, "cost_usd", 48);
        at(Input, "output", 0);
        at(Input, "input", 8);
        at(Input, "ground_truth", 20);
        at(Input, "context", 32);
        at(Input, "latency_ms", 48);
        at(Input, "output_schema", 64);
        at(Input, "trace", 76);
        at(Input, "usage", 88);
        at(Input, "metadata", 160);
        at(Input, "baseline", 172);
        at(abi.Info, "id", 0);
        at(abi.Info, "name", 8);
        at(abi.Info, "description", 16);
        at(abi.Info, "version", 24);
        at(abi.Info, "config_schema", 32);
        at(abi.Info, "scale", 44);
        at(abi.Info, "direction", 45);
        at(abi.Info, "reads", 46);
        at(abi.Info, "severity", 48);
        at(abi.Info, "threshold", 56);
        at(abi.Assertion, "name", 0);
        at(abi.Assertion, "score", 8);
        at(abi.Assertion, "severity", 16);
        at(abi.Assertion, "threshold", 24);
        at(abi.Assertion, "reason", 40);
        at(Result, "score", 0);
        at(Result, "label", 16);
        at(Result, "reason", 28);
        at(Result, "meta", 40);
        at(Result, "assertions", 52);
        at(Answer, "is", 8);
        at(Configured, "message", 4);
    }
};

// ---- what the host calls ----

/// Memory for what the host passes in.
fn realloc(old: ?[*]u8, old_size: usize, alignment: usize, size: usize) callconv(.c) ?[*]u8 {
    if (size == 0) return @ptrFromInt(alignment);
    const new = gpa.alignedAlloc(u8, .@"8", size) catch @trap();
    if (old_size > 0) @memcpy(new[0..@min(old_size, size)], old.?[0..@min(old_size, size)]);
    return new.ptr;
}

/// Room for what scores allocate: a score that must ask the host for more memory takes longer. Nothing is written to
/// it.
fn makeRoom() void {
    const bytes = 256 << 10;
    const room = gpa.rawAlloc(bytes, .@"8", @returnAddress()) orelse return;
    gpa.rawFree(room[0..bytes], .@"8", @returnAddress());
}

/// Exports a scorer: the type of its configuration (a struct with a default for every key), what it is, and the
/// function that scores. A configuration type may have `pub fn check(self: Config) !void`, which refuses values with
/// `fail`.
pub fn scorer(
    comptime Config: type,
    comptime info: Info,
    comptime score: fn (Config, Case) anyerror!Score,
) void {
    const exported = struct {
        var config: Config = undefined;
        var described: abi.Info = undefined;
        var configured: abi.Configured = .{};
        var answer: abi.Answer = undefined;

        fn describe() callconv(.c) *abi.Info {
            described = .{
                .id = .of(info.id),
                .name = .of(info.name),
                .description = .of(info.description),
                .version = .of(info.version),
                .config_schema = .of(info.config_schema),
                .scale = @intFromEnum(info.scale),
                .direction = @intFromEnum(info.direction),
                .reads = @bitCast(info.reads),
                .severity = @intFromEnum(info.severity),
                .threshold = .of(info.threshold),
            };
            return &described;
        }

        fn configure(at: [*]const u8, length: usize) callconv(.c) *abi.Configured {
            configured = .{};
            take(at[0..length]) catch |problem| {
                configured = .{ .is_error = 1, .message = .of(messageOf(problem)) };
            };
            said = null;
            makeRoom();
            return &configured;
        }

        fn take(json: []const u8) !void {
            config = read(Config, json, .{ .duplicate_field_behavior = .use_last }) catch |problem| {
                return fail(error.Failed, "the configuration cannot be read: {s}", .{messageOf(problem)});
            };
            if (@hasDecl(Config, "check")) try config.check();
        }

        fn scored(input: *const abi.Input) callconv(.c) *abi.Answer {
            const it: Case = .{
                .output = input.output.slice(),
                .input = input.input.get(),
                .ground_truth = input.ground_truth.get(),
                .context = input.context.get(),
                .latency_ms = input.latency_ms.get(),
                .output_schema = input.output_schema.get(),
                .trace = input.trace.get(),
                .usage = if (input.usage.some == 0) null else .{
                    .input_tokens = input.usage.value.input_tokens.get(),
                    .output_tokens = input.usage.value.output_tokens.get(),
                    .total_tokens = input.usage.value.total_tokens.get(),
                    .cost_usd = input.usage.value.cost_usd.get(),
                },
                .metadata = input.metadata.get(),
                .baseline = input.baseline.get(),
            };
            answer = given(it) catch |problem| .{ .is_error = 1, .is = .{ .problem = .{
                .kind = if (problem == error.InvalidInput) 0 else 1,
                .message = .of(messageOf(problem)),
            } } };
            return &answer;
        }

        fn given(it: Case) !abi.Answer {
            const made = try score(config, it);
            const assertions = try gpa.alloc(abi.Assertion, made.assertions.len);
            for (made.assertions, assertions) |from, *to| to.* = .{
                .name = .of(from.name),
                .score = from.score,
                .severity = if (from.severity) |it_is| .{ .some = 1, .value = @intFromEnum(it_is) } else .{},
                .threshold = .of(from.threshold),
                .reason = .of(from.reason),
            };
            return .{ .is_error = 0, .is = .{ .score = .{
                .score = .of(made.score),
                .label = .of(made.label),
                .reason = .of(made.reason),
                .meta = .of(made.meta),
                .assertions = if (assertions.len == 0) .{} else .{ .at = assertions.ptr, .count = assertions.len },
            } } };
        }
    };
    @export(&realloc, .{ .name = "cabi_realloc" });
    @export(&exported.describe, .{ .name = "scorebox:scorer/scoring@0.1.0#describe" });
    @export(&exported.configure, .{ .name = "scorebox:scorer/scoring@0.1.0#configure" });
    @export(&exported.scored, .{ .name = "scorebox:scorer/scoring@0.1.0#score" });
}
