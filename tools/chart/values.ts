// In one piece and in the order of values.yaml, which is made from it.
import { z } from "zod";
import { loginNames, sections, vaultKey } from "../../src/config/schema.ts";
import { ROLES } from "../../src/domain/role.ts";
import { FLEET_SCHEMA } from "../../src/instance-provisioner/fleet-schema/schema.ts";

const objectName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/)
  .meta({ title: "the name of a Kubernetes object" });
const secretKey = z
  .string()
  .regex(/^[-._a-zA-Z0-9]{1,253}$/)
  .meta({ title: "a key of a Secret or ConfigMap" });
const keyId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,63}$/)
  .meta({ title: "up to 63 letters, digits, dots, dashes and underscores" });
const quantity = z
  .union([z.number().positive(), z.string().regex(/^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/)])
  .meta({ title: "an amount like 2, 500m or 4Gi" });
const cidr = z
  .string()
  .regex(/^[0-9A-Fa-f.:]{2,45}\/[0-9]{1,3}$/)
  .meta({ title: "a range of addresses like 10.1.0.0/16" });
const port = z.int().min(1).max(65_535);
const labels = z
  .record(z.string().regex(/^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/), z.string())
  .meta({ title: "names with their values" });
/** What Kubernetes itself checks, when the object is made. */
const kubernetes = z.record(z.string(), z.unknown());
const peers = z.array(kubernetes).meta({ title: "a list of NetworkPolicyPeers" });
const cidrs = z.array(cidr).max(1000);
const replicas = z.int().min(1).max(50);

const amounts = (what: string) =>
  z.strictObject({
    cpu: quantity.optional().describe(`CPU that ${what}.`),
    memory: quantity.optional().describe(`Memory that ${what}.`),
  });
const resources = z
  .strictObject({ requests: amounts("a node keeps free for it").optional(), limits: amounts("it may take at most").optional() })
  .meta({ title: "resources of a container" });

const workload = z.strictObject({
  replicas: replicas.optional().describe("Pods of this Deployment; `replicas` by default."),
  resources: resources.optional().describe("Resources of its container instead of those of the table in docs/install.md."),
  nodeSelector: labels.optional().describe("Labels of the nodes that it may run on; `nodeSelector` by default."),
});

const login = (role: keyof typeof loginNames.shape, who: string) =>
  z.strictObject({
    existingSecret: objectName.describe(`Secret of the release namespace with the connection string that ${who} use.`),
    key: secretKey.default("url").describe("Key of that Secret."),
    role: loginNames.shape[role].describe(
      "PostgreSQL role that the connection string logs in as. It gets its rights after each migration.",
    ),
  });

/** What of Argosy's configuration is set by values: the chart sets the rest itself. */
const { kubeconfig: _file, context: _context, ...apiCluster } = sections.apiCluster.unwrap().shape;
const config = z
  .strictObject({
    apiCluster: z
      .strictObject(apiCluster)
      .partial()
      .optional()
      .describe("The cluster with the users' resources, which is the one of this release."),
    ...Object.fromEntries(
      (["authentication", "log", "limits", "moves", "sampling", "scaling", "health", "leases", "shutdown", "retention"] as const).map(
        (name) => [name, sections[name].unwrap().partial().optional()],
      ),
    ),
  })
  .meta({ title: "sections of Argosy's configuration" });

