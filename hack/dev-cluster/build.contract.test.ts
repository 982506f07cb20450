import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildSet } from "./build.ts";
import { argoCdSetName, argoCdVersions, goSet, rendererSets } from "./go-sets.ts";
import { findGo, runGo } from "./go-toolchain.ts";

const cache = mkdtempSync(join(tmpdir(), "cache-"));
afterAll(() => rmSync(cache, { recursive: true }));
const { signal } = new AbortController();

describe("building with Go", () => {
  it.each(argoCdVersions())("has the versions of Kustomize and Helm that Argo CD %s names", async (version) => {
    const { directory } = goSet(argoCdSetName(version));
    const module = `github.com/argoproj/argo-cd/v${version.split(".")[0]}`;
    const downloaded = await runGo(await findGo(), { directory, args: ["mod", "download", "-json", module] }, signal);
    const { Dir } = JSON.parse(downloaded) as { readonly Dir: string };
    const named = readFileSync(join(Dir, "hack", "tool-versions.sh"), "utf8").matchAll(
      /^(kustomize|helm)\d*(?:_version|_VERSION)=(\S+)$/gim,
    );
    const sets = [...named].map(([, tool = "", number]) => `${tool.toLowerCase()}-${number}`);
    expect(sets.toSorted()).toEqual(rendererSets(version).toSorted());
  });

  it("builds a set once, also for two requests at the same time, and leaves only complete ones", async () => {
    const steps: string[] = [];
    const progress = (step: { readonly step: string; readonly done: boolean }) => step.done && steps.push(step.step);
    const [one, two] = await Promise.all([buildSet("tools", { cache, progress }, signal), buildSet("tools", { cache, progress }, signal)]);
    expect(one.directory).toBe(two.directory);
    expect(steps.filter((step) => step === "redis")).toEqual(["redis"]);
    expect(readdirSync(join(cache, "go"))).toEqual([basename(one.directory)]);
    expect(() => execFileSync(one.program("redis"), ["--unheard-of"], { stdio: "pipe" })).toThrow('the flag "--unheard-of" is not known');
  });

  it("finds sets from the same sources without Go, and says in one sentence what is missing for the others", async () => {
    const built = await buildSet("tools", { cache }, signal);
    const { PATH } = process.env;
    process.env["PATH"] = "/nonexistent";
    try {
      expect(await buildSet("tools", { cache }, signal)).toMatchObject({ directory: built.directory });
      await expect(buildSet("kubernetes", { cache }, signal)).rejects.toMatchObject({
        code: "dev.no-go",
        remedy: expect.stringContaining("install Go") as string,
      });
    } finally {
      process.env["PATH"] = PATH;
    }
  });
});
