// A scorer in AssemblyScript: extend `Scorer`, register it, and export what the host calls; `scorebox build` makes it a
// component.
//
//   import { Scorer, Info, Case, Score, register } from "./scorebox";
//   export { cabi_realloc, describe, configure, score } from "./scorebox";
//
//   class MyScorer extends Scorer { … }
//   register(new MyScorer());
//
// AssemblyScript has no exceptions: return `Score.failed(message)` or `Score.invalidInput(message)`. A runtime error is
// a trap, with its message in the log. A sandbox serves one call, so there is no garbage collection.

/** The parts of a case that a scorer reads, joined by |. The output is always present. */
export namespace Fields {
  export const input: u16 = 1;
  export const groundTruth: u16 = 2;
  export const context: u16 = 4;
  export const latency: u16 = 8;
  export const outputSchema: u16 = 16;
  export const trace: u16 = 32;
  export const usage: u16 = 64;
  export const metadata: u16 = 128;
  export const baseline: u16 = 256;
}

/** The range of the scores: 0 to 1, or any finite number from 0 up. */
export enum Scale { unit, points }
export enum Direction { higherIsBetter, lowerIsBetter }
/** How a score below the threshold counts: the case fails, or the shortfall is reported. */
export enum Severity { gate, soft }

/** What a scorer says about itself. */
export class Info {
  version: string = "0.1.0";
  /** A JSON Schema of the configuration. Keys and types are compared with it before `configure`. */
  configSchema: string = "";
  scale: Scale = Scale.unit;
  direction: Direction = Direction.higherIsBetter;
  reads: u16 = 0;
  severity: Severity = Severity.gate;
  /** The lowest score that passes; NaN if there is none. */
  threshold: f64 = NaN;

  constructor(
    /** 1 to 64 of a-z, 0-9, -. */
    public id: string,
    /** For a person. */
    public name: string,
    /** What it scores, how, and where the formula is from. */
    public description: string,
  ) {}
}

/** What the task consumed; what is not known is NaN. */
export class Usage {
  inputTokens: f64 = NaN;
  outputTokens: f64 = NaN;
  totalTokens: f64 = NaN;
  costUsd: f64 = NaN;
}

/** One case. Each text is a JSON document; `text` gives the characters of one. What `reads` does not name, and what the
 * case lacks, is null, or NaN. */
export class Case {
  output: string = "";
  input: string | null = null;
  groundTruth: string | null = null;
  context: string | null = null;
  latencyMs: f64 = NaN;
  outputSchema: string | null = null;
  trace: string | null = null;
  usage: Usage | null = null;
  metadata: string | null = null;
  baseline: string | null = null;
}

/** One named check inside a score. */
export class Assertion {
  reason: string = "";
  /** -1: the scorer's own severity. */
  severity: i32 = -1;
  /** NaN: 1. */
  threshold: f64 = NaN;

  constructor(public name: string, /** 0 to 1. */ public score: f64) {}
}

/** A score, or why there is none. */
export class Score {
  label: string = "";
  /** Why, for a person. */
  reason: string = "";
  /** One JSON document for programs. */
  meta: string = "";
  assertions: Assertion[] = [];
  /** -1: there is a score; 0: invalid input; 1: failed. */
  private problem: i32 = -1;
  private applies: bool = true;

  /** A number that is not on the scale, such as NaN, is an error. */
  constructor(public score: f64) {}

  /** This scorer does not apply to the case. */
  static notApplicable(reason: string = ""): Score {
    const made = new Score(0);
    made.applies = false;
    made.reason = reason;
    return made;
  }

  /** No score: the case lacks what the scorer needs, or has it in a form that the scorer cannot read. */
  static invalidInput(message: string): Score {
    return Score.without(0, message);
  }

  /** No score: anything else that went wrong. */
  static failed(message: string): Score {
    return Score.without(1, message);
  }

  private static without(problem: i32, message: string): Score {
    const made = new Score(0);
    made.problem = problem;
    made.reason = message;
    return made;
  }

