//! Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both.
const std = @import("std");
const scorebox = @import("scorebox");

pub const panic = scorebox.panic;

const info: scorebox.Info = .{
    .id = "word-f1",
    .name = "Word F1",
    .description = "How many words output and ground truth share: 2 * shared / (words of both).",
    .config_schema =
    \\{"type":"object","additionalProperties":false,"properties":{"ignoreCase":{"type":"boolean","default":true},"minimum":{"type":"number","minimum":0,"maximum":1,"default":0}}}
    ,
    .reads = .{ .ground_truth = true },
};

const Config = struct {
    ignoreCase: bool = true,
    minimum: f64 = 0,

    pub fn check(self: Config) !void {
        if (!(self.minimum >= 0 and self.minimum <= 1))
            return scorebox.fail(error.Failed, "`minimum` must be 0 to 1", .{});
    }
};

comptime {
    scorebox.scorer(Config, info, score);
}

fn wordsOf(text: []const u8, ignore_case: bool) ![]const []const u8 {
    const own = if (ignore_case) try std.ascii.allocLowerString(scorebox.gpa, text) else text;
    var words: std.ArrayList([]const u8) = .empty;
    var place: usize = 0;
    while (place < own.len) : (place += 1) {
        const from = place;
        while (place < own.len and std.ascii.isAlphanumeric(own[place])) place += 1;
        if (place > from) try words.append(scorebox.gpa, own[from..place]);
    }
    return words.items;
}

fn score(config: Config, it: scorebox.Case) !scorebox.Score {
    const expected = it.ground_truth orelse
        return scorebox.fail(error.InvalidInput, "the case has no groundTruth", .{});
    const truth = try wordsOf(try scorebox.text(expected), config.ignoreCase);
    const output = try wordsOf(try scorebox.text(it.output), config.ignoreCase);
    var left: std.StringHashMap(usize) = .init(scorebox.gpa);
    for (truth) |word| {
        const entry = try left.getOrPutValue(word, 0);
        entry.value_ptr.* += 1;
    }
    var shared: usize = 0;
    for (output) |word| {
        const count = left.getPtr(word) orelse continue;
        if (count.* == 0) continue;
        count.* -= 1;
        shared += 1;
    }
    const total: f64 = @floatFromInt(truth.len + output.len);
    const f1 = if (total == 0) 1 else 2 * @as(f64, @floatFromInt(shared)) / total;
    return .{
        .score = if (f1 < config.minimum) 0 else f1,
        .reason = try scorebox.print(
            "{d} words shared, of {d} in the output and {d} in the ground truth",
            .{ shared, output.len, truth.len },
        ),
        .meta = try scorebox.stringify(.{ .output = output.len, .shared = shared, .truth = truth.len }),
    };
}
