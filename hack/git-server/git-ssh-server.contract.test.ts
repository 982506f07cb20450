import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSet } from "../dev-cluster/build.ts";
import { runGit } from "./git.ts";
import { type GitServer, startGitServer } from "./git-server.ts";
import { type GitSshServer, startGitSshServer } from "./git-ssh-server.ts";

describe("Git over SSH", () => {
  const directory = mkdtempSync(join(tmpdir(), "git-ssh-"));
  const repositories = join(directory, "repositories");
  const { signal } = new AbortController();
  let http: GitServer;
  let server: GitSshServer;

  beforeAll(async () => {
    http = await startGitServer({ directory: repositories });
    server = await startGitSshServer(
      { repositories, directory: join(directory, "ssh"), programs: await buildSet("tools", {}, signal) },
      signal,
    );
    writeFileSync(join(directory, "known_hosts"), `${server.knownHost}\n`);
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    await http?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const lsRemote = (repository: string, key: string) => {
    const file = join(directory, "key");
    writeFileSync(file, key, { mode: 0o600 });
    const ssh = `ssh -F /dev/null -i ${file} -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile=${join(directory, "known_hosts")}`;
    return runGit(["-c", `core.sshCommand=${ssh}`, "ls-remote", server.repositoryUrl(repository), "refs/heads/main"], {
      cwd: directory,
      home: directory,
    });
  };

  it("serves the repositories of the HTTP server to those who have a key, until it is revoked", async () => {
    const revision = await http.createRepository("team/shop", { a: "b" });
    const key = server.issueKey();
    expect(await lsRemote("team/shop", key)).toBe(`${revision}\trefs/heads/main\n`);
    await expect(lsRemote("team/none", key)).rejects.toThrow("does not appear to be a git repository");
    await expect(lsRemote("../ssh", key)).rejects.toThrow("only git-upload-pack is served here");
    server.revokeKeys();
    await expect(lsRemote("team/shop", key)).rejects.toThrow("Permission denied");
    await expect(lsRemote("team/shop", server.issueKey())).resolves.toContain(revision);
  });
});
