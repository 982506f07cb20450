import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { isImageInput } from "./build-image.ts";
import { readCommit } from "./commit.ts";
import { readWorkingTree } from "./working-tree.ts";

const { signal } = new AbortController();

describe("the files of the image in a checkout", () => {
  const project = mkdtempSync(join(tmpdir(), "tree-"));
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: project, encoding: "utf8" });
  const write = (path: string, text: string) => writeFileSync(join(project, path), text);
  afterAll(() => rmSync(project, { recursive: true }));

  mkdirSync(join(project, "src"));
  for (const name of ["B.ts", "a.ts", "z.ts", "a.test.ts", "ü.ts"]) write(`src/${name}`, `// ${name}\n`);
  write("README.md", "no part of the image");
  write("Containerfile", "FROM scratch\n");
  write(".gitignore", "src/ignored.ts\n");
  chmodSync(join(project, "src/z.ts"), 0o755);
  symlinkSync("a.ts", join(project, "src/link.ts"));
  git("init", "--quiet");
  git("add", "--all");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "one");

  const listingOf = (archive: string) => execFileSync("tar", ["-tvf", archive], { encoding: "utf8" }).trim().split("\n");

  it("are those of its commit while nothing was changed, in an archive with the same modes", async () => {
    const [tree, commit] = [await readWorkingTree(project, signal), await readCommit(project, "HEAD", signal)];
    expect(tree.files).toEqual(commit.files.filter(({ path }) => isImageInput(path)));
    expect(tree.hash).toBe(commit.hash);
    const modes = async (from: typeof tree) => {
      const file = join(project, ".git", "archive.tar");
      await from.archive(
        file,
        tree.files.map(({ path }) => path),
        signal,
      );
      return (
        listingOf(file)
          // The mode of a link means nothing.
          .map((line) => `${line.startsWith("l") ? "link" : line.slice(0, 10)} ${line.replace(/^.*\d\d:\d\d /, "")}`)
          .filter((line) => !line.startsWith("d"))
          .sort()
      );
    };
    expect(await modes(tree)).toEqual(await modes(commit));
  });

  it("are those that were changed, added and deleted since, without what git ignores", async () => {
    const before = await readWorkingTree(project, signal);
    write("src/a.ts", "changed");
    write("src/new.ts", "new");
    write("src/ignored.ts", "ignored");
    rmSync(join(project, "src/z.ts"));
    const after = await readWorkingTree(project, signal);
    const paths = after.files.map(({ path }) => path);
    expect(paths).toEqual(["Containerfile", "src/B.ts", "src/a.ts", "src/link.ts", "src/new.ts", "src/ü.ts"]);
    const objectOf = (tree: typeof before) => tree.files.find(({ path }) => path === "src/a.ts")?.object;
    expect(objectOf(after)).not.toBe(objectOf(before));
    expect(objectOf(after)).toBe(git("hash-object", "src/a.ts").trim());
    expect((await after.read("src/a.ts")).toString()).toBe("changed");
    expect(after.isDirty).toBe(true);
  });
});
