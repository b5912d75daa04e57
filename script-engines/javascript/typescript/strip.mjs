// Takes the types out of TypeScript and leaves every token that stays at its line and column. The parser and what it
// removes are sucrase's; the alignment is here.
import { parse } from "sucrase/dist/esm/parser";
import { locationForIndex } from "sucrase/dist/esm/parser/traverser/base";
import State from "sucrase/dist/esm/parser/tokenizer/state";
import { TokenType as tt } from "sucrase/dist/esm/parser/tokenizer/types";
import { HelperManager } from "sucrase/dist/esm/HelperManager";
import identifyShadowedGlobals from "sucrase/dist/esm/identifyShadowedGlobals";
import NameManager from "sucrase/dist/esm/NameManager";
import TokenProcessor from "sucrase/dist/esm/TokenProcessor";
import RootTransformer from "sucrase/dist/esm/transformers/RootTransformer";
import getTSImportedNames from "sucrase/dist/esm/util/getTSImportedNames";

const options = { transforms: ["typescript"], disableESTransforms: true };

/**
 * The error that is farthest in the text. What can be an arrow function or an expression in parentheses, sucrase parses
 * as both, and in the end reports the error of the last try, which is not the one that its author made.
 */
let farthest;
const ERROR = Symbol("error");
Object.defineProperty(State.prototype, "error", {
  get() {
    return this[ERROR];
  },
  set(error) {
    this[ERROR] = error;
    if (error && !(farthest?.pos >= error.pos)) farthest = error;
  },
});

function parsed(source) {
  farthest = undefined;
  try {
    return parse(source, false, true, false);
  } catch (error) {
    if (!farthest) throw error;
    farthest.loc = locationForIndex(farthest.pos);
    throw farthest;
  }
}

export default function strip(source) {
  const { tokens, scopes } = parsed(source);
  const nameManager = new NameManager(source, tokens);
  const helperManager = new HelperManager(nameManager);
  const tokenProcessor = new TokenProcessor(source, tokens, false, true, helperManager);
  identifyShadowedGlobals(tokenProcessor, scopes, getTSImportedNames(tokenProcessor));
  const context = { tokenProcessor, scopes, nameManager, importProcessor: null, helperManager };
  const stripped = new RootTransformer(context, options.transforms, false, options).transform();
  return align(source, tokens, stripped);
}

/** Spaces before tokens that moved to the left, as long as their line is the same. */
function align(source, tokens, { code, mappings }) {
  const original = places(source);
  let [out, from, line, lineStart] = ["", 0, 0, 0];
  const copy = (to) => {
    for (let at = code.indexOf("\n", from); at !== -1 && at < to; at = code.indexOf("\n", at + 1)) {
      line += 1;
      lineStart = out.length + (at + 1 - from);
    }
    out += code.slice(from, to);
    from = to;
  };
  tokens.forEach((token, index) => {
    const place = mappings[index];
    if (place === undefined || place < from) return;
    copy(place);
    // A space inside a template literal would be part of its text.
    const inTemplate = token.type === tt.template || token.type === tt.dollarBraceL ||
      (token.type === tt.backQuote && tokens[index - 1]?.type === tt.template);
    const [tokenLine, tokenColumn] = original(token.start);
    const missing = tokenColumn - (out.length - lineStart);
    if (!inTemplate && tokenLine === line && missing > 0) out += " ".repeat(missing);
  });
  copy(code.length);
  return out;
}

/** Line and column of places that are asked for in ascending order, from 0. */
function places(source) {
  let [line, lineStart] = [0, 0];
  return (place) => {
    for (let at = source.indexOf("\n", lineStart); at !== -1 && at < place; at = source.indexOf("\n", lineStart)) {
      line += 1;
      lineStart = at + 1;
    }
    return [line, place - lineStart];
  };
}
