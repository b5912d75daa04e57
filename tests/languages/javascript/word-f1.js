// Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both.

export const info = {
  id: "word-f1",
  name: "Word F1",
  description: "How many words output and ground truth share: 2 * shared / (words of both).",
  configSchema: {
    type: "object",
    additionalProperties: false,
    properties: {
      ignoreCase: { type: "boolean", default: true },
      minimum: { type: "number", minimum: 0, maximum: 1, default: 0 },
    },
  },
  reads: ["groundTruth"],
};

function wordsOf(value, ignoreCase) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (ignoreCase ? text.toLowerCase() : text).match(/[A-Za-z0-9]+/g) ?? [];
}

export default function score(input, config) {
  if (input.groundTruth === undefined) throw new InvalidInput("the case has no groundTruth");
  const truth = wordsOf(input.groundTruth, config.ignoreCase);
  const output = wordsOf(input.output, config.ignoreCase);
  const left = new Map();
  for (const word of truth) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of output) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared++;
  }
  const total = truth.length + output.length;
  const f1 = total === 0 ? 1 : (2 * shared) / total;
  return {
    score: f1 < config.minimum ? 0 : f1,
    reason: `${shared} words shared, of ${output.length} in the output and ${truth.length} in the ground truth`,
    meta: { output: output.length, shared, truth: truth.length },
  };
}
