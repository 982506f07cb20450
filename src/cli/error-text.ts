import { InputError } from "../domain/errors.ts";

/** What a person reads when a command failed: one or two sentences, with the remedy where there is one. */
export function errorText(error: unknown): string {
  if (error instanceof InputError) {
    // A message that ends with a drawing, as those about YAML do, has its remedy below it.
    const end = /\n *\^+$/.test(error.message) ? "\n" : ". ";
    return `${error.path}: ${error.message}${end}${error.remedy}.`.replaceAll("..", ".");
  }
  if (!(error instanceof Error)) return String(error);
  const causes = causesOf(error);
  return causes.length === 0 ? error.message : `${error.message} (${causes.join(": ")})`;
}

const DEEPEST = 5;

function causesOf(error: Error): readonly string[] {
  const messages: string[] = [];
  for (let cause = error.cause; cause instanceof Error && messages.length < DEEPEST; cause = cause.cause) {
    if (cause.message !== "") messages.push(cause.message);
  }
  return messages;
}
