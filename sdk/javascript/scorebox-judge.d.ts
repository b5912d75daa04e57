// Types for scripts that ask a language model, for editors. `scorebox.d.ts` names this file: keep them in one folder. The
// scorer needs the grant `judge`.

/** Asks a language model. The host asks, and ends the score if there is no answer, so every function returns one. */
declare module "scorebox:judge" {
  /** One turn of a conversation. */
  export interface Message {
    role: "user" | "assistant";
    text: string;
  }

  /** What every question may say. Only an object's own properties count. */
  export interface QuestionOptions {
    /** The system prompt. */
    system?: string | null;
    /** A JSON Schema of an object that the answer should match. */
    schema?: object | null;
    /** The model, if it is not the suite's. The user decides which ones a scorer may name. */
    model?: string | null;
    /** 0 to 2; if absent, the suite's. */
    temperature?: number | null;
    /** The most tokens to answer with; if absent, the suite's. */
    maxOutputTokens?: number | null;
    /** Which independent answer to the same question this is: 0, 1, 2 … */
    sample?: number | null;
  }

  /** A question: what the user says, or a conversation whose last message is the user's. A string is its `prompt`. */
  export type Question =
    | string
    | (QuestionOptions & { prompt: string; messages?: null })
    | (QuestionOptions & { messages: readonly Message[]; prompt?: null });

  /** The model's answer. */
  export interface Answer {
    /** What it said. */
    text: string;
    /** Whether it ended because it had no more tokens. */
    truncated: boolean;
    /** The model that answered, as the provider names it. */
    model: string;
    /** What the answer consumed. */
    usage: { inputTokens?: number; outputTokens?: number; totalTokens?: number; costUsd?: number };
    /** The only JSON of the answer, outside of drafts and quotations, with prose or a code fence around it or not. Ends the
     * score as `judge-unreadable` if there is none. */
    json(): any;
  }

  /** Asks once. An `await` does no harm. */
  export function ask(question: Question): Answer;
  /** Asks several questions at the same time; the answers are in their order. */
  export function askAll(questions: readonly Question[]): Answer[];
  /** One vector for each text, all of one length. The model is the suite's for vectors unless one is named. */
  export function embed(texts: readonly string[], model?: string | null): Float32Array[];
  /** Ends the score with the error `judge-unreadable`: the answer is not in the form that was asked for. */
  export function unreadable(why?: string): never;
}
