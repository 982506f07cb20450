// In one piece and in the order of the document: docs/fleet.md is made from it.
import { z } from "zod";
import { REBALANCING_MODES, USUAL_DISK, USUAL_MOVES } from "../../domain/fleet.ts";
import { GROUP_RULES } from "../../domain/groups.ts";
import { ENTRIES } from "../../domain/instance.ts";
import { CLASS_LABELS, SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { QUANTITY } from "../../domain/quantity.ts";
import type { JsonSchema } from "../../domain/schema-field.ts";
import { listFields, renderFieldTable, type SchemaField } from "../../domain/schema-field.ts";
import { FLOOR_SEPARATOR } from "../../domain/version.ts";

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
  .regex(/^\d{1,4}\.\d{1,4}\.\d{1,4}(-[1-9]\d{0,3})?$/)
  .meta({ title: "a release number like 3.5.7, or one of its builds like 3.5.7-2" });
/** One release, or one for each minor that is looked after, is kept as one text. */
const floor = z
  .union([release, z.array(release).min(1).max(20)])
  .transform((one) => (typeof one === "string" ? one : one.join(FLOOR_SEPARATOR)))
  .meta({ title: "a release number like 3.5.1, or a list with one for each minor" });
export const DEFAULT_FLOOR = "3.5.1";
/** Resources of a pool's instances where it does not say. */
export const USUAL_RESOURCES = {
  controller: { cpu: "2", memory: "4Gi" },
  repoServer: { cpu: "1", memory: "1Gi" },
  redis: { cpu: "250m", memory: "256Mi" },
} as const;
const origin = z
  .string()
  .regex(/^\d{1,4}\.\d{1,4}(\.\d{1,4}(-[1-9]\d{0,3})?)?$/)
  .meta({ title: "a release number like 3.5.7, or a minor like 3.5" });
const image = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9._/:]{0,253}[a-z0-9])?(:[A-Za-z0-9_][-A-Za-z0-9._]{0,127}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$/)
  .meta({ title: "an image with its digest, like name:tag@sha256:… or name@sha256:…" });
const directory = z
  .string()
  .max(4096)
  .regex(/^\/.*$/)
  .meta({ title: "the absolute path of a directory on the machine Argosy runs on" });
const secretName = z
  .string()
  .regex(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)
  .meta({ title: `the name of a Secret in ${SYSTEM_NAMESPACE} with the key kubeconfig` });
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
const refusedGroup = z
  .string()
  .max(317)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/[a-z]([-a-z0-9]*[a-z0-9])?)?$/)
  .meta({ title: "an API group in lower case, like kyverno.io, or group/resource, like networking.k8s.io/ingresses" });
const allowedGroup = z
  .string()
  .max(317)
  .regex(/^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/[a-z]([-a-z0-9]*[a-z0-9])?)?)$/)
  .meta({ title: "an API group in lower case, like gateway.networking.k8s.io, or group/resource, like core/podtemplates, or *" });
const cron = z
  .string()
  .max(200)
  .regex(/^[\d*,/ -]+$/)
  .meta({ title: "five fields of cron in digits, like 0 8 * * 1-5: minute, hour, day of month, month, day of week" });
const timezone = z
  .string()
  .regex(/^[A-Za-z][-A-Za-z0-9_+/]{0,62}$/)
  .meta({ title: "a time zone like Europe/Berlin" });
const lasting = z
  .string()
  .regex(/^[1-9]\d{0,4}[mhd]$/)
  .meta({ title: "a time like 30m, 3h or 2d" });
