// For tests: a scorer in JavaScript that attacks in the ways that this language has, one at a time. The case names the
// attack: it attacks if the output is a text like `attack spin`, and behaves otherwise; so all attacks on `score` share
// a configuration, and the code compiled for it. For `configure`, the configuration names it: {"configure": "spin"}.
// README.md says how it is built.

import log from "scorebox:scorer/log@0.1.0";

/** The answer of a scorer that behaves. */
const answer = (reason, score = 1) => ({ score, label: null, reason, meta: null, assertions: [] });

/** Increments the count that an object keeps. */
const countIn = (object, key = "count") => {
  object[key] = (Object.hasOwn(object, key) ? object[key] : 0) + 1;
  return object[key];
};

/** An answer with one part that violates the contract. */
const odd = (part) => ({ ...answer("odd"), ...part });

let depth = 0;
const descend = () => {
  depth += 1;
  return descend() + 1;
};

/** An endless list that is generated while it is read. */
const endless = {
  *[Symbol.iterator]() {
    for (;;) yield { name: "again", score: 1, severity: null, threshold: null, reason: null };
  },
};

/** Describes how an expression ends. */
const how = (attempt) => {
  try {
    return String(attempt());
  } catch (error) {
    return `${error}`;
  }
};

// What `keep-state` counts in: what a score could reach and leave changed.
let inTheModule = 0;
const inAClosure = (() => {
  let count = 0;
  return () => (count += 1);
})();

