import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { EngineObject } from "../../../domain/engine.ts";
import { InputError } from "../../../domain/errors.ts";
import type { CrdSource } from "../../port.ts";

/** The kinds an instance's controller reads. Releases ship more CRDs, but what is not installed cannot be misused. */
const FILES: Readonly<Record<string, string>> = {
  "application-crd.yaml": "applications.argoproj.io",
  "appproject-crd.yaml": "appprojects.argoproj.io",
};

/** Reads CRDs from the files of a release. Each directory is read once, because releases do not change. */
export function createFileCrdSource(): CrdSource {
  const known = new Map<string, Promise<readonly EngineObject[]>>();
  return {
    read(directory, signal) {
      const reading = known.get(directory) ?? readAll(directory, signal);
      known.set(directory, reading);
      // A failed read is not kept: somebody may put the files there later.
      reading.catch(() => known.delete(directory));
      return reading;
    },
  };
}

/** Reads one file after the other, so that a missing directory gives the same message each time. */
async function readAll(directory: string, signal: AbortSignal): Promise<readonly EngineObject[]> {
  const objects: EngineObject[] = [];
  for (const [file, name] of Object.entries(FILES)) objects.push(await readDefinition(join(directory, file), name, signal));
  return objects;
}

async function readDefinition(file: string, name: string, signal: AbortSignal): Promise<EngineObject> {
  const wrong = (what: string, cause?: unknown) =>
    new InputError(`${file} ${what}`, {
      code: "fleet.crds",
      path: "versions.catalogue[].crds",
      context: { file },
      remedy: "Name a directory with the release's application-crd.yaml and appproject-crd.yaml",
      cause,
    });
  const text = await readFile(file, { encoding: "utf8", signal }).catch((cause: unknown) =>
    Promise.reject(signal.aborted ? signal.reason : wrong("cannot be read", cause)),
  );
  const object = parseYaml(text);
  if (!isDefinition(object, name)) throw wrong(`is not the definition of ${name}`);
  return object;
}

function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function isDefinition(value: unknown, name: string): value is EngineObject {
  if (typeof value !== "object" || value === null || !("kind" in value) || !("metadata" in value)) return false;
  const { kind, metadata } = value;
  return (
    kind === "CustomResourceDefinition" && typeof metadata === "object" && metadata !== null && "name" in metadata && metadata.name === name
  );
}
