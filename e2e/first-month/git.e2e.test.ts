import { describe, expect } from "vitest";
import { callHarness } from "../harness-client.ts";
import { configMapFile, until } from "../world.ts";
import { commitOf, forgotten, KINDS, removalOf, story, WITH_FINALIZER } from "./story.ts";

const one = (name: string, data: Readonly<Record<string, string>> = {}) => ({ content: configMapFile(name, data) });

describe("a first month with Git", () => {
  story("a repository that does not exist yet is deployed once it does", "no-repository", async (user) => {
    await user.deploy();
    await user.reads(/^InvalidRepositoryUrl: Repository does not exist/);
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.refresh();
    await user.ready();
  });

  story("a branch that is pushed after the deployment names it", "late-branch", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("from-main", {}) });
    await user.deploy({ targetRevision: "feature/one" });
    await user.reads(/^ComparisonError: .*feature\/one/);
    await user.importGit(commitOf("refs/heads/feature/one", { "app/a.yaml": one("from-branch") }, 1_700_000_000));
    await user.refresh();
    await user.ready();
    await user.stands(KINDS.configMap, "from-branch");
  });

  story("a branch that is deleted leaves what was deployed, and goes on when it is back", "deleted-branch", async (user) => {
    await user.push({ "README.md": "see the branch" });
    await user.importGit(commitOf("refs/heads/work", { "app/a.yaml": one("kept") }, 1_700_000_000));
    await user.deploy({ targetRevision: "work" });
    await user.ready();
    await user.importGit(removalOf("refs/heads/work"));
    await user.refresh();
    await user.reads(/^ComparisonError: .*work/);
    await user.stands(KINDS.configMap, "kept");
    await user.importGit(commitOf("refs/heads/work", { "app/a.yaml": one("kept", { back: "yes" }) }, 1_700_000_100));
    await user.refresh();
    await user.ready();
    expect((await user.workspace.configMap("kept"))?.data).toEqual({ back: "yes" });
  });

  story("rewritten history is deployed as it is now", "force-push", async (user) => {
    await user.importGit(commitOf("refs/heads/main", { "app/a.yaml": one("a", { line: "first" }), "app/b.yaml": one("b") }, 1_700_000_000));
    await user.deploy();
    await user.ready();
    const rewritten = commitOf("refs/heads/main", { "app/a.yaml": one("a", { line: "rewritten" }) }, 1_700_000_200);
    await user.importGit(`${forgotten("refs/heads/main")}${rewritten}`);
    await user.refresh();
    await user.isGone(KINDS.configMap, "b");
    await until(
      "what the history says now",
      () => user.workspace.configMap("a"),
      (found) => found?.data?.["line"] === "rewritten",
    );
    await user.ready();
  });

  story("a moved tag is deployed where it is now", "moved-tag", async (user) => {
    await user.importGit(commitOf("refs/tags/v1", { "app/a.yaml": one("a", { tag: "old" }) }, 1_700_000_000));
    await user.deploy({ targetRevision: "v1" });
    await user.ready();
    await user.importGit(
      `${forgotten("refs/tags/v1")}${commitOf("refs/tags/v1", { "app/a.yaml": one("a", { tag: "new" }) }, 1_700_000_300)}`,
    );
    await user.refresh();
    await until(
      "what the tag names now",
      () => user.workspace.configMap("a"),
      (found) => found?.data?.["tag"] === "new",
    );
    await user.ready();
  });

  story("a commit named by its first digits is deployed, and pushes after it are not", "short-sha", async (user) => {
    const sha = await user.push({ "app/a.yaml": configMapFile("a", { at: "one" }) });
    await user.deploy({ targetRevision: sha.slice(0, 8) });
    await user.ready();
    await user.push({ "app/a.yaml": configMapFile("a", { at: "two" }) });
    await user.refresh();
    await user.ready();
    expect((await user.workspace.configMap("a"))?.data).toEqual({ at: "one" });
  });

  story("a push that broke everything is undone by a revert", "revert", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", { v: "1" }) });
    await user.deploy();
    await user.ready();
    await user.push({ "app/a.yaml": "apiVersion: v1\nkind: ConfigMap\n  metadata: {name: a}\n" });
    await user.refresh();
    await user.reads(/^ComparisonError: .*a\.yaml/);
    expect((await user.workspace.configMap("a"))?.data).toEqual({ v: "1" });
    const sha = await user.push({ "app/a.yaml": configMapFile("a", { v: "1" }) });
    await user.refresh();
    await user.ready(sha);
  });

  story("of ten pushes in a row the last one is deployed", "ten-pushes", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", { push: "0" }) });
    await user.deploy();
    await user.ready();
    let sha = "";
    for (let push = 1; push <= 10; push++) {
      sha = await user.push({ "app/a.yaml": configMapFile("a", { push: String(push) }) });
      await user.refresh();
    }
    await user.ready(sha);
    expect((await user.workspace.configMap("a"))?.data).toEqual({ push: "10" });
  });

  story("links within the repository are followed", "inner-link", async (user) => {
    await user.importGit(
      commitOf(
        "refs/heads/main",
        { "shared/a.yaml": one("linked"), "app/a.yaml": { mode: "120000", content: "../shared/a.yaml" } },
        1_700_000_000,
      ),
    );
    await user.deploy();
    await user.ready();
    await user.stands(KINDS.configMap, "linked");
  });

  story("a link that leads out of the repository is refused in words", "outer-link", async (user) => {
    await user.importGit(
      commitOf("refs/heads/main", { "app/a.yaml": one("a"), "app/passwd.yaml": { mode: "120000", content: "/etc/passwd" } }, 1_700_000_000),
    );
    await user.deploy();
    await user.reads(/^ComparisonError: .*(symlink|link)/i);
    await user.importGit(commitOf("refs/heads/main", { "app/a.yaml": one("a") }, 1_700_000_100));
    await user.refresh();
    await user.ready();
  });

  story("submodules are not fetched; the rest is deployed", "submodule", async (user) => {
    const modules = `[submodule "lib"]\n\tpath = app/lib\n\turl = ${user.world.git.url("month-nowhere")}\n`;
    const files = {
      "app/a.yaml": one("a"),
      ".gitmodules": { content: modules },
      "app/lib": { mode: "160000" as const, content: "1".repeat(40) },
    };
    await user.importGit(commitOf("refs/heads/main", files, 1_700_000_000));
    await user.deploy();
    await user.ready();
    await user.stands(KINDS.configMap, "a");
  });

  story("a file that becomes a pointer of Git LFS is skipped, and what it deployed is deleted", "lfs", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/b.yaml": configMapFile("b", {}) });
    await user.deploy();
    await user.ready();
    await user.push({ "app/a.yaml": `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12\n` });
    await user.refresh();
    await user.isGone(KINDS.configMap, "a");
    await user.stands(KINDS.configMap, "b");
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.refresh();
    await user.stands(KINDS.configMap, "a");
    await user.ready();
  });

  story("a Git host that fails for a while changes nothing, and deployments go on by themselves after it", "host-down", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", { v: "1" }) });
    await user.deploy();
    await user.ready();
    await callHarness(user.world.harness, "failGit", { repository: user.namespace, status: 503 });
    await user.refresh();
    await user.reads(/^ComparisonError: /);
    await user.stands(KINDS.configMap, "a");
    await callHarness(user.world.harness, "failGit", { repository: user.namespace });
    const sha = await user.push({ "app/a.yaml": configMapFile("a", { v: "2" }) });
    await user.refresh();
    await user.ready(sha);
  });

  story("a path with spaces and letters beyond ASCII is deployed", "odd-path", async (user) => {
    await user.push({ "my app/größe/a.yaml": configMapFile("a", {}) });
    await user.deploy({ path: "my app/größe" });
    await user.ready();
  });

  story("a directory renamed in Git is followed once the deployment names it", "renamed-path", async (user) => {
    await user.push({ "old/a.yaml": configMapFile("a", {}) });
    await user.deploy({ path: "old", finalizers: WITH_FINALIZER });
    await user.ready();
    await user.push({ "old/a.yaml": undefined, "new/a.yaml": configMapFile("a", {}) });
    await user.refresh();
    await user.reads(/^ComparisonError: .*old.*(does not exist|not found)/);
    const before = (await user.stands(KINDS.configMap, "a")).metadata.uid;
    await user.deploy({ path: "new", finalizers: WITH_FINALIZER });
    await user.ready();
    expect((await user.stands(KINDS.configMap, "a")).metadata.uid).toBe(before);
  });
});
