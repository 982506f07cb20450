// In one piece and in the order of the file: docs/configuration.md is made from it.
import { z } from "zod";
import { USUAL_SCALING } from "../domain/capacity.ts";
import { ROLES } from "../domain/role.ts";
import { WORKSPACE_PATTERN } from "../domain/scope.ts";
import { isLoopback } from "../runtime/is-loopback.ts";
import { TOKEN_ROLES } from "../store/token/port.ts";

// Titles name a form in words; complaints and the reference use them, so patterns need no message of their own.
const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/)
  .meta({ title: "a DNS label (up to 63 lower-case letters, digits and dashes)" });
const filePath = z.string().min(1).max(4096).meta({ title: "a path" });
const label = z.string().min(1).max(253).meta({ title: "a name" });
const port = z.int().min(1).max(65_535);
const milliseconds = (min: number, max: number): z.ZodNumber => z.int().min(min).max(max);
const percent = z.number().min(0).max(100);
const upToSix = z.int().min(0).max(6);
const concurrency = z.int().min(1).max(1024);
const requestRate = z.int().min(1).max(100_000);
const hostName = z
  .string()
  .regex(/^[A-Za-z0-9:[]([-A-Za-z0-9.:\]]{0,251}[A-Za-z0-9:\]])?$/)
  .meta({ title: "a host name or address" });
const httpsUrl = z
  .string()
  .refine((text) => protocolOf(text) === "https:")
  // What a JSON schema can say of it.
  .meta({ title: "an https:// URL", pattern: "^https://[^/]" });
const databaseUrl = z
  .string()
  .refine((text) => ["postgres:", "postgresql:"].includes(protocolOf(text) ?? ""))
  .meta({ title: "a postgres:// URL" });
const pem = z
  .string()
  .regex(/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/)
  .meta({ title: "PEM text with at least one certificate" });
const keyId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,63}$/)
  .meta({ title: "up to 63 letters, digits, dots, dashes and underscores" });
const loginName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_$.-]{0,62}$/)
  // PostgreSQL's own names: the first is everybody, however it is quoted.
  .refine((name) => !/^(public|none|pg_.*)$/.test(name))
  .meta({ title: "the name of a PostgreSQL role: a letter, then up to 62 letters, digits and _ $ . -" });
const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .meta({ title: "the name of an environment variable" });

/** Whether what is sent there is read by nobody else: credentials go there. */
function isServerAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  const isPlain = protocol === "http:" && isLoopback(hostname);
  return (protocol === "https:" || isPlain) && pathname === "/" && `${search}${hash}${username}${password}` === "";
}

function protocolOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).protocol : undefined;
}

const serverAddress = z
  .string()
  .refine(isServerAddress)
  .meta({ title: "an https:// URL without a path, or http:// at a loopback address", pattern: "^https?://[^/]+/?$" });
const mountPath = z
  .string()
  .regex(/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+){0,9}$/)
  .meta({ title: "a path of letters, digits, dashes and underscores without a slash at its ends" });

/** The PostgreSQL roles that processes connect as which do not own the tables. */
export const loginNames = z.strictObject({
  controlPlane: loginName.default("argosy_control_plane").describe("PostgreSQL role that processes of every role but api connect as."),
  api: loginName.default("argosy_api").describe("PostgreSQL role that processes of the role api connect as."),
});

/** A key that a Vault keeps for us: what is in the configuration is worth nothing without it. */
export const vaultKey = z.strictObject({
  address: serverAddress.describe("Address of the Vault server, or of one that speaks its protocol."),
  mount: mountPath.default("transit").describe("Path of its transit engine."),
  key: keyId.describe("Name of the key there, which never leaves it."),
  wrapped: z
    .string()
    .max(4096)
    .regex(/^vault:v[0-9]{1,9}:[A-Za-z0-9+/]{16}[A-Za-z0-9+/=]+$/)
    .meta({ title: "a text like vault:v1:… that the server wrapped" })
    .describe("The key that wraps data keys, wrapped by the server: `argosy keys generate` makes one. It is no secret."),
  namespace: mountPath.optional().describe("Namespace of the server, where it has such."),
  tokenFile: filePath
    .optional()
    .describe("File with a token that may decrypt with the key; read for each request. Either this or `kubernetes`."),
  kubernetes: z
    .strictObject({
      role: keyId.describe("Role of the server's Kubernetes login."),
      mount: mountPath.default("kubernetes").describe("Path of that login."),
      tokenFile: filePath
        .default("/var/run/secrets/kubernetes.io/serviceaccount/token")
        .describe("File with the token of the ServiceAccount that logs in."),
    })
    .optional()
    .describe("Logs in by the token of a ServiceAccount."),
  certificateAuthorityFile: filePath.optional().describe("File with authorities, in PEM, that are trusted beside the public ones."),
});