  /** The layout of the contract in memory. */
  lower(): usize {
    const at = blank(ANSWER_SIZE);
    if (this.problem >= 0) {
      store<u8>(at, 1);
      store<u8>(at + ANSWER_ERROR_KIND, <u8>this.problem);
      lowerText(at + ANSWER_ERROR_MESSAGE, this.reason);
      return at;
    }
    const to = at + ANSWER_IS;
    if (this.applies) {
      store<u8>(to + SCORE_SCORE, 1);
      store<f64>(to + SCORE_SCORE + OPTIONAL_NUMBER, this.score);
    }
    lowerSome(to + SCORE_LABEL, this.label);
    lowerSome(to + SCORE_REASON, this.reason);
    lowerSome(to + SCORE_META, this.meta);
    const all = blank(ASSERTION_SIZE * this.assertions.length);
    for (let place = 0; place < this.assertions.length; place++) {
      const from = this.assertions[place];
      const made = all + ASSERTION_SIZE * place;
      lowerText(made + ASSERTION_NAME, from.name);
      store<f64>(made + ASSERTION_SCORE, from.score);
      if (from.severity >= 0) {
        store<u8>(made + ASSERTION_SEVERITY, 1);
        store<u8>(made + ASSERTION_SEVERITY + 1, <u8>from.severity);
      }
      lowerNumber(made + ASSERTION_THRESHOLD, from.threshold);
      lowerSome(made + ASSERTION_REASON, from.reason);
    }
    store<usize>(to + SCORE_ASSERTIONS, all);
    store<usize>(to + SCORE_ASSERTIONS + 4, this.assertions.length);
    return at;
  }
}

/** A scorer: extend this class. */
export abstract class Scorer {
  abstract info(): Info;

  /** Takes the configuration, a JSON object; returns why it is not valid, else null. */
  configure(config: string): string | null {
    return null;
  }

  abstract score(it: Case): Score;
}

let registered: Scorer | null = null;

/** Registers the scorer of this component. */
export function register(scorer: Scorer): void {
  registered = scorer;
}

// ---- JSON: the host passes on valid documents only ----

function blankEnd(json: string, place: i32): i32 {
  while (place < json.length && json.charCodeAt(place) <= 32) place++;
  return place;
}

/** The position after the value that begins at `place`. */
function valueEnd(json: string, place: i32): i32 {
  let depth = 0;
  for (; place < json.length; place++) {
    const c = json.charCodeAt(place);
    if (c == 34) {
      while (json.charCodeAt(++place) != 34) if (json.charCodeAt(place) == 92) place++;
      if (depth == 0) return place + 1;
    } else if (c == 123 || c == 91) {
      depth++;
    } else if (c == 125 || c == 93) {
      if (depth == 0) return place;
      if (--depth == 0) return place + 1;
    } else if (depth == 0 && (c == 44 || c == 58 || c <= 32)) {
      return place;
    }
  }
  return json.length;
}

/** The characters of a JSON string; any other document as it is written. */
export function text(json: string): string {
  let place = blankEnd(json, 0);
  if (place >= json.length || json.charCodeAt(place) != 34) return json;
  const parts = new Array<string>();
  let from = ++place;
  while (json.charCodeAt(place) != 34) {
    if (json.charCodeAt(place++) != 92) continue;
    parts.push(json.substring(from, place - 1));
    const c = json.charCodeAt(place++);
    if (c == 117) {
      parts.push(String.fromCharCode(<i32>parseInt(json.substring(place, place + 4), 16)));
      place += 4;
    } else if (c == 98) parts.push("\b");
    else if (c == 102) parts.push("\f");
    else if (c == 110) parts.push("\n");
    else if (c == 114) parts.push("\r");
    else if (c == 116) parts.push("\t");
    else parts.push(String.fromCharCode(c));
    from = place;
  }
  parts.push(json.substring(from, place));
  return parts.join("");
}

/** The values of an array. */
export function elements(json: string): string[] {
  const found = new Array<string>();
  let place = blankEnd(json, 0);
  if (json.charCodeAt(place) != 91) return found;
  do {
    place = blankEnd(json, place + 1);
    if (place >= json.length || json.charCodeAt(place) == 93) break;
    const end = valueEnd(json, place);
    found.push(json.substring(place, end));
    place = blankEnd(json, end);
  } while (json.charCodeAt(place) == 44);
  return found;
}

