import fc from "fast-check";
import { stringify } from "yaml";
import type { UserSecret } from "../../../domain/user-resource.ts";
import { SECRET_TYPES } from "../../api/names.ts";
import { hostileText, hostileValue, MARK } from "./texts.ts";

const PEM = (what: string) => `-----BEGIN ${what}-----\n${MARK}\n-----END ${what}-----\n`;
const encoded = (text: string) => Buffer.from(text).toString("base64");

/** What a kubeconfig's user may say about itself: tokens and keys, and everything that would reach for something of ours. */
const USERS: readonly Readonly<Record<string, unknown>>[] = [
  { token: MARK },
  { token: `${MARK}\r\nx: y` },
  { token: 1 },
  {},
  { username: "jane", password: MARK },
  { tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" },
  { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", MARK], env: [{ name: "A", value: MARK }] } },
  { exec: { command: "../../bin/sh" } },
  { exec: [MARK] },
  { "auth-provider": { name: "oidc", config: { "refresh-token": MARK } } },
  { as: "system:admin", token: MARK },
  { "as-groups": ["system:masters"], token: MARK },
  { "client-certificate-data": encoded(PEM("CERTIFICATE")), "client-key-data": encoded(PEM("PRIVATE KEY")) },
  { "client-certificate": "/etc/kubernetes/pki/admin.crt", "client-key": "/etc/kubernetes/pki/admin.key" },
  { "client-key-data": MARK },
];
const CLUSTERS: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { "certificate-authority-data": encoded(PEM("CERTIFICATE")) },
  { "certificate-authority-data": MARK },
  { "certificate-authority": "/etc/passwd" },
  { "proxy-url": `http://jane:${MARK}@127.0.0.1:3128` },
  { "insecure-skip-tls-verify": "yes" },
  { "tls-server-name": "a\r\nb" },
];

const nameOr = (name: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(name) }, { weight: 1, arbitrary: hostileText });

/** Kubeconfigs for a server: such as work, such as ask for what is ours, and such as are none. */
function anyKubeconfig(server: string): fc.Arbitrary<string> {
  const parts = fc.record({
    user: fc.constantFrom(...USERS),
    cluster: fc.constantFrom(...CLUSTERS),
    server: fc.oneof({ weight: 3, arbitrary: fc.constant(server) }, { weight: 1, arbitrary: hostileText }),
    names: fc.tuple(nameOr("c"), nameOr("u"), nameOr("x")),
    odd: fc.option(fc.tuple(fc.constantFrom("clusters", "users", "contexts"), hostileValue)),
  });
  const odd = fc.constantFrom(
    `token: ${MARK}\n  bad: [`,
    "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]",
    "[".repeat(2000),
    "a: ".repeat(500),
    "x".repeat(300_000),
    `!!js/function "${MARK}"`,
    "\u0000\u0001",
    "--- 1\n--- 2\n",
  );
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constant(stringify(configOf({ user: { token: MARK }, cluster: {}, server, names: ["c", "u", "x"], odd: null }))),
    },
    { weight: 4, arbitrary: parts.map((each) => stringify(configOf({ ...each, odd: null }))) },
    { weight: 2, arbitrary: parts.map((each) => JSON.stringify(configOf(each))) },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: hostileText },
  );
}

interface Parts {
  readonly user: unknown;
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly server: string;
  readonly names: readonly [c: string, u: string, x: string];
  readonly odd: readonly [field: string, value: unknown] | null;
}

function configOf({ user, cluster, server, names: [c, u, x], odd }: Parts): unknown {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: c, cluster: { ...cluster, server } }],
    users: [{ name: u, user }],
    contexts: [{ name: x, context: { cluster: c, user: u } }],
    ...(odd === null ? {} : { [odd[0]]: odd[1] }),
  };
}

/** A Secret somebody names for an environment; `undefined`: there is none. */
export function anyEnvironmentSecret(server: string): fc.Arbitrary<UserSecret | undefined> {
  const data = anyKubeconfig(server).map((text) => ({ kubeconfig: Buffer.from(text) }));
  return secretWith(data, "managed-gitops.redhat.com/managed-environment");
}

/** A Secret somebody names for a repository; `undefined`: there is none. */
export function anyRepositorySecret(): fc.Arbitrary<UserSecret | undefined> {
  const words = fc.constantFrom("jane", MARK, `${MARK}\n`, `${MARK}\r\nHost: x`, "", "a:b", `é${MARK}`, MARK.repeat(2000), `${MARK}\u0000`);
  const keys = fc.constantFrom(
    ...[PEM("OPENSSH PRIVATE KEY"), PEM("PRIVATE KEY"), PEM("ENCRYPTED PRIVATE KEY"), PEM("CERTIFICATE"), MARK],
    PEM("RSA PRIVATE KEY").repeat(3000),
  );
  const data = fc
    .record({ username: words, password: words, bearerToken: words, sshPrivateKey: keys, "ssh-privatekey": keys }, { requiredKeys: [] })
    .map((entries) => Object.fromEntries(Object.entries(entries).map(([key, text]) => [key, Buffer.from(text)])));
  return secretWith(data, "managed-gitops.redhat.com/repository-credential");
}

function secretWith(data: fc.Arbitrary<Readonly<Record<string, Uint8Array>>>, usual: string): fc.Arbitrary<UserSecret | undefined> {
  const type = fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...SECRET_TYPES, "Opaque", "") },
  );
  const bytes = fc.uint8Array({ maxLength: 64 }).map((each) => ({ kubeconfig: each, username: each, password: each, sshPrivateKey: each }));
  const content = fc.oneof({ weight: 6, arbitrary: data }, { weight: 1, arbitrary: bytes });
  return fc.option(fc.record({ type, data: content }), { nil: undefined, freq: 8 });
}
