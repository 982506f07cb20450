type Values = Readonly<Record<string, unknown>>;

const image = { repository: "registry.example/argosy" };
export const EVALUATION: Values = { image, postgresql: { evaluation: true }, withoutCluster: "allow" };
export const OWN_DATABASE: Values = {
  image,
  database: { existingSecret: "argosy-database" },
  encryption: { existingSecret: "argosy-keys" },
  withoutCluster: "allow",
};

const fleet = {
  apiVersion: "argosy.dev/v1alpha1",
  kind: "Fleet",
  engineClusters: [{ name: "here", region: "eu", inCluster: true }],
  versions: {
    default: "3.5.7",
    catalogue: [
      {
        version: "3.5.7",
        image: `quay.io/argoproj/argocd:v3.5.7@sha256:${"57".repeat(32)}`,
        redisImage: `public.ecr.aws/docker/library/redis:8.2.3-alpine@sha256:${"82".repeat(32)}`,
        crds: "/etc/argosy/argo-cd/3.5.7",
      },
    ],
  },
  pools: [],
};

const bad = (path: string, values: Values): { readonly values: Values; readonly path: string } => ({
  path,
  values: { ...EVALUATION, ...values },
});

/** Values that the schema refuses, with the path that its error has to name. */
export const BAD_VALUES: Readonly<Record<string, { readonly values: Values; readonly path: string }>> = {
  "no image": { path: "/image", values: { ...EVALUATION, image: {} } },
  "an image with a tag in its name": bad("/image/repository", { image: { repository: "Registry.example/argosy" } }),
  "an image with its tag": bad("/image/repository", { image: { repository: "registry.example/argosy:0.1.0" } }),
  "a default that is taken away": bad("", { service: null }),
  "a field's default that is taken away": bad("/networkPolicies/database", { networkPolicies: { database: { cidrs: null } } }),
  "no name servers": bad("/networkPolicies/nameServers", { networkPolicies: { nameServers: [] } }),
  "a digest that is none": bad("/image/digest", { image: { ...image, digest: "sha256:abc" } }),
  "a pull policy that is none": bad("/image/pullPolicy", { image: { ...image, pullPolicy: "Sometimes" } }),
  "a pull secret without a name": bad("/image/pullSecrets/0", { image: { ...image, pullSecrets: ["Upper"] } }),
  "a misspelt section": bad("", { databse: { existingSecret: "a" } }),
  "a misspelt field": bad("/database", { database: { existingSecrets: "a" } }),
  "a Secret's name with a space": bad("/database/existingSecret", { database: { existingSecret: "my secret" } }),
  "a key of a Secret with a slash": bad("/database/key", { database: { key: "a/b" } }),
  "a text where true or false belongs": bad("/database/requireVerifiedTls", { database: { requireVerifiedTls: "perhaps" } }),
  "a login for some processes only": bad("/database/logins", { database: { logins: { api: { existingSecret: "a" } } } }),
  "a login with a space": bad("/database/logins/api/role", {
    database: { logins: { controlPlane: { existingSecret: "a" }, api: { existingSecret: "b", role: "a b" } } },
  }),
  "too short a time for a migration": bad("/database/migrationSeconds", { database: { migrationSeconds: 1 } }),
  "a layout that is none": bad("/layout", { layout: "split" }),
  "no replicas": bad("/replicas", { replicas: 0 }),
  "half a replica": bad("/replicas", { replicas: 1.5 }),
  "a role that is none": bad("/workloads", { workloads: { web: { replicas: 1 } } }),
  "an amount of memory that is none": bad("/workloads/api/resources/limits/memory", {
    workloads: { api: { resources: { limits: { memory: "1 gigabyte" } } } },
  }),
  "a user number of root": bad("/postgresql/user", { postgresql: { evaluation: true, user: 0 } }),
  "a Vault that is spoken to in plain text": bad("/encryption/keys/0/vault/address", {
    encryption: { keys: [{ id: "a", vault: { address: "vault.example", key: "argosy", wrapped: `vault:v1:${"A".repeat(40)}` } }] },
  }),
  "no encryption keys": bad("/encryption/keys", { encryption: { keys: [] } }),
  "an encryption key without an id": bad("/encryption/keys/0", { encryption: { keys: [{ key: "first" }] } }),
  "a host of the certificate in capitals": bad("/tls/hosts/0", { tls: { hosts: ["API.Example"] } }),
  "a Service type that is none": bad("/service/type", { service: { type: "External" } }),
  "a port beyond all ports": bad("/service/port", { service: { port: 70_000 } }),
  "a fleet without a kind": bad("/fleet", { fleet: { ...fleet, kind: undefined } }),
  "a fleet of another kind": bad("/fleet/kind", { fleet: { ...fleet, kind: "Navy" } }),
  "a release of the fleet that is none": bad("/fleet/versions/default", {
    fleet: { ...fleet, versions: { ...fleet.versions, default: "latest" } },
  }),
  "a misspelt field of a pool": bad("/fleet/pools/0", {
    fleet: {
      ...fleet,
      pools: [
        {
          name: "standard",
          class: { region: "eu", tier: "a", trust: "b" },
          engineClusters: ["here"],
          instance: { min: 1, max: 1 },
          capacity: {},
        },
      ],
    },
  }),
  "a release of definitions that is none": bad("/argoCdDefinitions/0/version", {
    argoCdDefinitions: [{ version: "3.5", configMap: "a" }],
  }),
  "a section of the configuration that the chart owns": bad("/config", { config: { listen: { port: 80 } } }),
  "a log level that is none": bad("/config/log/level", { config: { log: { level: "loud" } } }),
  "too many connections": bad("/config/limits/databaseConnections", { config: { limits: { databaseConnections: 1000 } } }),
  "a server address without https": bad("/config/apiCluster/instanceServer", {
    config: { apiCluster: { instanceServer: "http://10.0.0.1" } },
  }),
  "an address range without its length": bad("/networkPolicies/database/cidrs/0", {
    networkPolicies: { database: { cidrs: ["10.0.0.1"] } },
  }),
  "a scrape interval without a unit": bad("/monitoring/serviceMonitor/interval", {
    monitoring: { serviceMonitor: { interval: "30" } },
  }),
  "a dashboard that is no text": bad("/monitoring/dashboards/files/fleet.json", {
    monitoring: { dashboards: { files: { "fleet.json": { title: "Fleet" } } } },
  }),
  "tolerations that are no list": bad("/tolerations", { tolerations: { key: "a" } }),
};

