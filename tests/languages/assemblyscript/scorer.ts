// Word-overlap F1 of the output and the ground truth: twice the words that both have, over the words of both.
import { Case, Fields, Info, Score, Scorer, member, register, text } from "./scorebox";
export { cabi_realloc, configure, describe, score } from "./scorebox";

class WordF1 extends Scorer {
  ignoreCase: bool = true;
  minimum: f64 = 0;

  info(): Info {
    const info = new Info(
      "word-f1",
      "Word F1",
      "How many words output and ground truth share: 2 * shared / (words of both).",
    );
    info.configSchema =
      '{"type":"object","additionalProperties":false,"properties":{' +
      '"ignoreCase":{"type":"boolean","default":true},' +
      '"minimum":{"type":"number","minimum":0,"maximum":1,"default":0}}}';
    info.reads = Fields.groundTruth;
    return info;
  }

  configure(config: string): string | null {
    const ignoreCase = member(config, "ignoreCase");
    if (ignoreCase !== null) this.ignoreCase = ignoreCase == "true";
    const minimum = member(config, "minimum");
    if (minimum !== null) this.minimum = parseFloat(minimum);
    return this.minimum >= 0 && this.minimum <= 1 ? null : "`minimum` must be 0 to 1";
  }

  words(text: string): string[] {
    const found = new Array<string>();
    const own = this.ignoreCase ? text.toLowerCase() : text;
    let from = -1;
    for (let place = 0; place <= own.length; place++) {
      const c = place < own.length ? own.charCodeAt(place) : 0;
      const inWord = (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
      if (inWord && from < 0) from = place;
      if (!inWord && from >= 0) {
        found.push(own.substring(from, place));
        from = -1;
      }
    }
    return found;
  }

  score(it: Case): Score {
    if (it.groundTruth === null) return Score.invalidInput("the case has no groundTruth");
    const truth = this.words(text(it.groundTruth!));
    const output = this.words(text(it.output));
    const left = new Map<string, i32>();
    for (let i = 0; i < truth.length; i++) {
      left.set(truth[i], (left.has(truth[i]) ? left.get(truth[i]) : 0) + 1);
    }
    let shared = 0;
    for (let i = 0; i < output.length; i++) {
      const count = left.has(output[i]) ? left.get(output[i]) : 0;
      if (count == 0) continue;
      left.set(output[i], count - 1);
      shared++;
    }
    const total = truth.length + output.length;
    const f1: f64 = total == 0 ? 1 : (2 * <f64>shared) / <f64>total;
    const made = new Score(f1 < this.minimum ? 0 : f1);
    made.reason = `${shared} words shared, of ${output.length} in the output and ${truth.length} in the ground truth`;
    made.meta = `{"output":${output.length},"shared":${shared},"truth":${truth.length}}`;
    return made;
  }
}

register(new WordF1());
