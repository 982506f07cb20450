import { z } from "zod";
import { QUANTITY } from "../../domain/quantity.ts";
import { FLOORS } from "../../domain/version.ts";

// Titles name a form in words; complaints use them, so that patterns need no message of their own.
const name = z
  .string()
  .regex(/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/)
  .meta({ title: "a name of up to 40 lower-case letters, digits and dashes that begins with a letter" });
const word = z
  .string()
  .regex(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
  .meta({ title: "a word of up to 63 letters, digits, dashes, dots and underscores" });
const release = z
  .string()
  .regex(/^\d{1,4}\.\d{1,4}\.\d{1,4}$/)
  .meta({ title: "a release number like 3.5.7" });
/** One release, or one for each minor that is looked after, is kept as one text. */
const floor = z
  .union([release, z.array(release).min(1).max(20)])
  .transform((one) => (typeof one === "string" ? one : one.join(FLOORS)))
  .meta({ title: "a release number like 3.5.1, or a list with one for each minor" });
const origin = z
  .string()
  .regex(/^\d{1,4}\.\d{1,4}(\.\d{1,4})?$/)
  .meta({ title: "a release number like 3.5.7, or a minor like 3.5" });
const image = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9._/:]{0,253}[a-z0-9])?:[A-Za-z0-9_][-A-Za-z0-9._]{0,127}(@sha256:[0-9a-f]{64})?$/)
  .meta({ title: "an image with a tag, and best with its digest too" });
const directory = z
  .string()
  .regex(/^\/.{0,4095}$/)
  .meta({ title: "the absolute path of a directory on the machine Argosy runs on" });
const secretName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)
  .meta({ title: "namespace/name of a Secret with the key kubeconfig" });
const quantity = z
  .union([z.number().positive(), z.string().regex(QUANTITY)])
  .transform(String)
  .meta({ title: "an amount like 2, 500m or 4Gi" });
const cidr = z
  .string()
  .regex(/^[0-9A-Fa-f.:]{2,45}\/\d{1,3}$/)
  .meta({ title: "a range of addresses like 10.1.0.0/16" });
const host = z
  .string()
  .regex(/^[A-Za-z0-9:[]([-A-Za-z0-9.:\]]{0,251}[A-Za-z0-9\]])?$/)
  .meta({ title: "a host name or address" });
const certificates = z
  .string()
  .max(65_536)
  .regex(/^\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/)
  .meta({ title: "one or more certificates in PEM" });
/** Argo CD keeps them in a ConfigMap by the host's name, and its keys take no colon. */
const tlsHost = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)
  .meta({ title: "a host name in lower case, or an IPv4 address, without a port" });
const hostKeys = z
  .string()
  .max(262_144)
  .regex(/^[\t\r\n -~]*$/)
  .meta({ title: "lines of a known_hosts file in ASCII" });
const apiGroup = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
  .meta({ title: "an API group in lower case, like kyverno.io" });
