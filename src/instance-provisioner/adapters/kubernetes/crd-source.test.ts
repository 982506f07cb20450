import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InputError } from "../../../domain/errors.ts";
import { createFileCrdSource } from "./crd-source.ts";

const signal = new AbortController().signal;
const definition = (name: string): string =>
  `apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: ${name}\nspec: {group: argoproj.io}\n`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "crds-"));
  writeFileSync(join(directory, "application-crd.yaml"), definition("applications.argoproj.io"));
  writeFileSync(join(directory, "appproject-crd.yaml"), definition("appprojects.argoproj.io"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("the CRDs of a release", () => {
  it("are those of Application and AppProject, read once", async () => {
    const source = createFileCrdSource();
    const names = async () => (await source.read(directory, signal)).map((object) => object.metadata.name);
    expect(await names()).toEqual(["applications.argoproj.io", "appprojects.argoproj.io"]);
    rmSync(join(directory, "application-crd.yaml"));
    expect(await names()).toEqual(["applications.argoproj.io", "appprojects.argoproj.io"]);
  });

  it.each([
    ["does not exist", undefined],
    ["is not YAML", "{"],
    ["holds another object", "kind: ConfigMap\nmetadata: {name: applications.argoproj.io}\n"],
    ["holds another CRD", definition("rollouts.argoproj.io")],
    ["is empty", ""],
  ])("are refused with the file's name when a file %s, and read again once it is right", async (_what, text) => {
    const file = join(directory, "application-crd.yaml");
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    const source = createFileCrdSource();
    await expect(source.read(directory, signal)).rejects.toSatisfy(
      (error) => error instanceof InputError && error.message.includes(file) && error.remedy.includes("application-crd.yaml"),
    );
    writeFileSync(file, definition("applications.argoproj.io"));
    expect(await source.read(directory, signal)).toHaveLength(2);
  });
});