/** The member of an object, the last one if several have this name; null if there is none. */
export function member(json: string, name: string): string | null {
  let found: string | null = null;
  let place = blankEnd(json, 0);
  if (json.charCodeAt(place) != 123) return null;
  do {
    place = blankEnd(json, place + 1);
    if (place >= json.length || json.charCodeAt(place) == 125) break;
    const keyEnd = valueEnd(json, place);
    const key = text(json.substring(place, keyEnd));
    place = blankEnd(json, blankEnd(json, keyEnd) + 1);
    const end = valueEnd(json, place);
    if (key == name) found = json.substring(place, end);
    place = blankEnd(json, end);
  } while (json.charCodeAt(place) == 44);
  return found;
}

/** A text as a JSON string, for `meta`. */
export function quoted(text: string): string {
  const parts = new Array<string>();
  for (let place = 0; place < text.length; place++) {
    const c = text.charCodeAt(place);
    if (c == 34 || c == 92) parts.push("\\");
    if (c < 32) parts.push("\\u" + c.toString(16).padStart(4, "0"));
    else parts.push(text.charAt(place));
  }
  return '"' + parts.join("") + '"';
}

// ---- messages for the author who debugs a scorer ----

export enum Level { debug, info, warn, error }

@external("scorebox:scorer/log@0.1.0", "letter")
declare function logLetter(letter: u32): void;
@external("scorebox:scorer/log@0.1.0", "end")
declare function logEnd(level: u32): void;

/** Logs one message. */
export function log(level: Level, message: string): void {
  for (let place = 0; place < message.length; place++) {
    const code = <u32>message.codePointAt(place);
    if (code > 0xffff) place++;
    logLetter(code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
  }
  logEnd(level);
}

/** AssemblyScript calls this on a runtime error: it logs the message and traps. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const what = message ? message : "abort";
  const where = file ? file : "";
  log(Level.error, `${what} at ${where}:${line}:${column}`);
  unreachable();
}

// ---- the contract scorebox:scorer@0.1.0 as it is laid out in memory, in bytes from the start of each record; a test
// of scorebox compares the numbers with the contract ----

const OPTIONAL_TEXT: usize = 4; // offset of the value of an option that is aligned to 4
const OPTIONAL_NUMBER: usize = 8; // and to 8

const USAGE_INPUT_TOKENS: usize = 0;
const USAGE_OUTPUT_TOKENS: usize = 16;
const USAGE_TOTAL_TOKENS: usize = 32;
const USAGE_COST_USD: usize = 48;

const CASE_OUTPUT: usize = 0;
const CASE_INPUT: usize = 8;
const CASE_GROUND_TRUTH: usize = 20;
const CASE_CONTEXT: usize = 32;
const CASE_LATENCY_MS: usize = 48;
const CASE_OUTPUT_SCHEMA: usize = 64;
const CASE_TRACE: usize = 76;
const CASE_USAGE: usize = 88;
const CASE_METADATA: usize = 160;
const CASE_BASELINE: usize = 172;

const INFO_ID: usize = 0;
const INFO_NAME: usize = 8;
const INFO_DESCRIPTION: usize = 16;
const INFO_VERSION: usize = 24;
const INFO_CONFIG_SCHEMA: usize = 32;
const INFO_SCALE: usize = 44;
const INFO_DIRECTION: usize = 45;
const INFO_READS: usize = 46;
const INFO_SEVERITY: usize = 48;
const INFO_THRESHOLD: usize = 56;
const INFO_SIZE: usize = 72;

const ASSERTION_NAME: usize = 0;
const ASSERTION_SCORE: usize = 8;
const ASSERTION_SEVERITY: usize = 16;
const ASSERTION_THRESHOLD: usize = 24;
const ASSERTION_REASON: usize = 40;
const ASSERTION_SIZE: usize = 56;

const SCORE_SCORE: usize = 0;
const SCORE_LABEL: usize = 16;
const SCORE_REASON: usize = 28;
const SCORE_META: usize = 40;
const SCORE_ASSERTIONS: usize = 52;

const ANSWER_IS: usize = 8;
const ANSWER_ERROR_KIND: usize = 8;
const ANSWER_ERROR_MESSAGE: usize = 12;
const ANSWER_SIZE: usize = 72;

const CONFIGURED_MESSAGE: usize = 4;
const CONFIGURED_SIZE: usize = 12;

/** Zeroed memory. */
function blank(size: usize): usize {
  const at = heap.alloc(size + 1);
  memory.fill(at, 0, size);
  return at;
}

function lowerText(at: usize, text: string): void {
  const length = String.UTF8.byteLength(text);
  const to = blank(length);
  // Half a surrogate pair becomes U+FFFD.
  String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, to, false, String.UTF8.ErrorMode.REPLACE);
  store<usize>(at, to);
  store<usize>(at + 4, length);
}

