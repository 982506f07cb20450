import { mkdtempSync, rmSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fastImport, runGit } from "./git.ts";
import { type GitServer, startGitServer } from "./git-server.ts";

describe("the Git server", () => {
  const directory = mkdtempSync(join(tmpdir(), "git-server-"));
  let server: GitServer;
  beforeAll(async () => {
    server = await startGitServer({ directory: join(directory, "repositories") });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const git = (...args: string[]) => runGit(args, { cwd: directory, home: directory });

  it("serves what was committed, the newest last", async () => {
    const first = await server.createRepository("team/shop", { "base/app.yaml": "one", "gone.yaml": "x" });
    const second = await server.commit(
      "team/shop",
      { "base/app.yaml": "two", 'odd "name".yaml': "quoted", "gone.yaml": undefined },
      "Change the app",
    );
    expect(second).not.toBe(first);
    expect(await git("ls-remote", server.repositoryUrl("team/shop"), "refs/heads/main")).toBe(`${second}\trefs/heads/main\n`);
    await git("clone", "--quiet", server.repositoryUrl("team/shop"), "clone");
    expect(await readFile(join(directory, "clone/base/app.yaml"), "utf8")).toBe("two");
    expect(await readFile(join(directory, 'clone/odd "name".yaml'), "utf8")).toBe("quoted");
    await expect(stat(join(directory, "clone/gone.yaml"))).rejects.toThrow();
    expect((await git("-C", "clone", "log", "--format=%s")).split("\n").slice(0, 2)).toEqual(["Change the app", "Initial commit"]);
  });

  it("requires credentials where they are set, and counts requests", async () => {
    await server.createRepository("secret", { a: "b" });
    server.protect("secret", { username: "u", password: "p" });
    await expect(git("ls-remote", server.repositoryUrl("secret"))).rejects.toThrow(/git ls-remote/);
    const before = server.requests("secret");
    expect(await git("ls-remote", server.repositoryUrl("secret").replace("//", "//u:p@"))).toContain("refs/heads/main");
    expect(server.requests("secret")).toBeGreaterThan(before);
  });

  it("fails as `behave` says, until that is called again", async () => {
    await server.createRepository("broken", { a: "b" });
    server.behave("broken", { status: 503 });
    await expect(git("ls-remote", server.repositoryUrl("broken"))).rejects.toThrow("503");
    server.behave("broken", { delayMs: 50 });
    expect(await git("ls-remote", server.repositoryUrl("broken"))).toContain("refs/heads/main");
  });

  it("serves only repositories that were created, and nothing outside its folder", async () => {
    await expect(git("ls-remote", server.repositoryUrl("nothing"))).rejects.toThrow("not found");
    expect(() => server.repositoryUrl("../other")).toThrow("Naming the repository");
    const answer = await fetch(`http://127.0.0.1:${server.port}/..%2f..%2fetc/passwd.git/info/refs`);
    expect(answer.status).toBe(404);
  });

  it("takes commits for one repository in turn", async () => {
    await server.createRepository("busy", {});
    await Promise.all([1, 2, 3, 4].map((n) => server.commit("busy", { [`file-${n}`]: String(n) }, `Add ${n}`)));
    await git("clone", "--quiet", server.repositoryUrl("busy"), "busy");
    expect((await git("-C", "busy", "ls-files")).trim().split("\n")).toEqual(["file-1", "file-2", "file-3", "file-4"]);
  });

  it("writes commits in the language of git fast-import", () => {
    expect(fastImport({ a: "ä", b: undefined }, { message: "m", seconds: 7, parent: "abc" })).toBe(
      'commit refs/heads/main\ncommitter Development <development@localhost> 7 +0000\ndata 1\nm\nfrom abc\nM 644 inline "a"\ndata 2\nä\nD "b"\n\n',
    );
  });
});
