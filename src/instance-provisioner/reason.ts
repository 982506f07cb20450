import { InputError } from "../domain/errors.ts";

const LONGEST = 500;

/** An error as the reason of a decision: what we were doing, what the other side said to it, and the remedy where one is known. */
export function reasonOf(error: Error): string {
  const said = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  const text = error instanceof InputError ? `${said}. ${error.remedy}` : said;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
