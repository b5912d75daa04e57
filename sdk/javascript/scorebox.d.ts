// Types for scripts that are scorers. Editors read this file; scorebox does not. Put it beside your script and write
//
//     import type { Case, Result } from "./scorebox";            // TypeScript
//     /** @type {import("./scorebox").Scorer} */                  // JavaScript, above `export default`

/// <reference path="./scorebox-judge.d.ts" />

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One case, as far as `info.reads` names its parts. A part that the case lacks is `undefined`. */
export interface Case {
  /** What the task produced: the thing being judged. */
  output: any;
  /** The task's input or prompt. */
  input?: any;
  /** The expected output. */
  groundTruth?: any;
  /** What the task was given in addition to its input, such as retrieved documents. */
  context?: any;
  /** How long the task took, in milliseconds. */
  latencyMs?: number;
  /** A JSON Schema that the output should match. */
  outputSchema?: any;
  /** What the agent did: messages, tool calls, events. */
  trace?: any;
  /** What the task consumed. */
  usage?: { inputTokens?: number; outputTokens?: number; totalTokens?: number; costUsd?: number };
  /** Everything else that the case states about itself. */
  metadata?: any;
  /** Another output for the same input, if two are compared. */
  baseline?: any;
}

/** How a value below its threshold counts: `gate` fails the case, `soft` is reported. */
export type Severity = "gate" | "soft";

/**
 * One named check inside a score. With a severity or a threshold, it decides by itself; with neither, it counts through
 * the score alone.
 */
export interface Assertion {
  /** What was checked, in a few words. */
  name: string;
  /** 0 (does not hold) to 1 (holds); `true` is 1. */
  score: number | boolean;
  /** If absent, and there is a threshold, the scorer's severity. */
  severity?: Severity | null;
  /** The lowest score that passes, 0 to 1. If absent, a gate requires 1, and a soft check cannot fall short. */
  threshold?: number | null;
  reason?: string | null;
}

/** A score with its label, reason, meta and assertions. */
export interface DetailedScore {
  /** On the scale of `info.scale`; `true` is 1; `null`: the scorer does not apply to this case. */
  score: number | boolean | null;
  /** Why, for a person. */
  reason?: string | null;
  /** A category that goes with the score. */
  label?: string | null;
  /** Anything for programs that JSON can express. */
  meta?: unknown;
  /** The checks that the score is made of. */
  assertions?: Assertion[] | null;
}

/** What a scorer returns; `null`: it does not apply to this case. */
export type Result = number | boolean | null | DetailedScore;

/** The default export of a script. */
export type Scorer<Config = any> = (input: Case, config: Config) => Result | Promise<Result>;

/** `export const info`: what a script says about itself. Every key may be absent. */
export interface Info {
  /** 1 to 64 of a-z, 0-9 and -; if absent, derived from the file's name. */
  id?: string;
  name?: string;
  /** What it scores and how. */
  description?: string;
  version?: string;
  /** A JSON Schema of the configuration. Unknown keys and wrong types are refused, `default`s filled in. */
  configSchema?: object;
  /** The parts of a case that it is given, in addition to `output`; if absent, all. */
  reads?: readonly Exclude<keyof Case, "output">[];
  /** `unit`: scores are 0 to 1; `points`: 0 or more. */
  scale?: "unit" | "points";
  direction?: "higher-is-better" | "lower-is-better";
  severity?: Severity;
  /** The lowest score that passes. */
  threshold?: number;
}

/** One row of a run; `export function summarize` gets all of them. */
export interface Scored {
  caseId: string;
  /** Absent if the scorer did not apply. */
  score?: number;
  label?: string;
  meta?: any;
}

declare global {
  /** Thrown by a script, it says that the case is at fault, not the script. */
  class InvalidInput extends Error {}
  /** Goes to the log of the score. */
  const console: Record<"debug" | "trace" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;
}
