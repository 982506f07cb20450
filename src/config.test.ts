import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigComplaint } from "./config/complaint.ts";
import { argosyVersion, type Config, parseConfig, parseDatabase } from "./config.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");

function accept(input: unknown, env: Readonly<Record<string, string>> = {}): Config {
  const result = parseConfig(input, env);
  if (!result.ok) throw new Error(JSON.stringify(result.complaints));
  return result.config;
}

function complain(input: unknown, env: Readonly<Record<string, string>> = {}): readonly ConfigComplaint[] {
  const result = parseConfig(input, env);
  if (result.ok) throw new Error("nothing to complain about");
  return result.complaints;
}

const paths = (complaints: readonly ConfigComplaint[]): string[] => complaints.map((complaint) => complaint.path);

describe("configuration", () => {
  it.each([undefined, null, {}])("has a default for everything: %s", (input) => {
    const config = accept(input);
    expect(config.roles).toEqual(["workspace", "scheduler", "reconciler", "provisioner", "health", "api"]);
    expect(config.database.url).toBeUndefined();
    expect(config.listen).toEqual({ host: "127.0.0.1", port: 8080, allowPlainHttp: false });
    expect(config.leases).toEqual({ ttlMs: 15_000, renewMs: 5_000 });
    expect(config.limits.databaseConnections).toBe(20);
  });

  it("lets DATABASE_URL win over the file", () => {
    const encryption = { keys: [{ id: "a", file: "/key" }] };
    expect(accept({ encryption, database: { url: "postgres://file/x" } }, { DATABASE_URL: "postgres://env/x" }).database.url).toBe(
      "postgres://env/x",
    );
    expect(accept({ encryption, database: { url: "postgres://file/x" } }, { DATABASE_URL: "" }).database.url).toBe("postgres://file/x");
  });

  it("leaves the schema to a command only where there is a database that the command can reach", () => {
    const encryption = { keys: [{ id: "a", file: "/key" }] };
    const database = { migrate: "by-command" };
    expect(paths(complain({ database }))).toEqual(["database.migrate"]);
    expect(accept({ encryption, database }, { DATABASE_URL: "postgres://env/x" }).database.migrate).toBe("by-command");
    expect(accept({}).database.migrate).toBe("at-start");
    expect(paths(complain({ database: { migrate: "never" } }))).toEqual(["database.migrate"]);
  });

  it("names the logins that get rights in the database, each of its own and nobody who is everybody", () => {
    const grantTo = { controlPlane: "argosy_control_plane", api: "argosy_api" };
    expect(accept({ database: { grantTo: {} } }).database.grantTo).toEqual(grantTo);
    expect(accept({ database: { grantTo: { api: "rest" } } }).database.grantTo).toEqual({ ...grantTo, api: "rest" });
    expect(parseDatabase({ database: { grantTo: {} } }, {})).toMatchObject({ database: { grantTo } });
    expect(accept({}).database.grantTo).toBeUndefined();
    for (const api of ["public", "none", "pg_monitor", "", "a b", 'a"b', "x".repeat(64), grantTo.controlPlane])
      expect(paths(complain({ database: { grantTo: { api } } }))).toEqual(["database.grantTo.api"]);
  });

  describe("with a database that has to be verified", () => {
    const encryption = { keys: [{ id: "a", file: "/key" }] };
    const database = (url: string) => ({ url, requireVerifiedTls: true });
    const GOOD = "postgres://u:p@db.example/x?sslmode=verify-full&sslrootcert=/ca.crt";

    it.each([GOOD, "postgresql://u:p@db.example:5432/x?sslmode=verify-full", "postgres://u@h/x?a=b&sslmode=verify-full"])(
      "takes %s, for servers and for `argosy migrate` alike",
      (url) => {
        expect(accept({ encryption, database: database(url) }).database).toMatchObject({ url, requireVerifiedTls: true });
        expect(accept({ encryption, database: { requireVerifiedTls: true } }, { DATABASE_URL: url }).database.url).toBe(url);
        expect(parseDatabase({ database: database(url) }, {})).toMatchObject({ ok: true, database: { url } });
      },
    );

    it.each([
      ["", "has no sslmode"],
      ["?ssl=true", "has no sslmode"],
      ["?SSLMODE=verify-full", "has no sslmode"],
      ["?sslmode=", "has another sslmode"],
      ["?sslmode=disable", "has another sslmode"],
      ["?sslmode=no-verify", "has another sslmode"],
      ["?sslmode=prefer", "has another sslmode"],
      ["?sslmode=require&sslrootcert=/ca.crt", "has another sslmode"],
      ["?sslmode=verify-ca&sslrootcert=/ca.crt", "has another sslmode"],
      ["?sslmode=verify-full&sslmode=no-verify", "has another sslmode"],
      ["?sslmode=no-verify&sslmode=verify-full", "has another sslmode"],
      ["?sslmode=verify-full&uselibpqcompat=true", "has the parameter uselibpqcompat"],
      ["?sslmode=verify-full&ssl=no-verify", "has the parameter ssl"],
    ])("refuses a connection string that ends with %s", (end, why) => {
      const url = `postgres://u:geheim@db.example/x${end}`;
      const complaint = {
        path: "database.url",
        message: `${why === "has another sslmode" ? `${why} than verify-full` : why}, and database.requireVerifiedTls asks for a server whose certificate is verified`,
        remedy: expect.stringContaining("?sslmode=verify-full"),
      };
      expect(complain({ encryption, database: database(url) })).toEqual([complaint]);
      expect(parseDatabase({ database: database(url) }, {})).toEqual({ ok: false, complaints: [complaint] });
      const fromEnvironment = [{ ...complaint, path: "DATABASE_URL" }];
      expect(complain({ encryption, database: database(GOOD) }, { DATABASE_URL: url })).toEqual(fromEnvironment);
      expect(parseDatabase({ database: database(GOOD) }, { DATABASE_URL: url })).toEqual({ ok: false, complaints: fromEnvironment });
      expect(accept({ encryption, database: { url } }).database.requireVerifiedTls).toBe(false);
    });

    it("refuses the embedded one", () => {
      expect(paths(complain({ database: { requireVerifiedTls: true } }))).toEqual(["database.requireVerifiedTls"]);
    });
  });

  it("serves no tokens in plain HTTP to other machines unless that is said", () => {
    const tls = { certificateFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "argosy.example"]) {
      expect(complain({ listen: { host } })).toMatchObject([
        { path: "listen.tls", remedy: expect.stringContaining("listen.allowPlainHttp") },
      ]);
      expect(paths(complain({ listen: { host }, roles: ["api", "health"] }))).toEqual(["listen.tls"]);
      expect(accept({ listen: { host, allowPlainHttp: true } }).listen.host).toBe(host);
      expect(accept({ listen: { host, tls } }).listen.host).toBe(host);
      expect(accept({ listen: { host }, roles: ["health"] }).listen.host).toBe(host);
    }
    for (const host of ["localhost", "127.0.0.2", "::1"]) expect(accept({ listen: { host } }).listen.host).toBe(host);
  });

  it("takes both files of a certificate, or none", () => {
    const tls = { certificateFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
    expect(accept({ listen: { tls } }).listen).toEqual({ host: "127.0.0.1", port: 8080, allowPlainHttp: false, tls });
    expect(paths(complain({ listen: { tls: {} } }))).toEqual(["listen.tls.certificateFile", "listen.tls.keyFile"]);
    expect(complain({ listen: { tls: { certificatFile: "/tls/tls.crt", keyFile: "" } } }).map(({ remedy }) => remedy)).toEqual(
      expect.arrayContaining(["Did you mean listen.tls.certificateFile?"]),
    );
  });

  it("wants time to leave after the last request", () => {
    expect(paths(complain({ shutdown: { delayMs: 21_000 } }))).toEqual(["shutdown.delayMs"]);
    expect(accept({ shutdown: { delayMs: 20_000 } }).shutdown).toEqual({ delayMs: 20_000, graceMs: 25_000 });
    expect(accept({ shutdown: { graceMs: 1_000 } }).shutdown.delayMs).toBe(0);
  });

  it("names roles once and in one order", () => {
    expect(accept({ roles: ["provisioner", "api", "provisioner", "scheduler"] }).roles).toEqual(["scheduler", "provisioner", "api"]);
    expect(accept({ roles: ["api", "all"] }).roles).toHaveLength(6);
  });

  it("complains about everything at once, sorted by path", () => {
    const complaints = complain({
      stateDir: 1,
      listen: { port: "x" },
      log: { level: "loud" },
      roles: [],
      leases: { renewMs: 14_000 },
    });
    expect(paths(complaints)).toEqual(["leases.renewMs", "listen.port", "log.level", "roles", "stateDir"]);
    for (const complaint of complaints) expect(complaint.remedy).not.toBe("");
  });

  it.each([
    [{ lisen: {} }, "lisen", "Did you mean listen?"],
    [{ listen: { Port: 1 } }, "listen.Port", "Did you mean listen.port?"],
    [{ leases: { renew_ms: 1 } }, "leases.renew_ms", "Did you mean leases.renewMs?"],
    [{ databaseConnections: 1 }, "databaseConnections", "Did you mean limits.databaseConnections?"],
    [{ encryption: { keys: [{ id: "a", file: "b", envv: "c" }] } }, "encryption.keys[0].envv", "Did you mean encryption.keys[0].env?"],
    [{ log: { zebra: 1 } }, "log.zebra", "Remove it, or use one of level, format"],
  ])("knows no unknown field, and says what was meant: %j", (input, path, remedy) => {
    expect(complain(input)).toEqual([{ path, message: "is no field of the configuration", remedy }]);
  });

  it.each([
    [{ roles: ["schedular"] }, "roles[0]"],
    [{ roles: 3 }, "roles"],
    [{ apiCluster: { name: "Main" } }, "apiCluster.name"],
    [{ apiCluster: { instanceServer: "http://x" } }, "apiCluster.instanceServer"],
    [{ apiCluster: { instanceCa: "nonsense" } }, "apiCluster.instanceCa"],
    [{ database: { url: "mysql://x" } }, "database.url"],
    [{ database: "postgres://x" }, "database"],
    [{ listen: { port: 0 } }, "listen.port"],
    [{ listen: { port: 70_000 } }, "listen.port"],
    [{ leases: { ttlMs: 6_000, renewMs: 5_000 } }, "leases.renewMs"],
    [{ accountTokens: { lifeMs: 600_000 } }, "accountTokens.renewAfterMs"],
    [{ stateDir: "" }, "stateDir"],
    [[], ""],
    ["text", ""],
  ])("refuses %j", (input, path) => {
    expect(paths(complain(input))).toEqual([path]);
  });

  it("checks what depends on two sections although a third one is wrong", () => {
    expect(paths(complain({ log: 1, leases: { ttlMs: 6_000, renewMs: 5_000 } }))).toEqual(["leases.renewMs", "log"]);
  });

  it("complains about DATABASE_URL by its own name", () => {
    expect(paths(complain({}, { DATABASE_URL: "sqlite:x" }))).toEqual(["DATABASE_URL"]);
    expect(paths(complain({ database: 3 }, { DATABASE_URL: "postgres://x" }))).toEqual(["database"]);
  });

  it("never repeats a value, which may be a secret", () => {
    const secret = "hunter2hunter2";
    const complaints = complain(
      {
        database: { url: `mysql://u:${secret}@x` },
        log: { level: secret },
        stateDir: { secret },
        apiCluster: { instanceCa: secret },
        encryption: { keys: [{ id: "a", env: "K" }] },
      },
      { DATABASE_URL: `http://${secret}`, K: secret },
    );
    expect(complaints.length).toBeGreaterThanOrEqual(6);
    expect(JSON.stringify(complaints)).not.toContain(secret);
  });

  it("takes or refuses any document at all without throwing", () => {
    const value = fc.anything({
      maxDepth: 4,
      key: fc.constantFrom("listen", "port", "roles", "encryption", "keys", "id", "env", "database", "url", "__proto__", "x"),
    });
    fc.assert(
      fc.property(value, (input) => {
        const result = parseConfig(input, {});
        if (!result.ok) expect(result.complaints.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe("encryption keys in the configuration", () => {
  const VAULT = { address: "https://vault.example:8200", key: "argosy", wrapped: "vault:v1:c2VjcmV0c2VjcmV0c2VjcmV0" };

  it("are unwrapped by a Vault, as whoever has a token or as a ServiceAccount", () => {
    const kubernetes = { role: "argosy" };
    const keys = [{ id: "a", vault: { ...VAULT, kubernetes } }];
    expect(accept({ encryption: { keys } }).encryption?.keys).toEqual([
      {
        id: "a",
        from: {
          vault: {
            ...{ ...VAULT, mount: "transit" },
            kubernetes: { ...kubernetes, mount: "kubernetes", tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" },
          },
        },
      },
    ]);
    for (const address of ["http://127.0.0.1:8200", "http://[::1]:8200/", "http://localhost:8200"])
      expect(accept({ encryption: { keys: [{ id: "a", vault: { ...VAULT, address, tokenFile: "/t" } }] } }).encryption).toBeDefined();
  });

  it("are needed with a database of one's own", () => {
    expect(paths(complain({}, { DATABASE_URL: "postgres://x" }))).toEqual(["encryption.keys"]);
    expect(accept({}).encryption).toBeUndefined();
  });

  it("come from a file or a variable; the first is current unless said otherwise", () => {
    const keys = [
      { id: "a", file: "/a" },
      { id: "b", env: "KEY_B" },
    ];
    expect(accept({ encryption: { keys } }, { KEY_B: `${KEY}\n` }).encryption).toEqual({
      keys: [
        { id: "a", from: { file: "/a" } },
        { id: "b", from: { env: "KEY_B" } },
      ],
      current: "a",
    });
    expect(accept({ encryption: { keys, current: "b" } }, { KEY_B: KEY }).encryption?.current).toBe("b");
  });

  it.each([
    [[{ id: "a" }], undefined, "encryption.keys[0]"],
    [[{ id: "a", file: "x", env: "K" }], undefined, "encryption.keys[0]"],
    [[{ id: "a", file: "x", vault: { ...VAULT, tokenFile: "/t" } }], undefined, "encryption.keys[0]"],
    [[{ id: "a", vault: VAULT }], undefined, "encryption.keys[0].vault"],
    [[{ id: "a", vault: { ...VAULT, tokenFile: "/t", kubernetes: { role: "argosy" } } }], undefined, "encryption.keys[0].vault"],
    [[{ id: "a", vault: { ...VAULT, tokenFile: "/t", address: "http://vault.example" } }], undefined, "encryption.keys[0].vault.address"],
    [[{ id: "a", vault: { ...VAULT, tokenFile: "/t", wrapped: "c2VjcmV0" } }], undefined, "encryption.keys[0].vault.wrapped"],
    [[{ id: "a", vault: { ...VAULT, tokenFile: "/t", mount: "../sys" } }], undefined, "encryption.keys[0].vault.mount"],
    [
      [
        { id: "a", file: "x" },
        { id: "a", file: "y" },
      ],
      undefined,
      "encryption.keys[1].id",
    ],
    [[{ id: "a", env: "MISSING" }], undefined, "encryption.keys[0].env"],
    [[{ id: "a", env: "SHORT" }], undefined, "SHORT"],
    [[{ id: "a", file: "x" }], "b", "encryption.current"],
    [[], undefined, "encryption.keys"],
    [[{ id: "a b", file: "x" }], undefined, "encryption.keys[0].id"],
  ])("are refused: %j, current %s", (keys, current, path) => {
    expect(paths(complain({ encryption: { keys, ...(current === undefined ? {} : { current }) } }, { SHORT: "c2hvcnQ=" }))).toEqual([path]);
  });
});

describe("whose tokens are accepted", () => {
  const roles = [{ role: "viewer", groups: ["a"] }];
  const anIssuer = (over: object = {}) => ({ alias: "corp", issuer: "https://login.example", roles, ...over });
  const withIssuers = (...issuers: readonly object[]) => ({ authentication: { issuers } });

  it("are nobody's beside our own, unless it is said", () => {
    expect(accept({}).authentication).toEqual({ issuers: [] });
  });

  it("are an issuer's, for an audience of ours, signed by a key that is not shared", () => {
    expect(accept(withIssuers(anIssuer())).authentication.issuers).toMatchObject([
      { audiences: ["argosy"], algorithms: ["RS256", "PS256", "ES256", "EdDSA"], nameClaim: "sub", groupsClaim: "groups" },
    ]);
    for (const algorithm of ["none", "HS256", "HS512"])
      expect(paths(complain(withIssuers(anIssuer({ algorithms: [algorithm] }))))).toEqual(["authentication.issuers[0].algorithms[0]"]);
    for (const over of [{ audiences: [] }, { algorithms: [] }, { roles: [] }, { roles: [{ role: "viewer", groups: [] }] }])
      expect(complain(withIssuers(anIssuer(over)))).toHaveLength(1);
  });

  it.each(["http://login.example", "http://127.0.0.1.evil.example/", "http://localhost@evil.example", "ftp://x", "login.example"])(
    "are of no issuer that is not reached over HTTPS: %s",
    (issuer) => {
      expect(paths(complain(withIssuers(anIssuer({ issuer }))))).toEqual(["authentication.issuers[0].issuer"]);
    },
  );

  it("are of issuers that are told apart, and of no mapping that gives a role to nobody", () => {
    expect(paths(complain(withIssuers(anIssuer(), anIssuer({ roles: [{ role: "viewer" }] }))))).toEqual([
      "authentication.issuers[1].alias",
      "authentication.issuers[1].issuer",
      "authentication.issuers[1].roles[0]",
    ]);
    const kubernetes = { roles: [{ role: "operator", classes: ["eu"] }] };
    expect(paths(complain({ authentication: { kubernetes } }))).toEqual(["authentication.kubernetes.roles[0]"]);
  });

  it("have roles in workspaces by their names or beginnings", () => {
    const roleIn = (name: string) => withIssuers(anIssuer({ roles: [{ role: "viewer", groups: ["a"], workspaces: [name] }] }));
    for (const name of ["team", "team-*", "*"]) accept(roleIn(name));
    for (const name of ["*-team", "te*m", "Team", "", "team**"]) expect(complain(roleIn(name))).toHaveLength(1);
  });
});

it("has the version of the package", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };
  expect(argosyVersion).toBe(manifest.version);
});

describe("the database's section alone", () => {
  it("is read whatever is wrong elsewhere, and DATABASE_URL wins", () => {
    const document = { encryption: { keys: [{ id: "a", env: "NOT_HERE" }] }, listen: 1, database: { url: "postgres://file/x" } };
    expect(parseDatabase(document, {})).toMatchObject({ ok: true, database: { url: "postgres://file/x", migrate: "at-start" } });
    expect(parseDatabase(document, { DATABASE_URL: "postgres://env/x" })).toMatchObject({ database: { url: "postgres://env/x" } });
  });

  it.each([[undefined], [null], [[]], ["text"]])("names no address in a document that is %j", (input) => {
    expect(parseDatabase(input, {})).toMatchObject({ ok: true, database: { migrate: "at-start" } });
  });

  it("is complained about as in the whole", () => {
    const problems = (input: unknown, env = {}) => {
      const result = parseDatabase(input, env);
      return result.ok ? [] : paths(result.complaints);
    };
    expect(problems({ database: { url: "x", migrat: 1 } })).toEqual(["database.url", "database.migrat"]);
    expect(problems({}, { DATABASE_URL: "x" })).toEqual(["DATABASE_URL"]);
    expect(problems({ database: 3 })).toEqual(["database"]);
  });
});
