import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, issueServer } from "../../../../hack/dev-cluster/x509.ts";
import { type GitServer, startGitServer } from "../../../../hack/git-server/git-server.ts";
import type { EgressSpec } from "../../../domain/fleet.ts";
import type { RepositorySecret } from "../../../domain/repository-credential.ts";
import { silentLog } from "../../../telemetry/log.ts";
import type { RepositoryObserver } from "../../repository-credential/port.ts";
import { parseRepositoryAddress } from "../../repository-credential/repository-address.ts";
import { createGitObserver, type GitObserverOptions } from "./observer.ts";

const PATH = process.env["PATH"] ?? "";
const HOST = "git.test.example";
const BOT: RepositorySecret = { kind: "basic", username: "bot", password: "pass:wörd'\"$(id)" };

const authority = createAuthority({ commonName: "git authority" });
const tls = issueServer(authority, { subject: { commonName: "git" }, names: ["127.0.0.1", HOST] });

let directory: string;
let git: GitServer;
let plain: GitServer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "argosy-looker-"));
  git = await startGitServer({ directory: join(directory, "git"), tls });
  plain = await startGitServer({ directory: join(directory, "plain") });
  await git.createRepository("team/private", { a: "b" });
  await git.createRepository("team/public", { a: "b" });
  await plain.createRepository("team/private", { a: "b" });
  for (const each of [git, plain]) each.protect("team/private", { username: "bot", password: BOT.kind === "basic" ? BOT.password : "" });
});
afterAll(async () => {
  await git.stop();
  await plain.stop();
  rmSync(directory, { recursive: true, force: true });
});

const EGRESS: EgressSpec = {
  allow: ["127.0.0.0/8"],
  http: ["127.0.0.1"],
  certificateAuthorities: ["127.0.0.1", HOST].map((host) => ({ host, certificates: authority.cert })),
};
const observations = (): string => join(directory, "probes");
const anObserver = (over: Partial<GitObserverOptions> = {}): RepositoryObserver =>
  createGitObserver({ directory: observations(), path: PATH, log: silentLog, resolve: async () => ["127.0.0.1"], ...over });

interface Asked {
  readonly secret?: RepositorySecret;
  readonly egress?: EgressSpec;
  readonly observer?: RepositoryObserver;
  readonly signal?: AbortSignal;
}

async function observe(
  url: string,
  { secret = BOT, egress = EGRESS, observer = anObserver(), signal = AbortSignal.timeout(60_000) }: Asked = {},
) {
  const parsed = parseRepositoryAddress(url, egress);
  if (!parsed.ok) throw new Error(parsed.message);
  return observer.observe({ ...parsed.address, secret, egress }, signal);
}

/** A server that takes connections and does what `onConnection` does. */
async function aServer(onConnection: Parameters<typeof createServer>[1]): Promise<Server & { readonly port: number }> {
  const server = createServer(onConnection as never);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(server, { port: (server.address() as { port: number }).port });
}

