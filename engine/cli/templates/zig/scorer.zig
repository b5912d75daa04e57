//! {{title}}: 1 where the output has the expected answer in it, else 0. Put your own formula in its place.
const std = @import("std");
const scorebox = @import("scorebox");

pub const panic = scorebox.panic;

const info: scorebox.Info = .{
    .id = "{{name}}",
    .name = "{{title}}",
    .description = "Scores 1 where the output has the expected answer in it, else 0.",
    .config_schema =
    \\{"type": "object", "additionalProperties": false, "properties": {
    \\  "ignoreCase": {"type": "boolean", "default": true, "description": "Whether A and a are the same (letters A to Z only)."}}}
    ,
    .reads = .{ .ground_truth = true },
};

const Config = struct { ignoreCase: bool = true };

comptime {
    scorebox.scorer(Config, info, score);
}

fn score(config: Config, it: scorebox.Case) !scorebox.Score {
    // The scorer does not apply to a case that does not say what is expected.
    const truth = it.ground_truth orelse return .{ .score = null, .reason = "the case has no groundTruth" };
    const expected = try scorebox.text(truth);
    const output = try scorebox.text(it.output);
    const found = if (config.ignoreCase)
        std.ascii.findIgnoreCase(output, expected) != null
    else
        std.mem.find(u8, output, expected) != null;
    return .{
        .score = if (found) 1 else 0,
        .reason = try scorebox.print("the output {s} \"{s}\"", .{ if (found) "has" else "does not have", expected }),
    };
}
