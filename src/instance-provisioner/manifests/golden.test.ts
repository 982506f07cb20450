import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { someParameters } from "../testing/parameters.ts";
import { renderManifests } from "./render.ts";

/** Releases with a golden file: of each supported minor the oldest that is safe, and the newest of all. */
const VERSIONS = ["3.3.14", "3.4.7", "3.5.1", "3.5.7"];
const DIRECTORY = join(import.meta.dirname, "../golden");
/** What a filter changes. */
const FILTERED = "filtered.yaml";
const fileOf = (version: string): string => `argo-cd-${version}.yaml`;

/** `ARGOSY_WRITE_GOLDEN=1 npm test …` writes the files again; review what changed. */
const isWriting = process.env["ARGOSY_WRITE_GOLDEN"] !== undefined;

describe("the manifests of an instance", () => {
  it.each(VERSIONS)("of Argo CD %s match the golden file", (version) => {
    const text = renderManifests(someParameters(version))
      .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
      .join("---\n");
    const file = join(DIRECTORY, fileOf(version));
    if (isWriting) writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, "utf8"));
  });

  it("with a filter match the golden file", () => {
    const filter = { image: "images.example/argosy:1", server: "https://api.example:6443", caData: "Y2E=" };
    const text = renderManifests({ ...someParameters("3.5.7"), filter })
      .filter(({ kind }) => ["StatefulSet", "ResourceQuota"].includes(kind))
      .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
      .join("---\n");
    const file = join(DIRECTORY, FILTERED);
    if (isWriting) writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, "utf8"));
  });

  it("have no golden file of a release that is no longer rendered", () => {
    expect(readdirSync(DIRECTORY).sort()).toEqual([...VERSIONS.map(fileOf), FILTERED].sort());
  });
});