describe("observing at a repository", () => {
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  it("reads a private one with the right credentials, over TLS with the declared authority", async () => {
    expect(await observe(git.repositoryUrl("team/private"))).toBe("readable");
  });

  it("is denied with wrong ones, and without any that count", async () => {
    const url = git.repositoryUrl("team/private");
    expect(await observe(url, { secret: { kind: "basic", username: "bot", password: "wrong" } })).toBe("denied");
    expect(await observe(url, { secret: { kind: "bearer", token: "wrong" } })).toBe("denied");
  });

  it("says that there is none", async () => {
    expect(await observe(git.repositoryUrl("team/none"))).toBe("not-found");
    expect(await observe(`${git.url}/elsewhere`)).toBe("not-found");
  });

  it("does not trust a certificate of an authority that is not declared for the host", async () => {
    const { certificateAuthorities: _, ...egress } = EGRESS;
    expect(await observe(git.repositoryUrl("team/private"), { egress })).toBe("unknown-identity");
    const other = createAuthority({ commonName: "another" }).cert;
    const wrong = { ...EGRESS, certificateAuthorities: [{ host: "127.0.0.1", certificates: other }] };
    expect(await observe(git.repositoryUrl("team/private"), { egress: wrong })).toBe("unknown-identity");
  });

  it("connects to the address that was checked, whatever the name means elsewhere", async () => {
    // Nothing but the pinned address leads to this name.
    expect(await observe(`https://${HOST}:${git.port}/team/private.git`)).toBe("readable");
  });

  it("reaches nothing inside that is not allowed, by address or by name", async () => {
    const closed = { ...EGRESS, allow: [] };
    const before = git.requests("team/private");
    const observer = anObserver();
    const address = { url: git.repositoryUrl("team/private"), scheme: "https", host: "127.0.0.1", port: git.port, secret: BOT } as const;
    expect(await observer.observe({ ...address, egress: closed }, AbortSignal.timeout(60_000))).toBe("not-allowed");
    for (const inside of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"])
      expect(
        await observe(`https://${HOST}:${git.port}/team/private.git`, {
          egress: closed,
          observer: anObserver({ resolve: async () => [inside] }),
        }),
      ).toBe("not-allowed");
    expect(git.requests("team/private")).toBe(before);
  });

  it("says that a name leads nowhere without saying anything about the credential", async () => {
    expect(await observe(`https://${HOST}/team/private.git`, { observer: anObserver({ resolve: async () => [] }) })).toBe("unreachable");
  });

  it("takes a host that refuses, hangs up, fails or speaks nonsense for one that is not there", async () => {
    const closed = await aServer(() => undefined);
    await new Promise((resolve) => closed.close(resolve));
    expect(await observe(`https://127.0.0.1:${closed.port}/a`)).toBe("unreachable");
    const rude = await aServer((socket) => socket.destroy());
    servers.push(rude);
    expect(await observe(`https://127.0.0.1:${rude.port}/a`)).toBe("unreachable");
    git.behave("team/public", { status: 503 });
    expect(await observe(git.repositoryUrl("team/public"))).toBe("unreachable");
    git.behave("team/public", { status: 429 });
    expect(await observe(git.repositoryUrl("team/public"))).toBe("unreachable");
    git.behave("team/public", {});
  });

  it("follows no redirect, so that nobody is sent inside with the credential", async () => {
    const seen: string[] = [];
    const inside = await aServer((socket) => socket.on("data", (data) => seen.push(String(data))));
    const moved = await aServer((socket) =>
      socket.once("data", () =>
        socket.end(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${inside.port}/a/info/refs\r\ncontent-length: 0\r\n\r\n`),
      ),
    );
    servers.push(inside, moved);
    expect(await observe(`http://127.0.0.1:${moved.port}/a`)).toBe("moved");
    expect(seen).toEqual([]);
  });

  it("gives up at its deadline, and ends what it started", async () => {
    const silent = await aServer((socket) => socket.on("error", () => undefined));
    servers.push(silent);
    const url = `http://127.0.0.1:${silent.port}/hangs-${process.pid}`;
    expect(await observe(url, { observer: anObserver({ deadlineMs: 500 }) })).toBe("unreachable");
    expect(spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout).not.toContain(`hangs-${process.pid}`);
  });

  it.each(["http", "ssh"])("ends with its signal (%s)", async (scheme) => {
    let connections = 0;
    const silent = await aServer((socket) => {
      connections += 1;
      socket.on("error", () => undefined);
    });
    servers.push(silent);
    const abort = new AbortController();
    const observing = observe(`${scheme}://${scheme === "ssh" ? "git@" : ""}127.0.0.1:${silent.port}/a`, { signal: abort.signal });
    await expect.poll(() => connections, { timeout: 30_000 }).toBeGreaterThan(0);
    abort.abort(new Error("enough"));
    await expect(observing).rejects.toThrow("enough");
  });

  it("keeps no more than it needs of a host that never stops talking", async () => {
    const flood = await aServer((socket) => {
      socket.on("error", () => undefined);
      socket.write("HTTP/1.1 401 Unauthorized\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n");
      const line = `${"x".repeat(1000)}\n`.repeat(16);
      const more = (): void => {
        if (socket.writable) socket.write(`${line.length.toString(16)}\r\n${line}\r\n`, () => setImmediate(more));
      };
      more();
    });
    servers.push(flood);
    expect(["failed", "unreachable", "denied"]).toContain(
      await observe(`http://127.0.0.1:${flood.port}/a`, { observer: anObserver({ deadlineMs: 3_000 }) }),
    );
  });
});

describe("what the child is given", () => {
  /** A program in the place of git that writes down what it sees, and what of it others can see. */
  function aSpy(): string {
    const bin = mkdtempSync(join(directory, "bin-"));
    const report = join(bin, "report");
    const script = `#!/bin/sh
if [ "$1" = version ]; then echo git version 2.39.5; exit 0; fi
{ echo "args: $*"; env; echo "cwd: $(pwd)"; ls -la . ; ulimit -a; } > ${report}
echo "fatal: repository '$4' not found" >&2
exit 128
`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    return bin;
  }

  it.each([
    ["basic", BOT, "https"],
    ["bearer", { kind: "bearer", token: "t0ken" }, "https"],
    ["ssh", { kind: "ssh", privateKey: "-----BEGIN PRIVATE KEY-----\nk3y\n-----END PRIVATE KEY-----\n" }, "ssh"],
  ] as const)(
    "has no secret among its arguments, nothing of our environment, and files for itself only (%s)",
    async (_, secret, scheme) => {
      process.env["ARGOSY_TEST_MARK"] = "ours";
      const bin = aSpy();
      const url = scheme === "ssh" ? "ssh://git@127.0.0.1/a" : "https://127.0.0.1/a";
      expect(await observe(url, { secret, observer: anObserver({ path: `${bin}:${PATH}` }) })).toBe("not-found");
      delete process.env["ARGOSY_TEST_MARK"];
      const report = readFileSync(join(bin, "report"), "utf8");
      const args = report.slice(0, report.indexOf("\n"));
      expect(args).toBe(`args: ls-remote --quiet -- ${url} HEAD`);
      expect(report).not.toContain("ARGOSY_TEST_MARK");
      expect(report).not.toContain("KUBECONFIG");
      expect(report).toMatch(/GIT_CONFIG_GLOBAL=\/dev\/null/);
      expect(report).toMatch(new RegExp(`GIT_ALLOW_PROTOCOL=${scheme}`));
      for (const [, mode = ""] of report.matchAll(/^(-\S+) .* (?:key|known_hosts|authorities\.pem)$/gm))
        expect(mode).toMatch(/^-rw-------/);
      expect(report).toMatch(/^drwx------.* \.$/m);
      expect(report).not.toContain("k3y");
    },
  );

  it("is not started where a host's answer by HTTP is understood, over TLS with the declared authority too", async () => {
    const bin = aSpy();
    const observer = anObserver({ path: `${bin}:${PATH}` });
    expect(await observe(git.repositoryUrl("team/private"), { observer })).toBe("readable");
    expect(await observe(git.repositoryUrl("team/none"), { observer })).toBe("not-found");
    expect(readdirSync(bin)).toEqual(["git"]);
  });

  it("leaves no directory behind, and removes those of processes that were killed", async () => {
    await observe(git.repositoryUrl("team/private"));
    expect(readdirSync(observations())).toEqual([]);
    const dead = spawnSync("true").pid;
    mkdirSync(join(observations(), `probe-${dead}-abcdef`));
    mkdirSync(join(observations(), `probe-${process.ppid}-abcdef`));
    anObserver();
    expect(readdirSync(observations())).toEqual([`probe-${process.ppid}-abcdef`]);
    rmSync(join(observations(), `probe-${process.ppid}-abcdef`), { recursive: true });
  });

  it("leaves no key of an earlier process that had its number, as in a container all have", () => {
    mkdirSync(observations(), { recursive: true });
    for (const name of [`probe-${process.pid}-abcdef`, `probe-${process.pid}-1700000000000-abcdef`]) {
      mkdirSync(join(observations(), name));
      writeFileSync(join(observations(), name, "key"), "k3y");
    }
    anObserver();
    expect(readdirSync(observations())).toEqual([]);
  });

  it("is not started at all when git is missing or too old to take the address to connect to", async () => {
    expect(await observe(git.repositoryUrl("team/private"), { observer: anObserver({ path: "/nowhere" }) })).toBe("failed");
    const bin = mkdtempSync(join(directory, "bin-"));
    writeFileSync(join(bin, "git"), "#!/bin/sh\necho git version 2.36.9\n", { mode: 0o755 });
    expect(await observe(git.repositoryUrl("team/private"), { observer: anObserver({ path: bin }) })).toBe("failed");
  });
});
