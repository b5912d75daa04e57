// {{title}}: 1 where the output has the expected answer in it, else 0. Put your own formula in its place.

import type { Case, Info, Result } from "./scorebox";

interface Config {
  ignoreCase: boolean;
}

export default function score(input: Case, config: Config): Result {
  // The scorer does not apply to a case that does not say what is expected.
  if (input.groundTruth === undefined) return { score: null, reason: "the case has no groundTruth" };
  // What is not a text is searched as its JSON.
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const fold = (value: unknown) => (config.ignoreCase ? text(value).toLowerCase() : text(value));
  const found = fold(input.output).includes(fold(input.groundTruth));
  const what = JSON.stringify(input.groundTruth);
  return { score: found, reason: `the output ${found ? "has" : "does not have"} ${what}` };
}

export const info: Info = {
  name: "{{title}}",
  description: "Scores 1 where the output has the expected answer in it, else 0.",
  reads: ["groundTruth"],
  configSchema: {
    type: "object",
    properties: {
      ignoreCase: { type: "boolean", default: true, description: "Whether A and a are the same." },
    },
    additionalProperties: false,
  },
};