export type VaultKey = z.infer<typeof vaultKey>;

const issuerUrl = z
  .string()
  .max(2000)
  .refine((text) => protocolOf(text) === "https:" || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/.test(text))
  .meta({ title: "an https:// URL", pattern: "^https?://[^/]" });
const names = z.array(z.string().min(1).max(253)).min(1).max(1000);
const audiences = z.array(z.string().min(1).max(1000)).min(1).max(20);

const roleMapping = z.strictObject({
  role: z.enum(TOKEN_ROLES).describe("Role that is given. Of several that apply, each counts where it is given, the highest first."),
  groups: names.optional().describe("Groups whose members get it. At least one of `groups` and `names`."),
  names: names.optional().describe("Names of those that get it, as the issuer says them (`nameClaim`), or the API cluster."),
  classes: names
    .optional()
    .describe(
      "Classes, such as eu/shared/public, that the role is limited to. Without `classes` and `workspaces` it is for the whole fleet.",
    ),
  workspaces: z
    .array(z.string().regex(WORKSPACE_PATTERN).meta({ title: "a namespace, or the beginning of one and *" }))
    .min(1)
    .max(1000)
    .optional()
    .describe("Workspaces that the role is limited to; one may end in *. Nothing but workspaces is seen or changed then."),
});
const roleMappings = z.array(roleMapping).min(1).max(1000);

const issuer = z.strictObject({
  alias: dnsLabel.describe("Short name of the issuer, which stands in the journal. Never give it to another issuer."),
  issuer: issuerUrl.describe(
    "Address of the issuer, letter by letter as tokens have it (`iss`). Its discovery document and keys are read from there over HTTPS; plain HTTP on this machine alone.",
  ),
  audiences: audiences.default(["argosy"]).describe("Tokens have to be for one of these (`aud`)."),
  algorithms: z
    .array(z.enum(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]))
    .min(1)
    .default(["RS256", "PS256", "ES256", "EdDSA"])
    .describe("How tokens may be signed."),
  nameClaim: z
    .string()
    .min(1)
    .max(253)
    .default("sub")
    .describe("Claim that names the caller. One that people can choose or change for themselves lets them be somebody else."),
  groupsClaim: z
    .union([z.string().min(1).max(253), z.array(z.string().min(1).max(253)).min(1).max(5)])
    .default("groups")
    .meta({ title: "a claim, or a list: a claim and fields below it" })
    .describe("Claim that lists the caller's groups."),
  certificateAuthority: pem
    .optional()
    .describe("Certificates in PEM of the only authorities that the issuer's server is trusted by; the public ones by default."),
  clockSkewMs: milliseconds(0, 300_000).default(30_000).describe("How far the issuer's clock may be off, in ms."),
  keepKeysMs: milliseconds(0, 86_400_000)
    .default(3_600_000)
    .describe("How long its keys are used while the issuer does not answer, in ms. A key that it revokes meanwhile is accepted as long."),
  roles: roleMappings.describe("Who gets which role."),
});

const encryptionKey = z.strictObject({
  id: keyId.describe("Name of the key, stored with everything it wraps. Never give it to another key."),
  file: filePath.optional().describe("File that holds 32 bytes in base64. This, `env` or `vault`."),
  env: variableName.optional().describe("Environment variable that holds 32 bytes in base64. This, `file` or `vault`."),
  vault: vaultKey.optional().describe("A Vault's transit key that unwraps the 32 bytes when a process starts. This, `file` or `env`."),
});

