import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSet, cacheDirectory } from "../../hack/dev-cluster/build.ts";
import { createAuthority, issueServer } from "../../hack/dev-cluster/x509.ts";
import { type GitServer, startGitServer } from "../../hack/git-server/git-server.ts";
import { type GitSshServer, startGitSshServer } from "../../hack/git-server/git-ssh-server.ts";
import { type BuildImageOptions, type BuiltImage, buildImage, findImage, LOCAL_BASE } from "./build-image.ts";
import { checkSbom } from "./check-sbom.ts";
import { type Commit, readCommit } from "./commit.ts";
import { readImageArchive, writeImageArchive } from "./oci/image-archive.ts";
import type { TarEntry } from "./oci/tar.ts";
import { createProgress } from "./progress.ts";
import { renderSbom } from "./sbom.ts";
import { type ContainerOptions, runContainer, unpackImage } from "./testing/run-container.ts";

const IS_LONG = process.env["ARGOSY_LONG"] !== undefined;
const HALF_AN_HOUR_MS = 30 * 60_000;
const { signal } = new AbortController();

const commit = await readCommit(process.cwd(), "HEAD", signal).catch(() => undefined);
const options = (over: Partial<BuildImageOptions> = {}): BuildImageOptions => ({
  ...{ commit: commit as Commit, architecture: process.arch === "arm64" ? "arm64" : "amd64", base: LOCAL_BASE, rebuild: false },
  mirrors: undefined,
  ...{ project: process.cwd(), cache: cacheDirectory(), progress: createProgress(() => undefined) },
  ...over,
});

/** Why the image cannot be tried here, as one sentence. */
async function whyNot(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "the image is built and run by root";
  const missing = ["runc", ...(IS_LONG ? ["buildah", "debootstrap"] : [])].filter(
    (name) => spawnSync(name, ["--version"]).error !== undefined,
  );
  if (missing.length > 0) return `${missing.join(" and ")} must be installed to try the image`;
  if (commit === undefined) return "the image is made of a commit, and this is no git repository";
  return IS_LONG || (await findImage(options())) !== undefined
    ? undefined
    : "the image of this commit is not in the cache: ARGOSY_LONG=1 builds it";
}

const reason = await whyNot();
if (reason !== undefined) process.stdout.write(`contract: the image is not tried: ${reason}\n`);

