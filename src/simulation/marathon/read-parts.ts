import { readFileSync } from "node:fs";
import { InputError } from "../../domain/errors.ts";
import type { Part } from "./part.ts";
import { partSchema } from "./schema.ts";

/** Parts of a long run from a file with one in each line. Throws `InputError` for a file, or a line of it, that cannot be read. */
export function readParts(file: string): readonly Part[] {
  return linesOf(file).map((line, index) => {
    const parsed = partSchema.safeParse(jsonOf(line));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw wrong(`line ${index + 1} of ${file} is no part of a long run: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`);
  });
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (cause) {
    throw wrong(`${file} cannot be read: ${cause instanceof Error ? cause.message : ""}`, cause);
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function wrong(what: string, cause?: unknown): InputError {
  return new InputError(what, {
    code: "simulation.parts",
    path: "--add-up",
    remedy: "Give a file of what --marathon -o json has printed",
    cause,
  });
}
