// Types for scripts that ask a language model, for editors. `scorebox.d.ts` names this file: keep them in one folder.
// The scorer needs the grant `judge`.

/** Asks a language model. The host asks, and ends the score if there is no answer, so every function returns one. */
declare module "scorebox:judge" {
  /** One turn of a conversation. */
  export interface Message {
    role: "user" | "assistant";
    text: string;
  }

  /** What every question may specify. Only an object's own properties count. */
  export interface QuestionOptions {
    /** The system prompt. */
    system?: string | null;
    /** A JSON Schema of an object that the answer should match. */
    schema?: object | null;
    /** The model, if not the suite's. The user decides which ones a scorer may name. */
    model?: string | null;
    /** 0 to 2; if absent, the suite's. */
    temperature?: number | null;
    /** The maximum number of tokens of the answer; if absent, the suite's. */
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
    /** Its text. */
    text: string;
    /** Whether it ended at the limit of tokens. */
    truncated: boolean;
    /** The model that answered, as the provider names it. */
    model: string;
    /** What the answer consumed. */
    usage: { inputTokens?: number; outputTokens?: number; totalTokens?: number; costUsd?: number };
    /** The only JSON in the answer, outside drafts and quotations, with or without prose or a code fence around it.
     * Ends the score as `judge-unreadable` if there is none. */
    json(): any;
  }

  /** Asks one question. An `await` does no harm. */
  export function ask(question: Question): Answer;
  /** Asks several questions concurrently; the answers are in the same order. */
  export function askAll(questions: readonly Question[]): Answer[];
  /** One vector for each text, all of the same length. The model is the suite's embedding model unless one is named. */
  export function embed(texts: readonly string[], model?: string | null): Float32Array[];
  /** Ends the score with the error `judge-unreadable`: the answer does not have the requested form. */
  export function unreadable(why?: string): never;
}