describe.skipIf(reason !== undefined)("the image", () => {
  // The body of a skipped suite is run as well, and nothing cleans up after it.
  const work = reason === undefined ? mkdtempSync(join(tmpdir(), "argosy-image-")) : "";
  const root = join(work, "root");
  let built: BuiltImage;
  let files: ReadonlyMap<string, TarEntry>;
  let digest: string;

  beforeAll(async () => {
    built = await buildImage(options(), signal);
    ({ files, digest } = unpacked(built));
    await unpackImage(files.values(), root);
  }, HALF_AN_HOUR_MS);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  function unpacked({ layers, run }: BuiltImage) {
    const image = {
      layers,
      run,
      architecture: options().architecture,
      epochSeconds: commit?.epochSeconds ?? 0,
      reference: "localhost/argosy:test",
    };
    return readImageArchive(writeImageArchive(image).archive);
  }

  const start = (over: Partial<ContainerOptions>) => runContainer({ root, run: built.run, ...over }, work);

  it("starts with a read-only root, as its own user and as any other", async () => {
    const version = (JSON.parse((await commit?.read("package.json"))?.toString("utf8") ?? "{}") as { version: string }).version;
    const args = [...(built.run.Entrypoint ?? []), "--version"];
    expect(built.run.User).toBe("65532:65532");
    for (const user of [undefined, 1_000_770_000])
      expect(await start({ args, ...(user === undefined ? {} : { user }) })).toEqual({ exitCode: 0, output: `${version}\n` });
    expect((await start({ args: [...(built.run.Entrypoint ?? []), "serve", "--help"] })).output).toContain("--config");
    expect((await start({})).output).toContain("Usage: argosy");
    expect((await start({ args: ["/usr/bin/argosy", "--version"] })).output).toBe(`${version}\n`);
  });

  it("has every module that its own import, so that nothing is missing only when it is asked for", async () => {
    const script = `import { globSync } from "node:fs"; for (const file of globSync("/app/src/**/*.js").filter((file) => !file.endsWith("/cli/argosy.js"))) await import(file); console.log("all");`;
    expect(await start({ args: ["/usr/bin/node", "--input-type=module", "--eval", script] })).toEqual({ exitCode: 0, output: "all\n" });
  });

  it("says what to do about the embedded PostgreSQL, which it has not", async () => {
    const script = `const { provideBinaries } = await import("/app/src/runtime/embedded-postgres/binaries.js");
      await provideBinaries("/tmp", undefined, new AbortController().signal).catch((error) => console.log(error.code, error.message, error.remedy));`;
    const { output } = await start({ args: ["/usr/bin/node", "--input-type=module", "--eval", script] });
    expect(output).toContain("postgres.platform this build has no embedded PostgreSQL for this machine Set database.url or DATABASE_URL");
  });

  it("holds exactly what its SBOM lists, in at most 250 MB", async () => {
    const { architecture } = options();
    const lockfile = (await commit?.read("package-lock.json"))?.toString("utf8") ?? "";
    const version = (JSON.parse((await commit?.read("package.json"))?.toString("utf8") ?? "{}") as { version: string }).version;
    const sbom = renderSbom({ version, architecture, epochSeconds: 0, digest, files, lockfile });
    expect(checkSbom(sbom, files)).toEqual([]);
    expect(sbom.components.map(({ name }) => name)).not.toContain("embedded-postgres");
    const bytes = [...files.values()].reduce((sum, entry) => sum + (entry.kind === "file" ? entry.content.length : 0), 0);
    expect(bytes).toBeLessThan(250_000_000);
    for (const entry of files.values()) if (entry.kind !== "link") expect(entry.mode & 0o6000, entry.path).toBe(0);
  });

  describe("observing repositories", () => {
    const authority = createAuthority({ commonName: "image" });
    let git: GitServer;
    let ssh: GitSshServer | undefined;
    beforeAll(async () => {
      git = await startGitServer({
        directory: join(work, "git"),
        tls: issueServer(authority, { subject: { commonName: "git" }, names: ["127.0.0.1"] }),
      });
      await git.createRepository("team/shop", { a: "b" });
      git.protect("team/shop", { username: "bot", password: "s3cret" });
      const programs = await buildSet("tools", {}, signal).catch(() => undefined);
      if (programs !== undefined)
        ssh = await startGitSshServer({ repositories: join(work, "git"), directory: join(work, "ssh"), programs }, signal);
    });
    afterAll(async () => {
      await ssh?.stop();
      await git.stop();
    });

    /** Asks what Argosy asks of git, with its own code, inside a container of a user that has no name. */
    async function observe(url: string, secret: object): Promise<string> {
      const egress = {
        allow: ["127.0.0.0/8"],
        ...{ certificateAuthorities: [{ host: "127.0.0.1", certificates: authority.cert }], sshKnownHosts: ssh?.knownHost ?? "" },
      };
      const script = `
        const { createGitObserver } = await import("/app/src/workspace/adapters/git/observer.js");
        const { parseRepositoryAddress } = await import("/app/src/workspace/repository-credential/repository-address.js");
        const { url, secret, egress } = JSON.parse(process.env.ASKED);
        const say = (fields, text) => console.log(text, JSON.stringify(fields), fields.err ?? "");
        const observer = createGitObserver({ directory: ".argosy/probes", path: process.env.PATH, log: { error: say, warn: say } });
        const { address } = parseRepositoryAddress(url, egress);
        console.log(await observer.observe({ ...address, secret, egress }, AbortSignal.timeout(60_000)));`;
      const env = [`ASKED=${JSON.stringify({ url, secret, egress })}`];
      return (await start({ args: ["/usr/bin/node", "--input-type=module", "--eval", script], env, user: 1_000_770_000 })).output;
    }

    it("works over HTTPS with an authority of one's own", async () => {
      const url = git.repositoryUrl("team/shop");
      expect(await observe(url, { kind: "basic", username: "bot", password: "s3cret" })).toBe("readable\n");
      expect(await observe(url, { kind: "basic", username: "bot", password: "wrong" })).toBe("denied\n");
    });

    it("works over SSH for a user without a name", async ({ skip }) => {
      if (ssh === undefined) return skip("the SSH server is built with Go");
      expect(await observe(ssh.repositoryUrl("team/shop"), { kind: "ssh", privateKey: ssh.issueKey() })).toBe("readable\n");
      ssh.revokeKeys();
      expect(await observe(ssh.repositoryUrl("team/shop"), { kind: "ssh", privateKey: "-----BEGIN" })).toBe("denied\n");
    });

    it("clones with the git of the image", async () => {
      await git.createRepository("team/open", { a: "b" });
      const env = ["GIT_SSL_NO_VERIFY=1"];
      const { exitCode, output } = await start({
        args: ["/usr/bin/git", "clone", "--quiet", git.repositoryUrl("team/open"), "/tmp/open"],
        env,
      });
      expect({ exitCode, output }).toEqual({ exitCode: 0, output: "" });
    });
  });

  it.runIf(IS_LONG)(
    "has the same digest when it is built twice from nothing",
    async () => {
      const digests: string[] = [];
      for (const name of ["one", "two"]) {
        const cache = join(work, name);
        digests.push(unpacked(await buildImage(options({ cache }), signal)).digest);
        rmSync(cache, { recursive: true, force: true });
      }
      expect(digests).toEqual([digest, digest]);
      expect(existsSync(join(work, "one"))).toBe(false);
    },
    2 * HALF_AN_HOUR_MS,
  );
});
