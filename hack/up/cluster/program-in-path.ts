import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import process from "node:process";

/** Where a shell would find a program. `undefined`: nowhere. */
export function programInPath(name: string, path: string = process.env["PATH"] ?? ""): string | undefined {
  const places = path.split(delimiter).filter(isAbsolute);
  return places.map((place) => join(place, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