const labelKey = z
  .string()
  .regex(/^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
  .meta({ title: "the key of a label, like team or example.com/cost-center" });
const labelValue = z.string().regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
const classKey = z
  .string()
  .regex(/^[A-Za-z0-9][-A-Za-z0-9_.]{0,62}(\/[A-Za-z0-9][-A-Za-z0-9_.]{0,62}){2,3}$/)
  .meta({ title: "a class like eu/shared/public" });
const price = z.number().min(0).max(1_000_000).meta({ title: "a number from 0 to 1000000" });
/** Beyond any real fleet, and small enough that sums of thousandths stay exact. */
const amount = z.int().min(1).max(1_000_000_000);
const count = z.int().min(1).max(100_000);
// An empty cluster counts 700.
const environmentObjects = z.int().min(1_000).max(100_000).optional();

const components = (what: string, defaults: { readonly cpu: string; readonly memory: string }) => ({
  cpu: quantity.prefault(defaults.cpu).describe(`CPU limit of ${what}. A quarter of it is requested.`),
  memory: quantity.prefault(defaults.memory).describe(`Memory request and limit of ${what}.`),
});

const raised = (what: string) => quantity.optional().describe(`${what} is raised up to here. Absent: it is not.`);
const raisable = z.strictObject({
  controller: z
    .strictObject({ cpu: raised("CPU of the application controller"), memory: raised("Memory of the application controller") })
    .optional(),
  repoServer: z.strictObject({ memory: raised("Memory of each repo-server"), disk: raised("Disk of each repo-server") }).optional(),
});

const engineCluster = z.strictObject({
  name: name.describe("Name by which pools refer to it. Do not change it while instances are there."),
  region: word.describe("Region it stands in. Only pools whose class has this region may use it."),
  inCluster: z
    .boolean()
    .optional()
    .describe("true: the cluster that Argosy itself runs in. Either this or `kubeconfigSecret`, for each cluster exactly one of them."),
  kubeconfigSecret: secretName
    .optional()
    .describe(
      `Secret in the API cluster whose key \`kubeconfig\` is a kubeconfig of this cluster: its name, or ${SYSTEM_NAMESPACE}/name. No other namespace is read; give users no rights in this one.`,
    ),
  reach: z
    .enum(["address", "proxy"])
    .optional()
    .meta({ title: "address or proxy" })
    .describe("How metrics of pods are read: at the pods' addresses, or through the API server. Absent: by address with `inCluster` only."),
});

const catalogueEntry = z.strictObject({
  version: release.describe(
    "Release of Argo CD. What is declared under it never changes: another image of 3.5.7 is declared as a build of it, 3.5.7-2.",
  ),
  image: image.describe("Image of Argo CD for this release. The digest is needed."),
  redisImage: image.describe("Image of the redis that this release is tested with. The digest is needed."),
  crds: directory.describe(
    "Directory on the machine of the control plane with the release's `application-crd.yaml` and `appproject-crd.yaml`.",
  ),
  upgradesFrom: z
    .array(origin)
    .max(100)
    .optional()
    .describe("Releases, or whole minors like 3.5, that may be upgraded to this one. Absent: its own minor and the one before."),
});

const channel = z.strictObject({
  name: word.describe("Name that a pool's `class.channel` gives."),
  default: release.describe("Release that new instances of its pools get. One of `versions` of the channel."),
  versions: z.array(release).min(1).max(100).describe("Releases that its pools may have, each one of the catalogue."),
  first: z
    .boolean()
    .optional()
    .describe(
      "Whether rollouts begin with its pools: all of their instances have a release before any other gets it. Absent: they do not.",
    ),
});

const poolClass = z.strictObject({
  region: word.describe("Region of the instances. That of each of the pool's engine clusters."),
  tier: word.describe("Your own word for the kind of service, e.g. shared."),
  trust: word.describe("Trust class of the workspaces. A workspace of another trust is never placed here."),
  channel: word.optional().describe("Version channel that the instances follow; see `versions.channels`."),
});

const capacity = z.strictObject({
  applications: amount.describe("Applications that one instance bears."),
  clusterEntries: amount.describe(
    "Clusters that one instance may cache: its share of the API cluster, each environment in use and, with `entries: per-workspace`, each workspace. Each takes 39.5 MiB of `resources.controller.memory`.",
  ),
  cachedResources: amount.describe("Kubernetes objects of its applications that one instance may cache."),
  milliCpu: amount.describe("CPU that one instance's controller may use in the long run, in thousandths of a core."),
  gitPerMinute: amount.describe("Git requests a minute that one instance's repo-servers bear."),
});

const engine = z.strictObject({
  statusProcessors: count.default(20).describe("Comparisons that one controller makes at once."),
  operationProcessors: count.default(10).describe("Syncs that one controller makes at once."),
  // One client reads and writes for all workspaces of an instance, where upstream's 50 are meant for one cluster each.
  k8sClientQps: count.default(200).describe("Requests a second that one controller sends to a Kubernetes API server."),
  k8sClientBurst: count.default(400).describe("Requests that it may send at once before that limit holds."),
  reconciliationSeconds: z
    .int()
    .min(5)
    .max(86_400)
    .default(120)
    .describe("Seconds between two comparisons of an application to which nothing happens."),
  reconciliationJitterSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .default(60)
    .describe("Seconds that are added to it at most, drawn for each application, so that they do not all come at once."),
});

const peak = z.strictObject({
  name: name.describe("What people call it. Given once in its pool."),
  schedule: cron.describe("When it begins: five fields of cron, such as `0 8 * * 1-5` for eight o'clock from Monday to Friday."),
  timezone: timezone
    .optional()
    .describe("Whose clock the schedule is by, a name of the IANA database such as `Europe/Berlin`. Absent: UTC."),
  duration: lasting.describe("How long it lasts, 31d at most."),
  factor: z
    .number()
    .min(1.01)
    .max(20)
    .optional()
    .describe("How many times as much CPU and Git requests as otherwise the class of the pool takes then. Either this or `instances`."),
  instances: z.int().min(1).max(1000).optional().describe("Instances that the pool has then at least."),
});

const pool = z.strictObject({
  name: name.describe("Name of the pool. Its instances are called standard-1, standard-2 and so on."),
  class: poolClass,
  engineClusters: z
    .array(name)
    .min(1)
    .max(100)
    .describe("Clusters that host its instances. A new one goes to the cluster with the fewest."),
  instances: z.strictObject({
    min: z.int().min(0).max(1000).describe("Instances that there always are. More are retired when they hold nothing."),
    max: z.int().min(0).max(1000).describe("Instances that there are at most. docs/instances.md says what becomes of more."),
    scaling: z
      .enum(["fixed", "auto"])
      .optional()
      .meta({ title: "fixed or auto" })
      .describe(
        "`auto`: between `min` and `max` there are as many as the load of the class needs, now and by what it was a day and a week ago; one is made before they are full, and one emptied when it is not needed for hours. `fixed`, and absent: `min`. docs/capacity.md tells more.",
      ),
    peaks: z
      .array(peak)
      .max(20)
      .optional()
      .describe(
        "Times of more load that are known beforehand, with `scaling: auto`: what they ask for is there when they begin, and is kept until they end. Of those that overlap the largest counts. docs/capacity.md tells more.",
      ),
  }),
  entries: z
    .enum(ENTRIES)
    .optional()
    .meta({ title: "shared, filtered or per-workspace" })
    .describe(
      "How new instances enter the API cluster. `shared`: by one cluster entry that reads what may be deployed, Secrets among it, in every namespace. `filtered`: by the same entry, through a filter beside the controller, so that an instance caches only the namespaces of its own workspaces. `per-workspace`: by an entry for each workspace that reads its namespace alone; each takes one of `capacity.clusterEntries`. Absent: `shared`. An instance keeps its way: after a change, drain the pool's former ones.",
    ),
  version: release.optional().describe("Release that new instances get. Absent: the default of its channel, else `versions.default`."),
  capacity,
  resources: z
    .strictObject({
      controller: z.strictObject(components("the application controller", USUAL_RESOURCES.controller)).prefault({}),
      repoServer: z
        .strictObject({
          ...components("each repo-server", USUAL_RESOURCES.repoServer),
          replicas: z.int().min(1).max(20).default(1).describe("Repo-servers of one instance."),
          disk: quantity
            .optional()
            .describe(
              `What checkouts of repositories may take of its node's disk, for each repo-server; one that takes more is evicted. Absent: ${USUAL_DISK}.`,
            ),
        })
        .prefault({}),
      redis: z.strictObject(components("redis", USUAL_RESOURCES.redis)).prefault({}),
      max: raisable
        .optional()
        .describe(
          "Up to where resources of an instance are raised by themselves, one instance of a class at a time, where it runs out of them. An amount that is not named is not raised. Nothing lowers them again but a lower maximum. Absent: nothing is raised. docs/capacity.md tells more.",
        ),
    })
    .prefault({}),
  engine: engine.prefault({}),
});

const fleet = z.strictObject({
  apiVersion: z.literal("argosy.dev/v1alpha1").describe("Version of this document."),
  kind: z.literal("Fleet").describe("Kind of this document."),
  engineClusters: z.array(engineCluster).min(1).max(100).describe("Kubernetes clusters that host instances."),
  versions: z.strictObject({
    default: release.describe(
      "Release that new instances get whose pool and channel say nothing else. What runs is changed by `argosy rollout`.",
    ),
    floor: floor
      .prefault(DEFAULT_FLOOR)
      .describe(
        "Oldest release that is safe. An instance below it keeps what it holds and gets nothing new. One of a minor that is not listed is measured by the newest.",
      ),
    catalogue: z.array(catalogueEntry).min(1).max(100).describe("Releases that instances may have."),
    channels: z.array(channel).max(100).optional().describe("Releases for pools that want them sooner, or later, than others."),
  }),
  pools: z.array(pool).max(1000).describe("Groups of equal instances."),
  workspaces: z
    .strictObject({
      selector: z
        .record(labelKey, labelValue)
        .optional()
        .meta({ title: "labels with their values" })
        .describe(
          'Labels that a namespace must have to be a workspace, all of them, such as `argosy.dev/workspace: "true"`. Either this or `everyNamespace`.',
        ),
      everyNamespace: z
        .boolean()
        .optional()
        .describe(
          "true: every namespace is a workspace but `kube-*`, Argosy's own and those of instances, also one that somebody makes for something else.",
        ),
      classes: z
        .array(
          z.strictObject({
            labels: z
              .record(labelKey, labelValue)
              .meta({ title: "labels with their values" })
              .describe(
                `Labels that the namespace must have, all of them. Each begins with \`${CLASS_LABELS}\`, such as \`${CLASS_LABELS}region: us\`; docs/rights.md says who may set those.`,
              ),
            class: classKey.describe(
              "Class that its workspace gets: region, tier, trust and, where pools have one, channel, with slashes between. That of a pool.",
            ),
          }),
        )
        .max(1000)
        .optional()
        .describe(
          "Which new workspaces get another class than that of the first pool. The first rule that fits counts. A workspace that is there already keeps its class.",
        ),
      cpuShares: z
        .array(
          z.strictObject({
            class: classKey.describe("Class that this is for, with slashes. That of a pool."),
            share: z
              .number()
              .min(0.01)
              .max(1)
              .meta({ title: "a number from 0.01 to 1" })
              .describe("Share of `capacity.milliCpu` of its instance that one workspace should take at most, on average of six hours."),
          }),
        )
        .max(1000)
        .optional()
        .describe(
          "Who is reported for taking much of an instance's CPU, by `argosy cost` and `argosy doctor`. Nothing is refused or slowed down for it; health gives whoever overloads an instance one of its own. Absent, or a class is not listed: nobody.",
        ),
      groups: z
        .array(
          z.strictObject({
            label: labelKey.describe(
              `Label of namespaces whose values are groups. It begins with \`${CLASS_LABELS}\`, such as \`${CLASS_LABELS}customer\`; docs/rights.md says who may set those.`,
            ),
            rule: z
              .enum(GROUP_RULES)
              .meta({ title: "apart or together" })
              .describe(
                "`apart`: workspaces with different values never share an instance. `together`: those with one value live on one instance where that is possible; one label at most. A namespace without the label is in no group.",
              ),
          }),
        )
        .max(20)
        .optional()
        .describe("Which workspaces never share an instance, and which live together. docs/instances.md tells more."),
      quota: z
        .strictObject({
          deployments: count.default(100).describe("GitOpsDeployments that one workspace may have."),
          syncsPerMinute: count.default(20).describe("Syncs a minute that one workspace may ask for."),
          environments: count
            .optional()
            .describe(
              "Environments that one workspace may have: a quarter of the smallest pool's `capacity.clusterEntries` at most. Absent: that quarter, or 50 if it is more.",
            ),
          environmentObjects: environmentObjects.describe(
            "Kubernetes objects that an instance may cache of one environment; each API counts as 8. One that has more is not used until it has less. Absent: what takes a tenth of the smallest controller's memory, 20480 of 4Gi.",
          ),
        })
        .prefault({}),
      classQuotas: z
        .array(
          z.strictObject({
            class: classKey.describe("Class that this is for, with slashes. That of a pool."),
            deployments: count.optional().describe("GitOpsDeployments that one workspace of the class may have."),
            syncsPerMinute: count.optional().describe("Syncs a minute that one workspace of the class may ask for."),
            environments: count
              .optional()
              .describe(
                "Environments that one workspace of the class may have: a quarter of the `capacity.clusterEntries` of the class's smallest pool at most.",
              ),
            environmentObjects: environmentObjects.describe(
              "Kubernetes objects that an instance of the class may cache of one environment, counted as in `quota`.",
            ),
          }),
        )
        .max(1000)
        .optional()
        .describe(
          "What of `quota` is another number for workspaces of a class. What an entry leaves out is as `quota` says, and so is all of a class that is not listed. A smaller number takes nothing from anybody who has more. docs/instances.md tells more.",
        ),
    })
    .prefault({}),
  rebalancing: z
    .array(
      z.strictObject({
        class: classKey.describe("Class that this is for, with slashes. That of a pool."),
        mode: z
          .enum(REBALANCING_MODES)
          .meta({ title: "off, propose or auto" })
          .describe(
            "What becomes of moves that need not be made. `propose`: they wait for `argosy apply`, only what leaves an overloaded instance does not. `auto`: they are made, unless a plan moves so much that it needs an approver; while most plans do not do what they promise, it is as `propose`. `off`: nothing is planned, and nothing leaves an overloaded instance. docs/rebalancing.md tells more.",
          ),
        movesPerHour: z
          .int()
          .min(1)
          .max(10_000)
          .default(USUAL_MOVES.perHour)
          .describe("Moves within an hour that need not be made. Four times as many may leave overloaded instances."),
        movesPerDay: z.int().min(1).max(100_000).default(USUAL_MOVES.perDay).describe("The same within a day."),
      }),
    )
    .max(1000)
    .optional()
    .describe("How instances of a class are evened out. Absent, or the class is not listed: `propose`, without a limit of a day."),
  cost: z
    .strictObject({
      prices: z
        .strictObject({
          cpuCoreHour: price.describe("What an hour of one core costs, in whatever unit."),
          memoryGibHour: price.describe("What an hour of a GiB of memory costs, in the same."),
        })
        .optional()
        .describe("What `argosy cost` multiplies amounts with. Absent: it shows core hours and GiB hours alone."),
      labels: z
        .array(labelKey)
        .min(1)
        .max(20)
        .optional()
        .describe(
          "Labels of namespaces by which `argosy cost` can sum up. They are recorded as they were last seen. Absent: none. Who may label a namespace decides what they say.",
        ),
    })
    .optional()
    .describe("How what instances took is shown. docs/cost.md tells more."),
  egress: z
    .strictObject({
      allow: z
        .array(cidr)
        .max(1000)
        .default([])
        .describe("Private addresses that instances may reach: repositories and users' clusters inside. docs/instances.md tells more."),
      apiServers: z
        .array(cidr)
        .max(1000)
        .optional()
        .describe(
          "Private addresses of API servers, which only application controllers may reach. Needed wherever API servers have private addresses.",
        ),
      http: z.array(host).max(1000).default([]).describe("Hosts whose repositories may be read over plain HTTP."),
      certificateAuthorities: z
        .array(
          z.strictObject({
            host: tlsHost.describe("Git host that this is for."),
            certificates: certificates.describe("Certificates that are trusted for this host instead of the public authorities'."),
          }),
        )
        .max(200)
        .optional()
        .describe("Certificates for Git hosts that no public authority vouches for."),
      sshKnownHosts: hostKeys
        .optional()
        .describe("Host keys of Git hosts, as `ssh-keyscan` prints them, beside those of the large public hosts."),
    })
    .prefault({}),
  deployments: z
    .strictObject({
      allowedGroups: z
        .array(allowedGroup)
        .max(1000)
        .optional()
        .describe(
          'What workspaces may deploy to the API cluster beside the kinds of Kubernetes that docs/rights.md lists: API groups, each by its exact name, or one kind as group/resource. `["*"]`: every group that is not refused, also those of operators that are installed later. Absent: none.',
        ),
      refusedGroups: z
        .array(refusedGroup)
        .max(1000)
        .optional()
        .describe(
          "API groups, each with all below it, or single kinds as group/resource, that nobody may deploy to the API cluster, whatever is allowed. Replaces the built-in list; docs/instances.md has it.",
        ),
    })
    .optional(),
});

/** A Fleet document as people write it. */
export type FleetInput = z.input<typeof fleet>;

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

export const FLEET_SCHEMA: JsonSchema = z.toJSONSchema(fleet, { io: "input" }) as JsonSchema;

/** Every field and section of a Fleet document in its order; the whole document first, with an empty path. */
export const fleetFields: readonly SchemaField[] = listFields(FLEET_SCHEMA);

/** Every field of a Fleet document as a Markdown table: path, type, default, meaning. */
export function renderFleetReference(): string {
  return renderFieldTable(fleetFields);
}