const labelKey = z.string().regex(/^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
const labelValue = z.string().regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
/** Beyond any real fleet, and small enough that sums of thousandths stay exact. */
const amount = z.int().min(1).max(1_000_000_000);
const count = z.int().min(1).max(100_000);

const components = (defaults: { readonly cpu: string; readonly memory: string }) => ({
  cpu: quantity.default(defaults.cpu),
  memory: quantity.default(defaults.memory),
});

const pool = z.strictObject({
  name,
  class: z.strictObject({ region: word, tier: word, trust: word, channel: word.optional() }),
  engineClusters: z.array(name).min(1).max(100),
  instances: z.strictObject({ min: z.int().min(0).max(1000), max: z.int().min(0).max(1000) }),
  version: release.optional(),
  capacity: z.strictObject({
    applications: amount,
    clusterEntries: amount,
    cachedResources: amount,
    milliCpu: amount,
    gitPerMinute: amount,
  }),
  resources: z
    .strictObject({
      controller: z.strictObject(components({ cpu: "2", memory: "4Gi" })).prefault({}),
      repoServer: z.strictObject({ ...components({ cpu: "1", memory: "1Gi" }), replicas: z.int().min(1).max(20).default(1) }).prefault({}),
      redis: z.strictObject(components({ cpu: "250m", memory: "256Mi" })).prefault({}),
    })
    .prefault({}),
  engine: z
    .strictObject({
      statusProcessors: count.default(20),
      operationProcessors: count.default(10),
      // One client reads and writes for all workspaces of an instance, where upstream's 50 are meant for one cluster each.
      k8sClientQps: count.default(200),
      k8sClientBurst: count.default(400),
      reconciliationSeconds: z.int().min(5).max(86_400).default(120),
      reconciliationJitterSeconds: z.int().min(0).max(86_400).default(60),
    })
    .prefault({}),
});

const fleet = z.strictObject({
  apiVersion: z.literal("argosy.dev/v1alpha1"),
  kind: z.literal("Fleet"),
  engineClusters: z
    .array(
      z.strictObject({
        ...{ name, region: word, inCluster: z.boolean().optional(), kubeconfigSecret: secretName.optional() },
        reach: z.enum(["address", "proxy"]).optional().meta({ title: "address or proxy" }),
      }),
    )
    .min(1)
    .max(100),
  versions: z.strictObject({
    default: release,
    floor: floor.default("3.5.1"),
    catalogue: z
      .array(
        z.strictObject({ version: release, image, redisImage: image, crds: directory, upgradesFrom: z.array(origin).max(100).optional() }),
      )
      .min(1)
      .max(100),
    channels: z
      .array(z.strictObject({ name: word, default: release, versions: z.array(release).min(1).max(100) }))
      .max(100)
      .optional(),
  }),
  pools: z.array(pool).max(1000),
  workspaces: z
    .strictObject({
      selector: z.record(labelKey, labelValue).default({}),
      quota: z.strictObject({ deployments: count.default(100), syncsPerMinute: count.default(20) }).prefault({}),
    })
    .prefault({}),
  egress: z
    .strictObject({
      allow: z.array(cidr).max(1000).default([]),
      apiServers: z.array(cidr).max(1000).optional(),
      http: z.array(host).max(1000).default([]),
      certificateAuthorities: z
        .array(z.strictObject({ host: tlsHost, certificates }))
        .max(200)
        .optional(),
      sshKnownHosts: hostKeys.optional(),
    })
    .prefault({}),
  deployments: z.strictObject({ refusedGroups: z.array(apiGroup).max(1000).optional() }).optional(),
});

/** A Fleet document as people write it, with every default filled in and every field of the right form. */
export type FleetDocument = z.infer<typeof fleet>;

/** What is wrong with the form of one field. Never holds the value: it may be a secret in the wrong place. */
export interface ShapeIssue {
  readonly path: readonly (string | number)[];
  readonly kind: "missing" | "unknown" | "malformed" | "too small" | "too large";
  /** The bound, for the last two kinds. */
  readonly bound: number | undefined;
}

export type Shape =
  | { readonly ok: true; readonly document: FleetDocument }
  | { readonly ok: false; readonly issues: readonly ShapeIssue[] };

/** Checks the form of a document of unknown shape: all issues at once, in the order of the fields. */
export function checkShape(document: unknown): Shape {
  const result = fleet.safeParse(document, { reportInput: true });
  return result.success ? { ok: true, document: result.data } : { ok: false, issues: result.error.issues.flatMap(shapeIssues) };
}

function shapeIssues(issue: z.core.$ZodIssue): readonly ShapeIssue[] {
  const path = issue.path.map((key) => (typeof key === "number" ? key : String(key)));
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ path: [...path, key], kind: "unknown", bound: undefined }));
  if (issue.input === undefined) return [{ path, kind: "missing", bound: undefined }];
  if (issue.code === "too_small") return [{ path, kind: "too small", bound: Number(issue.minimum) }];
  if (issue.code === "too_big") return [{ path, kind: "too large", bound: Number(issue.maximum) }];
  return [{ path, kind: "malformed", bound: undefined }];
}

/** A node of the JSON schema of a Fleet document, as far as complaints read it. */
export interface SchemaNode {
  readonly title?: string;
  readonly type?: string;
  readonly const?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

export const FLEET_SCHEMA: SchemaNode = z.toJSONSchema(fleet, { io: "input" }) as SchemaNode;