const deeds = {
  behave: () => answer("was told to behave"),

  // Throwing.
  throw: () => {
    throw new TypeError("was told to throw");
  },
  "throw-deep-down": () => [1].map(function inner() { return JSON.parse("{broken"); }),
  "throw-a-text": () => {
    throw "just a text";
  },
  "throw-a-number": () => {
    throw 42;
  },
  "throw-nothing": () => {
    throw undefined;
  },
  "throw-an-error-of-the-contract": () => {
    throw { tag: "failed", val: "was told to fail" };
  },
  "throw-a-case-that-there-is-not": () => {
    throw { tag: "sabotaged", val: "no such case" };
  },
  "throw-what-throws": () => {
    const trap = () => {
      throw new Error("thrown while the first was looked at");
    };
    throw { get tag() { return trap(); }, get message() { return trap(); }, toString: trap };
  },
  "throw-for-a-terminal": () => {
    throw new Error("\u001b[2J\u009b31m\u202e\nerror: forged\nhint: forged");
  },
  "throw-forged-lines": () => {
    throw { tag: "failed", val: "\u001b[2Jnothing\nerror: forged\nhint: run \u202ethis" };
  },
  "throw-a-long-text": () => {
    throw new Error("long ".repeat(1 << 20));
  },
  "use-what-is-not-there": () => answer(notDeclaredAnywhere.length),

  // Computing without end.
  spin: () => {
    for (;;) depth += 1;
  },
  // The text of the case decides: "aaaa…!" takes 2^n steps, others take n.
  "match-a-regular-expression": (input) =>
    answer(/^"attack [a-z-]+ (a+)+"$/.test(input.output) ? "matches" : "does not match"),
  recurse: () => answer(`${descend()}`),
  "recurse-and-catch": () => {
    for (;;) {
      try {
        descend();
      } catch (error) {
        depth = 0;
      }
    }
  },
  "nest-a-regular-expression": () => answer(`${new RegExp("(".repeat(200000))}`),
  "nest-json": () => answer(`${JSON.parse("[".repeat(2000000))}`),
  "settle-again-and-again": () => {
    const again = () => Promise.resolve().then(again);
    again();
    return answer("went on after its answer");
  },

  // Taking memory.
  "grow-an-array": () => {
    for (const list = []; ; ) list.push({ list });
  },
  "grow-a-text": () => {
    for (let text = "x"; ; ) text = [text, text].join("-");
  },
  "grow-at-once": () => answer(`${new ArrayBuffer(2 ** 31 - 1).byteLength}`),
  "be-refused-memory-and-live": () => answer(how(() => new ArrayBuffer(2 ** 31 - 1).byteLength)),

  // Answering later, or never.
  "promise-and-never-keep-it": () => new Promise(() => {}),
  "promise-and-keep-it": async () => answer("kept its promise"),
  "promise-and-break-it": async () => {
    throw new Error("broke its promise");
  },

  // Answering in the wrong form.
  "score-a-text": () => odd({ score: "1" }),
  "score-a-text-that-is-no-number": () => odd({ score: "good" }),
  "score-not-a-number": () => odd({ score: NaN }),
  "score-infinite": () => odd({ score: -Infinity }),
  "score-an-object": () => odd({ score: { valueOf: () => 1 } }),
  "score-an-integer-of-any-size": () => odd({ score: 1n }),
  "score-true": () => odd({ score: true }),
  "answer-nothing": () => undefined,
  "answer-a-text": () => "1",
  "answer-a-function": () => deeds,
  "answer-without-assertions": () => ({ score: 1 }),
  "reason-a-number": () => odd({ reason: 7 }),
  "reason-half-a-character": () => odd({ reason: "half \ud83d of a character, and \udc00" }),
  "reason-with-zeros": () => odd({ reason: "a\u0000b" }),
  "meta-an-object": () => odd({ meta: { a: 1 } }),
  "meta-no-json": () => odd({ meta: "{'a': 1}" }),
  "meta-a-cycle": () => {
    const cycle = {};
    cycle.cycle = cycle;
    return odd({ meta: JSON.stringify(cycle) });
  },
  "assertions-without-end": () => odd({ assertions: endless }),
  "assertions-that-say-they-are-many": () => odd({ assertions: new Array(4294967295) }),
  "assertions-of-a-lying-length": () => odd({ assertions: { length: 2 ** 53, 0: null } }),
  "a-severity-that-there-is-not": () =>
    odd({
      assertions: [{ name: "a", score: 1, severity: "deadly", threshold: null, reason: null }],
    }),
  "a-getter-that-throws": () => ({
    ...answer("odd"),
    get reason() {
      throw new RangeError("thrown by a getter");
    },
  }),
  "a-getter-that-spins": () => ({
    ...answer("odd"),
    get reason() {
      for (;;) depth += 1;
    },
  }),
  "a-getter-that-changes-its-answer": () => {
    let asked = 0;
    return {
      ...answer("odd"),
      get reason() {
        asked += 1;
        return asked > 1 ? 7 : "asked once";
      },
    };
  },
  "a-proxy": () =>
    new Proxy({}, {
      get: (_, name) => {
        throw new Error(`asked for ${String(name)}`);
      },
    }),

  // Code from text.
  eval: () => answer(how(() => (0, eval)("6 * 7"))),
  "make-a-function": () => answer(how(() => new Function("a", "return a * 7")(6))),
  "eval-and-spin": () => answer(how(() => (0, eval)("for (;;) {}"))),

  // Reaching out.
  "look-at-the-clock": () => answer(`${Date.now()}`),
  "look-at-the-date": () => answer(`${new Date()}`),
  "draw-a-number": () => answer(`${Math.random()} ${Math.random()}`),
  print: () => {
    console.log("printed");
    return answer("printed");
  },
  "list-what-is-there": () => {
    const names = [
      "process", "require", "fetch", "WebAssembly", "Atomics", "std", "os", "scriptArgs", "console", "performance",
      "setTimeout", "crypto", "Worker", "navigator", "Deno", "Bun", "gc", "print", "load", "wit",
    ];
    return answer(names.map((name) => `${name}: ${typeof globalThis[name]}`).join(", "));
  },
  "import-a-file": () => {
    import("/etc/passwd").then(
      (module) => log.log("warn", `imported ${Object.keys(module)}`),
      (error) => log.log("warn", `${error}`),
    );
    return answer("asked for a file");
  },
  "import-what-was-not-granted": () => {
    import("wasi:filesystem/preopens@0.2.0").then(
      (module) => log.log("warn", `imported ${Object.keys(module)}`),
      (error) => log.log("warn", `${error}`),
    );
    return answer("asked for files");
  },

  // How well-meaning scorers treat their exceptions.
  "throw-and-catch": () => {
    try {
      return deeds.throw();
    } catch (error) {
      throw { tag: "failed", val: `${error}\n${error.stack.trimEnd()}` };
    }
  },

  // Keeping something from one case to the next; each place counts the calls that it saw.
  "keep-state": () => {
    const pattern = (deeds.pattern ??= /a/g);
    pattern.test("aaaaaaaa");
    const counts = {
      module: (inTheModule += 1),
      closure: inAClosure(),
      global: countIn(globalThis),
      prototype: countIn(Object.prototype),
      Math: countIn(Math),
      function: countIn(deeds.behave),
      symbol: countIn(Array, Symbol.for("count")),
      pattern: pattern.lastIndex,
    };
    return answer(Object.keys(counts).map((place) => `${place} ${counts[place]}`).join(", "));
  },
  // Changing what the bindings between the contract and JavaScript rely on.
  "poison-the-prototypes": () => {
    for (const part of ["score", "label", "reason", "meta", "assertions", "tag", "val", "then"]) {
      Object.defineProperty(Object.prototype, part, {
        get: () => "poisoned",
        configurable: true,
      });
    }
    return {};
  },
  "poison-the-builtins": () => {
    for (const builtin of [Array, String, Number, Object, Promise, Symbol, Function, Error, Map]) {
      for (const place of [builtin, builtin.prototype]) {
        for (const name of Reflect.ownKeys(place)) {
          how(() => (place[name] = () => "poisoned"));
        }
      }
    }
    globalThis.JSON = globalThis.Array = globalThis.Promise = "poisoned";
    return answer("poisoned");
  },
};

export const scoring = {
  describe: () => ({
    id: "javascript-attacker",
    name: "JavaScript attacker",
    description: "For tests: attacks in the ways that JavaScript has.",
    version: "0.1.0",
    configSchema: null,
    scale: "unit",
    direction: "higher-is-better",
    reads: {},
    severity: "gate",
    threshold: null,
  }),

  configure(config) {
    const order = JSON.parse(config).configure;
    if (order !== undefined) deeds[order]({ output: config });
  },

  score(input) {
    const order = /^"attack ([a-z-]+)/.exec(input.output);
    if (order === null) return answer("behaves on this case", input.output === "1" ? 1 : 0);
    return deeds[order[1]](input);
  },
};
