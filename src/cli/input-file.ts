import { readFileSync } from "node:fs";
import { InputError } from "../domain/errors.ts";

/** The text of a file, or of standard input for `-`. */
export function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (cause) {
    throw new InputError("cannot be read", {
      code: "cli.unreadable",
      path: file,
      remedy: "Name a file that exists and that you may read",
      cause,
    });
  }
}