function lowerSome(at: usize, text: string): void {
  if (!text.length) return;
  store<u8>(at, 1);
  lowerText(at + OPTIONAL_TEXT, text);
}

function lowerNumber(at: usize, number: f64): void {
  if (isNaN(number)) return;
  store<u8>(at, 1);
  store<f64>(at + OPTIONAL_NUMBER, number);
}

function liftText(at: usize): string {
  return String.UTF8.decodeUnsafe(load<usize>(at), load<usize>(at + 4));
}

function liftSome(at: usize): string | null {
  return load<u8>(at) ? liftText(at + OPTIONAL_TEXT) : null;
}

function liftNumber(at: usize): f64 {
  return load<u8>(at) ? load<f64>(at + OPTIONAL_NUMBER) : NaN;
}

function liftCount(at: usize): f64 {
  return load<u8>(at) ? <f64>load<u64>(at + OPTIONAL_NUMBER) : NaN;
}

// ---- what the host calls ----

/** Memory for what the host passes in. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  const to = heap.alloc(size + 1);
  if (oldSize) memory.copy(to, old, min(oldSize, size));
  return to;
}

export function describe(): usize {
  const info = registered!.info();
  const at = blank(INFO_SIZE);
  lowerText(at + INFO_ID, info.id);
  lowerText(at + INFO_NAME, info.name);
  lowerText(at + INFO_DESCRIPTION, info.description);
  lowerText(at + INFO_VERSION, info.version);
  lowerSome(at + INFO_CONFIG_SCHEMA, info.configSchema);
  store<u8>(at + INFO_SCALE, <u8>info.scale);
  store<u8>(at + INFO_DIRECTION, <u8>info.direction);
  store<u16>(at + INFO_READS, info.reads);
  store<u8>(at + INFO_SEVERITY, <u8>info.severity);
  lowerNumber(at + INFO_THRESHOLD, info.threshold);
  return at;
}

export function configure(pointer: usize, length: usize): usize {
  const at = blank(CONFIGURED_SIZE);
  const refused = registered!.configure(String.UTF8.decodeUnsafe(pointer, length));
  if (refused !== null) {
    store<u8>(at, 1);
    lowerText(at + CONFIGURED_MESSAGE, refused);
  }
  return at;
}

export function score(input: usize): usize {
  const it = new Case();
  it.output = liftText(input + CASE_OUTPUT);
  it.input = liftSome(input + CASE_INPUT);
  it.groundTruth = liftSome(input + CASE_GROUND_TRUTH);
  it.context = liftSome(input + CASE_CONTEXT);
  it.latencyMs = liftNumber(input + CASE_LATENCY_MS);
  it.outputSchema = liftSome(input + CASE_OUTPUT_SCHEMA);
  it.trace = liftSome(input + CASE_TRACE);
  if (load<u8>(input + CASE_USAGE)) {
    const from = input + CASE_USAGE + OPTIONAL_NUMBER;
    const usage = new Usage();
    usage.inputTokens = liftCount(from + USAGE_INPUT_TOKENS);
    usage.outputTokens = liftCount(from + USAGE_OUTPUT_TOKENS);
    usage.totalTokens = liftCount(from + USAGE_TOTAL_TOKENS);
    usage.costUsd = liftNumber(from + USAGE_COST_USD);
    it.usage = usage;
  }
  it.metadata = liftSome(input + CASE_METADATA);
  it.baseline = liftSome(input + CASE_BASELINE);
  return registered!.score(it).lower();
}