const LOGINS = { controlPlane: { existingSecret: "b" }, api: { existingSecret: "c" } };

const VAULT = { address: "https://vault.example", key: "argosy", wrapped: `vault:v1:${"A".repeat(40)}`, tokenFile: "/token" };

/** Values that are right one by one and wrong together, with what is said of them. */
export const WRONG_TOGETHER: Readonly<Record<string, { readonly values: Values; readonly says: string }>> = {
  "no database": { values: { image }, says: "database.existingSecret is missing" },
  "keys that would be made anew at each rendering": {
    values: { ...OWN_DATABASE, encryption: {}, withoutCluster: "refuse" },
    says: "manifests are rendered without a cluster, and the chart would make a key or a password anew each time",
  },
  "a role that would be put back at each rendering": {
    values: { ...OWN_DATABASE, tls: { existingSecret: "c" }, withoutCluster: "refuse" },
    says: "set deployerRole=leave",
  },
  "a Deployment that the layout does not have": {
    values: { ...OWN_DATABASE, workloads: { all: { replicas: 7 } } },
    says: "workloads.all: the layout account-per-role has no such Deployment",
  },
  "a label that selects pods": {
    values: { ...OWN_DATABASE, podLabels: { "app.kubernetes.io/component": "x" } },
    says: "podLabels: app.kubernetes.io/component is a label of the chart's own",
  },
  "one release of Argo CD twice": {
    values: {
      ...OWN_DATABASE,
      argoCdDefinitions: ["a", "b"].map((configMap) => ({ configMap, version: "3.5.7" })),
    },
    says: "argoCdDefinitions names the release 3.5.7 twice",
  },
  "two databases": { values: { ...EVALUATION, database: { existingSecret: "a" } }, says: "give one of them" },
  "logins of an evaluation database": {
    values: { ...EVALUATION, database: { logins: LOGINS } },
    says: "database.logins names logins of a database of yours",
  },
  "logins by kind of process where there is one process": {
    values: { ...OWN_DATABASE, layout: "one-account", database: { existingSecret: "a", logins: LOGINS } },
    says: "give layout account-per-role, or leave it out",
  },
  "a login that is everybody": {
    values: { ...OWN_DATABASE, database: { existingSecret: "a", logins: { ...LOGINS, api: { existingSecret: "c", role: "public" } } } },
    says: "database.logins.api.role: public is PostgreSQL's own name",
  },
  "one role for two logins": {
    values: {
      ...OWN_DATABASE,
      database: { existingSecret: "a", logins: { ...LOGINS, api: { existingSecret: "c", role: "argosy_control_plane" } } },
    },
    says: "database.logins: argosy_control_plane is the role of both logins: name two",
  },
  "keys of no Secret": {
    values: { ...EVALUATION, encryption: { keys: [{ id: "a", key: "a" }] } },
    says: "encryption.keys names keys of a Secret of yours: name it in encryption.existingSecret",
  },
  "one id for two keys": {
    values: {
      ...OWN_DATABASE,
      encryption: {
        existingSecret: "k",
        keys: [
          { id: "a", key: "a" },
          { id: "a", key: "b" },
        ],
      },
    },
    says: "names the id a twice",
  },
  "a key in two places": {
    values: { ...OWN_DATABASE, encryption: { existingSecret: "k", keys: [{ id: "a", key: "a", vault: VAULT }] } },
    says: "encryption.keys: the key a names two places: give either key or vault",
  },
  "a key in no place": {
    values: { ...OWN_DATABASE, encryption: { existingSecret: "k", keys: [{ id: "a" }] } },
    says: "encryption.keys: the key a names no place that it is in: give either key or vault",
  },
  "a current key that is not there": {
    values: { ...OWN_DATABASE, encryption: { existingSecret: "k", current: "b" } },
    says: "which is the id of no key in encryption.keys: give one of first",
  },
  "a delay that leaves no time to stop": {
    values: { ...EVALUATION, config: { shutdown: { graceMs: 6000, delayMs: 5000 } } },
    says: "give at least 5000 less than config.shutdown.graceMs, which is 6000",
  },
  "a wait that leaves no time for the schema": {
    values: { ...OWN_DATABASE, database: { existingSecret: "a", waitSeconds: 100, migrationSeconds: 120 } },
    says: "give at least 30 less than database.migrationSeconds, which is 120",
  },
  "an instance here and no rights for it": {
    values: { ...EVALUATION, hostsInstances: false, fleet },
    says: "set hostsInstances to true",
  },
};