/** The values of the chart, with their defaults and meanings. */
export const valuesSchema = z.strictObject({
  image: z
    .strictObject({
      repository: z
        .string()
        .max(255)
        .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?(\/[a-z0-9]([-a-z0-9._]*[a-z0-9])?)+$|^[a-z0-9]([-a-z0-9._]*[a-z0-9])?$/)
        .meta({ title: "an image without tag" })
        .describe("Where Argosy's image was pushed to. `npm run release` makes the image (docs/release.md)."),
      tag: z
        .string()
        .regex(/^([A-Za-z0-9_][-A-Za-z0-9._]{0,127})?$/)
        .default("")
        .meta({ title: "a tag" })
        .describe("Tag of the image. Empty: the version of Argosy that the chart is for (appVersion)."),
      digest: z
        .string()
        .regex(/^(sha256:[0-9a-f]{64})?$/)
        .default("")
        .meta({ title: "a digest like sha256:…" })
        .describe("Digest of the image. Given, nodes run these bytes and no others."),
      pullPolicy: z.enum(["IfNotPresent", "Always", "Never"]).default("IfNotPresent").describe("When nodes fetch the image."),
      pullSecrets: z.array(objectName).max(10).default([]).describe("Secrets of the release namespace that nodes fetch it with."),
    })
    .describe("Argosy's container image."),
  layout: z
    .enum(["account-per-role", "one-account"])
    .default("account-per-role")
    .describe(
      "account-per-role: each role has a Deployment, a ServiceAccount and the rights that it needs. one-account: one Deployment does everything with the rights of all, which takes less memory; for small fleets whose users are trusted.",
    ),
  replicas: replicas.default(2).describe("Pods of each Deployment. One works too, and stops for the time in which it is replaced."),
  workloads: z
    .strictObject(Object.fromEntries([...ROLES, "all"].map((name) => [name, workload.optional()])))
    .default({})
    .describe("What is different for one Deployment: a role's, or `all` with the layout one-account."),
  database: z
    .strictObject({
      existingSecret: z
        .union([objectName, z.literal("")])
        .default("")
        .describe(
          "Secret of the release namespace with the connection string of PostgreSQL 15 to 18: postgres://user:password@host:5432/name?sslmode=verify-full. Required unless `postgresql.evaluation` is true.",
        ),
      key: secretKey.default("url").describe("Key of that Secret."),
      logins: z
        .strictObject({
          controlPlane: login("controlPlane", "the processes of every role but api"),
          api: login("api", "the processes of the role api, the Job that declares the fleet and the test"),
        })
        .optional()
        .describe(
          "Given, processes connect as PostgreSQL roles that own no tables, and `existingSecret` is the owner's, which the migration alone uses (docs/install.md). Make both roles first. For the layout account-per-role.",
        ),
      certificateAuthority: z
        .strictObject({
          existingSecret: objectName.describe("Secret with the certificates, in PEM, of the authority that vouches for the server."),
          key: secretKey
            .default("ca.crt")
            .describe(
              "Key of that Secret. It is mounted as /etc/argosy/database/ca.crt: add `&sslrootcert=/etc/argosy/database/ca.crt` to the connection string.",
            ),
        })
        .optional()
        .describe("Given where no public authority vouches for the server."),
      requireVerifiedTls: z
        .boolean()
        .default(true)
        .describe("Whether a connection string is refused that does not verify the server's certificate and name (sslmode=verify-full)."),
      waitSeconds: z
        .int()
        .min(0)
        .max(3600)
        .default(120)
        .describe(
          "How long an installation or an upgrade waits for a database that does not answer or refuses the user, in seconds, before it fails. Helm itself waits five minutes (`--timeout`).",
        ),
      migrationSeconds: z
        .int()
        .min(60)
        .max(86_400)
        .default(600)
        .describe(
          "How long the pod that brings the schema up to date may take, in seconds. It runs before anything is installed or changed. At least 30 more than `waitSeconds`; give helm as much (`--timeout`).",
        ),
    })
    .prefault({})
    .describe("Where Argosy keeps its rows."),
  postgresql: z
    .strictObject({
      evaluation: z
        .boolean()
        .default(false)
        .describe(
          "true: the release brings a single PostgreSQL without replica, backup or TLS. To try Argosy out; never for a fleet that matters.",
        ),
      image: z
        .string()
        .min(1)
        .max(512)
        .default("docker.io/library/postgres:18")
        .meta({ title: "an image" })
        .describe("Image with `initdb` and `postgres` of PostgreSQL 15 to 18 and `sh` on its PATH."),
      user: z
        .int()
        .min(1)
        .max(2_147_483_647)
        .default(999)
        .describe("Number of the user that it runs as. The image has to know a name for it. Fixed at the first installation."),
      storage: quantity.default("10Gi").describe("Size of its volume. Fixed at the first installation."),
      storageClass: z
        .union([objectName, z.literal("")])
        .default("")
        .describe("StorageClass of its volume. Empty: the cluster's default. Fixed at the first installation."),
      resources: resources
        .default({ requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "1Gi" } })
        .describe("Resources of its container."),
    })
    .prefault({})
    .describe("A database to try Argosy out with."),
  encryption: z
    .strictObject({
      existingSecret: z
        .union([objectName, z.literal("")])
        .default("")
        .describe(
          "Secret with the keys that wrap users' credentials, each 32 bytes in base64. Empty: the Secret argosy-encryption is made with one key at the first install and stays after an uninstall. Back it up: without it the credentials in the database are lost.",
        ),
      keys: z
        .array(
          z.strictObject({
            id: keyId.describe("Name of the key, stored with everything that it wraps."),
            key: secretKey.optional().describe("Key of the Secret that holds it. Either this or `vault`."),
            vault: vaultKey
              .omit({ certificateAuthorityFile: true })
              .optional()
              .describe("A Vault's transit key that unwraps it when a process starts (docs/configuration.md). Either this or `key`."),
          }),
        )
        .min(1)
        .max(50)
        .default([{ id: "first", key: "first" }])
        .describe("Keys, in that Secret or kept by a Vault. Keep old ones until nothing is wrapped by them (`argosy keys`)."),
      vaultAuthority: z
        .strictObject({
          existingSecret: objectName.describe("Secret of the release namespace with the authorities, in PEM, that vouch for the Vault."),
          key: secretKey.default("ca.crt").describe("Key of that Secret."),
        })
        .optional()
        .describe("Given where no public authority vouches for the Vault."),
      current: z
        .union([keyId, z.literal("")])
        .default("")
        .describe("Id of the key that wraps what is written from now on. Empty: the first one."),
    })
    .prefault({})
    .describe("Keys for what is stored encrypted."),
  tls: z
    .strictObject({
      existingSecret: z
        .union([objectName, z.literal("")])
        .default("")
        .describe(
          "Secret of type kubernetes.io/tls with the certificate of the REST API. Empty: one is made at install, with an authority of its own, for ten years.",
        ),
      authority: z
        .boolean()
        .default(true)
        .describe("Whether that Secret has a key ca.crt with the authority that vouches for the certificate. false: a public one does."),
      hosts: z
        .array(z.string().regex(/^[a-z0-9*]([-a-z0-9.]{0,251}[a-z0-9])?$/))
        .max(50)
        .default([])
        .describe("Further host names for the certificate that is made."),
    })
    .prefault({})
    .describe("TLS of the REST API."),
  service: z
    .strictObject({
      type: z
        .enum(["ClusterIP", "NodePort", "LoadBalancer"])
        .default("ClusterIP")
        .describe("Type of the REST API's Service. Name who comes from outside of the cluster in `networkPolicies.apiFrom`."),
      port: port.default(8080).describe("Its port."),
      annotations: labels.default({}).describe("Its annotations."),
    })
    .prefault({})
    .describe("The Service argosy-api, at which REST is reached."),
  withoutCluster: z
    .enum(["refuse", "allow"])
    .default("refuse")
    .describe(
      "What becomes of keys and passwords that the chart would make, where manifests are rendered without a cluster (helm template, GitOps). refuse: an error, because they would be made anew each time, and what the one before wrapped is lost. allow: they are made, to see the manifests.",
    ),
  listenAddress: z
    .enum(["::", "0.0.0.0"])
    .default("::")
    .describe("Address that processes listen on: all, of IPv4 and IPv6. 0.0.0.0 where nodes were started without IPv6."),
  platformChoosesUser: z
    .boolean()
    .default(false)
    .describe(
      "true: pods name no user, and the platform gives them one, as OpenShift does. The evaluation database needs an image that runs as any user then.",
    ),
  deployerRole: z
    .enum(["make", "leave"])
    .default("make")
    .describe(
      "Whether the ClusterRole argosy-deployer is made where it is not there. Argosy keeps its rules in step with the kinds that the cluster serves. leave: somebody made it by hand, once; for GitOps, which would put it back at each sync.",
    ),
  hostsInstances: z
    .boolean()
    .default(true)
    .describe(
      "Whether this cluster hosts Argo CD instances (an engine cluster with `inCluster: true`). false: Argosy gets no rights for that here.",
    ),
  fleet: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "The fleet document (docs/fleet.md). Given, it is declared after each install, upgrade and rollback, as `argosy apply` does. Absent: declare it yourself.",
    ),
  argoCdDefinitions: z
    .array(
      z.strictObject({
        configMap: objectName.describe(
          "ConfigMap of the release namespace with application-crd.yaml and appproject-crd.yaml of one Argo CD release.",
        ),
        version: z
          .string()
          .regex(/^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}$/)
          .meta({ title: "a release number like 3.5.7" })
          .describe(
            "That release. The files are mounted at /etc/argosy/argo-cd/<version>, which `versions.catalogue[].crds` of the fleet names.",
          ),
      }),
    )
    .max(100)
    .default([])
    .describe("Definitions of Argo CD's kinds that Argosy installs on engine clusters, one entry for each release of the catalogue."),
  config: config
    .default({})
    .describe(
      "Sections of the configuration (docs/configuration.md) that differ from their defaults. Of these the chart has one of its own: `shutdown.delayMs` is 5000.",
    ),
  networkPolicies: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether NetworkPolicies allow the flows of docs/install.md and no others, to and from every pod of the release."),
      apiFrom: peers
        .default([{ podSelector: {} }])
        .describe(
          "Who reaches the REST API besides the chart's own Job and test. By default pods of the release namespace; `kubectl port-forward` works whatever it says.",
        ),
      monitoringFrom: peers
        .default([{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }])
        .describe("Who reads /metrics of every process."),
      nameServers: peers
        .min(1)
        .default([
          { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } },
          { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "openshift-dns" } } },
          { ipBlock: { cidr: "169.254.20.10/32" } },
        ])
        .describe("The cluster's name servers, reached on ports 53 and 5353."),
      kubernetes: z
        .strictObject({
          cidrs: cidrs
            .min(1)
            .default(["0.0.0.0/0", "::/0"])
            .describe(
              "Addresses of the API servers of this cluster and of engine clusters: those of the Service `kubernetes` and of its endpoints.",
            ),
          ports: z.array(port).min(1).max(20).default([443, 6443]).describe("Their ports, of Service and endpoints."),
        })
        .prefault({})
        .describe("API servers, which every role reaches."),
      database: z
        .strictObject({
          cidrs: cidrs.min(1).default(["0.0.0.0/0", "::/0"]).describe("Addresses of PostgreSQL."),
          port: port.default(5432).describe("Its port."),
        })
        .prefault({})
        .describe("PostgreSQL, unless it is that of `postgresql.evaluation`."),
      vault: z
        .strictObject({
          cidrs: cidrs.min(1).default(["0.0.0.0/0", "::/0"]).describe("Addresses of the Vault."),
          port: port.default(8200).describe("Its port."),
        })
        .prefault({})
        .describe("The Vault that keeps encryption keys, where there is one."),
      outside: z
        .strictObject({
          cidrs: cidrs.default(["0.0.0.0/0", "::/0"]).describe("Addresses of users' repositories and clusters."),
          except: cidrs
            .default(["169.254.0.0/16", "100.100.100.200/32", "fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128"])
            .describe(
              "Addresses among 0.0.0.0/0 and ::/0 that nobody reaches; by default the metadata services of clouds. With other `cidrs` it is not used.",
            ),
          ports: z.array(port).min(1).max(100).default([22, 80, 443, 6443]).describe("Their ports."),
        })
        .prefault({})
        .describe("What users name: repositories and clusters, which only the roles workspace (both) and reconciler (clusters) reach."),
    })
    .prefault({})
    .describe("Who may speak to whom."),
  monitoring: z
    .strictObject({
      serviceMonitor: z
        .strictObject({
          enabled: z.boolean().default(false).describe("Whether a ServiceMonitor of the Prometheus operator is made."),
          interval: z
            .string()
            .regex(/^[0-9]+(ms|s|m)$/)
            .default("30s")
            .meta({ title: "a time like 30s" })
            .describe("How often metrics are read."),
          labels: labels.default({}).describe("Labels by which your Prometheus finds it."),
        })
        .prefault({}),
      prometheusRule: z
        .strictObject({
          enabled: z.boolean().default(false).describe("Whether a PrometheusRule with `groups` is made."),
          labels: labels.default({}).describe("Labels by which your Prometheus finds it."),
          groups: z
            .array(kubernetes)
            .max(100)
            .default([])
            .meta({ title: "a list of rule groups" })
            .describe("Groups of alerting and recording rules."),
        })
        .prefault({}),
      dashboards: z
        .strictObject({
          labels: labels.default({ grafana_dashboard: "1" }).describe("Labels by which Grafana finds the ConfigMap."),
          files: z
            .record(z.string().regex(/^[-._a-zA-Z0-9]{1,200}\.json$/), z.string())
            .default({})
            .meta({ title: "file names with their JSON" })
            .describe("Dashboards, each a file of JSON. Empty: no ConfigMap is made."),
        })
        .prefault({}),
    })
    .prefault({})
    .describe("What Prometheus and Grafana read."),
  test: z
    .strictObject({
      waitSeconds: z
        .int()
        .min(0)
        .max(3600)
        .default(240)
        .describe(
          "How long it waits until every check passes, in seconds: instances take some time to start. Helm itself waits five minutes (`--timeout`).",
        ),
    })
    .prefault({})
    .describe("What `helm test` does."),
  admissionPolicy: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe(
          "Whether a ValidatingAdmissionPolicy keeps Argosy's own accounts from binding the deployer role cluster-wide and from widening it.",
        ),
    })
    .prefault({})
    .describe("A second barrier against a stolen account of Argosy."),
  priorityLevels: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe(
          "Whether requests of Argosy and of instances' accounts have priority levels of their own. They take concurrency from other levels of the API server while they are busy.",
        ),
    })
    .prefault({})
    .describe("The API server's priority and fairness (docs/install.md#priority-and-fairness)."),
  podDisruptionBudgets: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether each Deployment with more than one pod has a PodDisruptionBudget: one of its pods may be away."),
    })
    .prefault({})
    .describe("What a drain of a node waits for."),
  priorityClassName: z
    .union([objectName, z.literal("")])
    .default("")
    .describe("PriorityClass of the pods, e.g. system-cluster-critical. Empty: the cluster's default."),
  topologySpread: z
    .array(z.string().min(1).max(317))
    .max(5)
    .default(["kubernetes.io/hostname", "topology.kubernetes.io/zone"])
    .describe("Labels of nodes over whose values the pods of a Deployment are spread, where that is possible."),
  nodeSelector: labels.default({}).describe("Labels of the nodes that pods may run on."),
  tolerations: z
    .array(kubernetes)
    .max(50)
    .default([])
    .meta({ title: "a list of tolerations" })
    .describe("Taints of nodes that pods may run on."),
  affinity: kubernetes.default({}).meta({ title: "an affinity" }).describe("Affinity of the pods."),
  podLabels: labels.default({}).describe("Further labels of the pods."),
  podAnnotations: labels.default({}).describe("Further annotations of the pods."),
});

/** The form of the fleet document, which stands in the values schema in place of an open mapping. */
export const FLEET: Readonly<Record<string, unknown>> = FLEET_SCHEMA as Readonly<Record<string, unknown>>;