/**
 * The configuration file, section by section. Descriptions and defaults are the text of the configuration reference; rules
 * between fields are in `rules.ts`.
 */
export const sections = {
  stateDir: filePath
    .default(".argosy")
    .describe(
      "Directory for what a process keeps by itself: the embedded database when `database.url` is not set. Its parents must be open to other users when Argosy is started as root.",
    ),
  database: z
    .strictObject({
      url: databaseUrl
        .optional()
        .describe(
          "PostgreSQL 15 to 18, as postgres://user:password@host:port/name; the server itself, not a pooler like PgBouncer in transaction mode (see below). The environment variable DATABASE_URL wins over it. Without either an embedded server is started: one node, for evaluation only.",
        ),
      requireVerifiedTls: z
        .boolean()
        .default(false)
        .describe(
          "Whether a connection string is refused that would not verify the server's certificate, its authority and its host name, with every connection: true needs `sslmode=verify-full` in it (see below).",
        ),
      migrate: z
        .enum(["at-start", "by-command"])
        .default("at-start")
        .describe(
          "Who brings the database's schema up to date. at-start: each process, before it serves; several take turns. by-command: `argosy migrate` alone; processes wait until the schema is one that they work with.",
        ),
      grantTo: loginNames
        .optional()
        .describe(
          "Logins that get the rights of Argosy's processes whenever the schema was brought up to date, as `argosy database grant` gives them: processes then need not own the tables (docs/install.md). Make them first.",
        ),
    })
    .prefault({}),
  roles: z
    .union([z.literal("all"), z.array(z.enum([...ROLES, "all"])).min(1)])
    .default("all")
    .describe("What this process does. Every role must run somewhere; several processes may have the same."),
  apiCluster: z
    .strictObject({
      name: dnsLabel
        .default("main")
        .describe("Name of the cluster that holds the users' resources, in ids, labels and metrics. Do not change it later."),
      kubeconfig: filePath.optional().describe("Kubeconfig file. Without it the service account of the pod is used."),
      context: label.optional().describe("Context of the kubeconfig file; its current one by default."),
      instanceServer: httpsUrl
        .optional()
        .describe("Address at which Argo CD instances reach this cluster; by default the one in the kubeconfig file."),
      singleServer: z
        .boolean()
        .default(false)
        .describe(
          "Whether one API server only answers at the cluster's address. Where several may, a live move waits 15 s instead of 2 s to see that the old owner is refused.",
        ),
      instanceCa: pem
        .optional()
        .describe("PEM certificates by which instances trust that address; by default the ones in the kubeconfig file."),
    })
    .prefault({}),
  clusterFilter: z
    .strictObject({
      image: z
        .string()
        .min(1)
        .max(1000)
        .meta({ title: "an image" })
        .optional()
        .describe(
          "Image of Argosy that runs as the filter beside the controllers of pools with `entries: filtered`, and that nodes of engine clusters can pull. The chart gives its own; without one no such instance can be made.",
        ),
    })
    .prefault({}),
  listen: z
    .strictObject({
      host: hostName.default("127.0.0.1").describe("Address to listen on; 0.0.0.0 or :: for all."),
      port: port.default(8080).describe("Port of the REST API."),
      tls: z
        .strictObject({
          certificateFile: filePath.describe(
            "Serves HTTPS, TLS 1.2 or later, instead of plain HTTP: file with the server's certificate in PEM, followed by those of the authorities between it and the one that clients trust. Both files are read again every 30 s; while they are broken or do not fit together, the former stay in use.",
          ),
          keyFile: filePath.describe("File with the certificate's private key in PEM, without a passphrase."),
        })
        .optional()
        .describe(
          "The certificate that the REST API is served with. Without it the API is plain HTTP, which is refused unless `host` is of this machine alone: localhost, 127.0.0.0/8 or ::1.",
        ),
      allowPlainHttp: z
        .boolean()
        .default(false)
        .describe(
          "Whether plain HTTP is served to other machines all the same, tokens in it for whoever listens on the way. For a proxy in the same pod that speaks TLS.",
        ),
    })
    .prefault({}),
  authentication: z
    .strictObject({
      issuers: z
        .array(issuer)
        .max(20)
        .default([])
        .describe("Issuers of OpenID Connect whose tokens the REST API accepts beside those that `argosy token` makes."),
      kubernetes: z
        .strictObject({
          audiences: audiences.default(["argosy"]).describe("Tokens have to be for one of these."),
          rememberMs: milliseconds(0, 60_000)
            .default(10_000)
            .describe(
              "How long the API cluster's word is believed, in ms: the token of an account that was deleted works that much longer.",
            ),
          roles: roleMappings.describe(
            "Who gets which role. A ServiceAccount is named system:serviceaccount:<namespace>:<name>, and all of a namespace are in the group system:serviceaccounts:<namespace>.",
          ),
        })
        .optional()
        .describe(
          "Given, tokens of ServiceAccounts and users of the API cluster are accepted: it is asked about each (TokenReview), which the role api needs a right for (docs/rights.md).",
        ),
    })
    .prefault({}),
  monitoring: z
    .strictObject({
      host: hostName
        .default("127.0.0.1")
        .describe(
          "Address that `/livez`, `/readyz` and `/metrics` of every process are served on, whatever its roles; 0.0.0.0 or :: for all.",
        ),
      port: z
        .int()
        .min(0)
        .max(65_535)
        .default(0)
        .describe(
          "Port of these; they are served before anything else is started, and need no token. 0: any free port, which the log names.",
        ),
    })
    .prefault({}),
  encryption: z
    .strictObject({
      keys: z
        .array(encryptionKey)
        .min(1)
        .describe(
          "Keys that wrap the data keys of stored credentials. Needed with a database of your own; the embedded one has its own key beside it. Keep old ones until nothing is wrapped by them.",
        ),
      current: keyId.optional().describe("Id of the key that wraps what is written from now on; the first one by default."),
    })
    .optional(),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Lowest severity that is written."),
      format: z.enum(["json", "pretty"]).default("json").describe("json: one JSON object a line. pretty: lines for people."),
    })
    .prefault({}),
  limits: z
    .strictObject({
      provisionerConcurrency: concurrency.default(4).describe("Instances that are built or changed at once."),
      repositoryProbes: z
        .int()
        .min(1)
        .max(64)
        .default(4)
        .describe(
          "Probes of users' repositories at once; one workspace has two of them at most. By SSH, and where a host's answer by HTTP is not understood, each is a child process of git with up to 384 MiB of addresses.",
        ),
      unfinishedApplications: z
        .int()
        .min(0)
        .max(100_000)
        .default(64)
        .describe(
          "How many applications of one workspace an instance is given to work on at once, at most. It is given fewer while several take it longer than one does, so that a neighbour's single change does not wait behind a whole burst in Argo CD's queues. Others wait until some are done. One that takes longer than 30 s no longer counts. 0: nothing waits.",
        ),
      databaseConnections: z.int().min(2).max(200).default(20).describe("Connections to PostgreSQL of one process."),
      writeConnections: z
        .int()
        .min(1)
        .max(128)
        .default(16)
        .describe("Connections for writes to one Kubernetes cluster, and as many for reads of single objects."),
      writesPerSecond: z
        .int()
        .min(1)
        .max(100_000)
        .default(1000)
        .describe("Writes per second to one Kubernetes cluster; API priority and fairness does the finer work."),
      requests: z
        .strictObject({
          reads: requestRate.default(100).describe("GET requests per second of one caller to the REST API of one process."),
          writes: requestRate.default(20).describe("Other requests per second of one caller to the REST API of one process."),
          unknown: requestRate
            .default(20)
            .describe(
              "Requests per second without a token, or with one that nobody knows, from one address (of IPv6 the first 64 bits). `/healthz` and `/readyz` do not count.",
            ),
        })
        .prefault({})
        .describe(
          "What one caller may ask of the REST API; ten seconds' worth may come at once. Beyond it the answer is 429 with Retry-After.",
        ),
    })
    .prefault({}),
  moves: z
    .strictObject({
      perInstance: concurrency.default(2).describe("Live moves under way at once to or from one instance that need not be made now."),
      fleet: concurrency
        .default(20)
        .describe("Live moves of any kind under way at once in the whole fleet. Beyond that only evacuations begin."),
      perManagedCluster: concurrency
        .default(1)
        .describe("Live moves under way at once of units that deploy to one of their users' clusters. Evacuations are not held up by it."),
      perOverloadedInstance: concurrency
        .default(4)
        .describe("Live moves under way at once to or from one instance that relieve an overloaded instance."),
      drain: concurrency.default(8).describe("Live moves under way at once to or from one instance that empty an instance."),
      relief: z
        .boolean()
        .default(true)
        .describe(
          "Whether an instance that is overloaded, as its health says, is relieved by live moves without a person. Budgets, freezes, pins and holds apply; no approval is needed.",
        ),
      evacuation: concurrency
        .default(32)
        .describe("Live moves off failed instances under way at once, of one instance and of the whole fleet."),
      approval: z
        .strictObject({
          loadPercent: percent
            .default(5)
            .describe(
              "A plan or drain that moves more than this share of the load, in per cent, and more than `applications`, needs an approver.",
            ),
          applications: z
            .int()
            .min(0)
            .max(1_000_000)
            .default(50)
            .describe("So many applications may be moved without an approver, whatever share of the load they are."),
          workspacePercent: percent
            .default(10)
            .describe(
              "A plan or drain that moves more than this share of the workspaces, in per cent, and more than `workspaces`, needs an approver. 100: never.",
            ),
          workspaces: z
            .int()
            .min(0)
            .max(100_000)
            .default(5)
            .describe("So many workspaces may be moved without an approver, whatever share of all they are."),
        })
        .prefault({})
        .describe("From when on what is moved needs an approver's token. Give the same to every process."),
    })
    .prefault({}),
  sampling: z
    .strictObject({
      periodMs: milliseconds(15_000, 300_000)
        .default(120_000)
        .describe(
          "Time between two observations of what an instance takes, in ms. A flood of changes is seen within it. Shorter times cost instances with thousands of applications tens of megabytes for each observation.",
        ),
    })
    .prefault({}),
  scaling: z
    .strictObject({
      spareMs: milliseconds(10_000, 604_800_000)
        .default(USUAL_SCALING.spareMs)
        .describe("How long one instance fewer has to do before a pool with `scaling: auto` gives one up, in ms."),
      restMs: milliseconds(10_000, 604_800_000)
        .default(USUAL_SCALING.restMs)
        .describe("How long after the last change of such a pool's size none is given up, in ms. Growing waits for nothing."),
    })
    .prefault({}),
  splitting: z
    .strictObject({
      roomyMs: milliseconds(10_000, 2_592_000_000)
        .default(604_800_000)
        .describe(
          "How long fewer parts of a split workspace must have been enough, with 40 % to spare, before two of them are joined, in ms. Cutting waits for nothing.",
        ),
    })
    .prefault({}),
  health: z
    .strictObject({
      periodMs: milliseconds(1_000, 60_000)
        .default(15_000)
        .describe(
          "Time between two observations of how an instance is, in ms; twice that while it is at rest. What has stopped is reported within two minutes with the default.",
        ),
      graceMs: milliseconds(0, 3_600_000)
        .default(300_000)
        .describe("How long an instance's controller may be slow after its start, in ms: it fills its caches then."),
      overloadMs: milliseconds(30_000, 3_600_000)
        .default(300_000)
        .describe(
          "How long comparisons must wait for their turn before an instance counts as overloaded, in ms; a second more for each five new applications.",
        ),
      // A fault that has ended is reported for another minute.
      restartApartMs: milliseconds(60_000, 3_600_000)
        .default(300_000)
        .describe(
          "Time between two restarts of components of one instance, in ms; in twice that time, at most one instance of twenty in the fleet has one restarted, and always one may.",
        ),
      emptyAfter: upToSix
        .default(2)
        .describe("After so many restarts in an hour, an instance that stalls again is emptied by fail-over; 0: never."),
      quarantines: upToSix.default(1).describe("Instances of a pool that may be given to one workspace alone; 0: advice only."),
      canaries: z
        .boolean()
        .default(true)
        .meta({ title: "true or false" })
        .describe(
          "Whether each instance has canaries: three small Applications that are compared and never synced. Without them, a controller that stands still is reported, and restarted, only where users' Applications show it.",
        ),
      canary: z
        .strictObject({
          repository: z
            .string()
            .max(2008)
            .regex(/^https?:\/\/\S+$/)
            .meta({ title: "an http:// or https:// URL" })
            .describe("Repository that every instance can read without a credential."),
          revision: z.string().min(1).max(253).default("HEAD").meta({ title: "a revision" }).describe("What of it is compared."),
          path: z
            .string()
            .min(1)
            .max(1024)
            .default(".")
            .meta({ title: "a path" })
            .describe("Directory of plain manifests in it; a ConfigMap is enough. Nothing of it is ever deployed."),
        })
        .optional()
        .describe(
          "What canaries compare, where that is to be read from Git. By default they compare nothing, which needs no Git host and shows the instance's own parts alone.",
        ),
    })
    .prefault({}),
  accountTokens: z
    .strictObject({
      lifeMs: milliseconds(600_000, 604_800_000)
        .default(43_200_000)
        .describe(
          "How long the tokens are good by which instances enter the API cluster, and users' clusters where Argosy makes accounts, in ms. An API server may give shorter ones.",
        ),
      renewAfterMs: milliseconds(1_000, 403_200_000)
        .default(28_800_000)
        .describe(
          "When such a token is replaced, in ms: up to a quarter sooner, so that not all are at once, and never later than after two thirds of its life. Argo CD lists a cluster anew when its token changes: minutes are for trials.",
        ),
    })
    .prefault({}),
  leases: z
    .strictObject({
      ttlMs: milliseconds(1_000, 600_000).default(15_000).describe("How long a silent process keeps its share of the work, in ms."),
      renewMs: milliseconds(200, 300_000)
        .default(5_000)
        .describe("How often a process says that it lives, in ms; at most half of `ttlMs`."),
    })
    .prefault({}),
  shutdown: z
    .strictObject({
      graceMs: milliseconds(1_000, 3_600_000)
        .default(25_000)
        .describe(
          "How long a process that is asked to stop (SIGTERM) may take for all of it, in ms; then it leaves with exit code 1. During a fifth of it at most other processes prepare to take over. Give less than what stops it waits before it kills: Kubernetes waits 30 s by default.",
        ),
      delayMs: milliseconds(0, 600_000)
        .default(0)
        .describe(
          "How long the REST API goes on taking requests once the process is asked to stop and no longer ready, in ms: whoever sends it requests needs that long to learn of it. A few seconds behind a Service of Kubernetes. At least 5000 less than `graceMs`, or 0.",
        ),
    })
    .prefault({}),
  approvals: z
    .strictObject({
      fleet: z
        .enum(["two-people", "nobody"])
        .default("two-people")
        .describe(
          "Who has to agree when a declaration changes images, egress, engine clusters or what decides about trust. two-people: an approver who did not propose it. nobody: whoever may declare does so alone; for installations of a single person, and `argosy doctor` notes it. The same for every process.",
        ),
    })
    .prefault({}),
  retention: z
    .strictObject({
      operationDays: z.int().min(1).max(3650).default(1).describe("How long completed operations are kept, in days."),
      decisionDays: z
        .int()
        .min(1)
        .max(3650)
        .default(30)
        .describe(
          "How long the journal of decisions, plans that have expired and live moves that have ended are kept, in days. The newest decision about each unit, instance and declaration that is still there stays, so `argosy explain` always has an answer.",
        ),
      auditDays: z
        .int()
        .min(30)
        .max(3650)
        .default(400)
        .describe("How long the audit trail is kept, in days. It is shortened once a day, and can be checked all the same."),
      usageDays: z
        .int()
        .min(1)
        .max(3650)
        .default(40)
        .describe(
          "How long it is kept what instances took hour by hour for whom, in days: as far back as `argosy cost` can see. The default has all of the last month until the tenth of the next.",
        ),
    })
    .prefault({}),
} as const;

export const configSchema = z.strictObject(sections);
export type ParsedConfig = z.output<typeof configSchema>;
