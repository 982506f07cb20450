import { randomBytes } from "node:crypto";
import { createAuthority, issueClient, issueServer } from "../x509.ts";

/**
 * The objects of one Argo CD instance, written by hand from the upstream manifests. The development cluster is tested
 * with these and not with what Argosy renders: otherwise a mistake there could hide the same mistake here.
 */
export function argoCdInstance(namespace: string, version: string): readonly object[] {
  const meta = (name: string) => ({ name, namespace, labels: { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "argocd" } });
  const image = `quay.io/argoproj/argocd:v${version}`;
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } } },
    ...["argocd-application-controller", "argocd-repo-server", "argocd-redis"].map((name) => ({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: meta(name),
    })),
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: meta("argocd-application-controller"),
      rules: [
        { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "list", "watch"] },
        {
          apiGroups: ["argoproj.io"],
          resources: ["applications", "applicationsets", "appprojects"],
          verbs: ["create", "get", "list", "watch", "update", "patch", "delete"],
        },
        { apiGroups: [""], resources: ["events"], verbs: ["create", "list"] },
        { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch"] },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: meta("argocd-application-controller"),
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "argocd-application-controller" },
      subjects: [{ kind: "ServiceAccount", name: "argocd-application-controller", namespace }],
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: meta("argocd-cm"),
      data: {
        "application.resourceTrackingMethod": "annotation",
        "cluster.inClusterEnabled": "false",
        "timeout.reconciliation": "60s",
        "timeout.reconciliation.jitter": "0s",
        "resource.exclusions": "- apiGroups: [argoproj.io]\n  kinds: ['*']\n  clusters: ['*']\n",
      },
    },
    ...["argocd-cmd-params-cm", "argocd-gpg-keys-cm", "argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm"].map((name) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: meta(name),
      data: name === "argocd-ssh-known-hosts-cm" ? { ssh_known_hosts: "" } : {},
    })),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: meta("argocd-secret"),
      stringData: { "server.secretkey": randomBytes(32).toString("base64") },
    },
    { apiVersion: "v1", kind: "Secret", metadata: meta("argocd-redis"), stringData: { auth: randomBytes(16).toString("hex") } },
    ...tlsSecrets(meta),
    service(meta, "argocd-metrics", "argocd-application-controller", [["metrics", 8082]]),
    service(meta, "argocd-repo-server", "argocd-repo-server", [
      ["server", 8081],
      ["metrics", 8084],
    ]),
    service(meta, "argocd-redis", "argocd-redis", [["tcp-redis", 6379]]),
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: meta("argocd-application-controller"),
      spec: {
        replicas: 1,
        serviceName: "argocd-application-controller",
        selector: selector("argocd-application-controller"),
        template: controllerPod(image),
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: meta("argocd-repo-server"),
      spec: { replicas: 1, selector: selector("argocd-repo-server"), template: repoServerPod(image) },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: meta("argocd-redis"),
      spec: { replicas: 1, selector: selector("argocd-redis"), template: redisPod() },
    },
  ];
}

/** Both sides of the connection to the repo-server show a certificate and check the other's. */
function tlsSecrets(meta: (name: string) => object): readonly object[] {
  const authority = createAuthority({ commonName: "repo-server authority" });
  const server = issueServer(authority, { subject: { commonName: "argocd-repo-server" }, names: ["argocd-repo-server"] });
  const client = issueClient(authority, { commonName: "argocd-application-controller" });
  const mutual = { "client-ca.crt": authority.cert, "client.crt": client.cert, "client.key": client.key, "server-ca.crt": authority.cert };
  return [
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: meta("argocd-repo-server-tls"),
      stringData: { "tls.crt": server.cert, "tls.key": server.key, "ca.crt": authority.cert },
    },
    { apiVersion: "v1", kind: "Secret", metadata: meta("argocd-repo-server-mtls"), stringData: mutual },
  ];
}

const selector = (name: string) => ({ matchLabels: { "app.kubernetes.io/name": name } });

function service(meta: (name: string) => object, name: string, pods: string, ports: readonly (readonly [string, number])[]): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: meta(name),
    spec: {
      selector: { "app.kubernetes.io/name": pods },
      ports: ports.map(([port, number]) => ({ name: port, port: number, targetPort: number })),
    },
  };
}

const restricted = {
  runAsNonRoot: true,
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};
const redisPassword = { name: "REDIS_PASSWORD", valueFrom: { secretKeyRef: { name: "argocd-redis", key: "auth" } } };
const optionalParameter = (name: string, key: string) => ({
  name,
  valueFrom: { configMapKeyRef: { name: "argocd-cmd-params-cm", key, optional: true } },
});
const emptyDir = (name: string) => ({ name, emptyDir: {} });
const optionalSecret = (name: string) => ({ name, secret: { secretName: name, optional: true } });
const configMap = (name: string, from: string) => ({ name, configMap: { name: from } });
const labels = (name: string) => ({ labels: { "app.kubernetes.io/name": name } });

function controllerPod(image: string): object {
  const probe = { httpGet: { path: "/healthz", port: 8082 }, initialDelaySeconds: 5, periodSeconds: 10 };
  const timeout = {
    name: "ARGOCD_RECONCILIATION_TIMEOUT",
    valueFrom: { configMapKeyRef: { name: "argocd-cm", key: "timeout.reconciliation", optional: true } },
  };
  const container = {
    name: "argocd-application-controller",
    image,
    args: ["/usr/local/bin/argocd-application-controller"],
    env: [
      redisPassword,
      timeout,
      { name: "ARGOCD_CONTROLLER_REPLICAS", value: "1" },
      { name: "KUBECACHEDIR", value: "/tmp/kubecache" },
      { name: "ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER_CA_CERT_PATH", value: "/app/config/reposerver/mtls/server-ca.crt" },
      optionalParameter("REDIS_SERVER", "redis.server"),
      optionalParameter("ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER", "repo.server"),
    ],
    ports: [{ containerPort: 8082 }],
    readinessProbe: probe,
    securityContext: restricted,
    volumeMounts: [
      { name: "argocd-home", mountPath: "/home/argocd" },
      { name: "tmp", mountPath: "/tmp" },
      { name: "argocd-repo-server-tls", mountPath: "/app/config/controller/tls" },
      { name: "argocd-repo-server-mtls", mountPath: "/app/config/reposerver/mtls" },
      { name: "params", mountPath: "/home/argocd/params" },
    ],
  };
  const volumes = [
    emptyDir("argocd-home"),
    emptyDir("tmp"),
    optionalSecret("argocd-repo-server-tls"),
    optionalSecret("argocd-repo-server-mtls"),
    {
      name: "params",
      configMap: { name: "argocd-cmd-params-cm", optional: true, items: [{ key: "controller.profile.enabled", path: "profiler.enabled" }] },
    },
  ];
  return {
    metadata: labels("argocd-application-controller"),
    spec: {
      serviceAccountName: "argocd-application-controller",
      nodeSelector: { "kubernetes.io/os": "linux" },
      containers: [container],
      volumes,
    },
  };
}

function repoServerPod(image: string): object {
  const container = {
    name: "argocd-repo-server",
    image,
    args: ["/usr/local/bin/argocd-repo-server"],
    env: [
      redisPassword,
      optionalParameter("REDIS_SERVER", "redis.server"),
      ...["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map((name) => ({ name, value: "/helm-working-dir" })),
    ],
    ports: [{ containerPort: 8081 }, { containerPort: 8084 }],
    livenessProbe: {
      httpGet: { path: "/healthz?full=true", port: 8084 },
      initialDelaySeconds: 30,
      periodSeconds: 30,
      failureThreshold: 3,
      timeoutSeconds: 5,
    },
    readinessProbe: { httpGet: { path: "/healthz", port: 8084 }, initialDelaySeconds: 5, periodSeconds: 10 },
    securityContext: restricted,
    volumeMounts: [
      { name: "ssh-known-hosts", mountPath: "/app/config/ssh" },
      { name: "tls-certs", mountPath: "/app/config/tls" },
      { name: "gpg-keys", mountPath: "/app/config/gpg/source" },
      { name: "gpg-keyring", mountPath: "/app/config/gpg/keys" },
      { name: "argocd-repo-server-tls", mountPath: "/app/config/reposerver/tls" },
      { name: "argocd-repo-server-mtls", mountPath: "/app/config/reposerver/mtls" },
      { name: "tmp", mountPath: "/tmp" },
      { name: "helm-working-dir", mountPath: "/helm-working-dir" },
      { name: "plugins", mountPath: "/home/argocd/cmp-server/plugins" },
    ],
  };
  const volumes = [
    ...[
      configMap("ssh-known-hosts", "argocd-ssh-known-hosts-cm"),
      configMap("tls-certs", "argocd-tls-certs-cm"),
      configMap("gpg-keys", "argocd-gpg-keys-cm"),
    ],
    ...[
      emptyDir("gpg-keyring"),
      optionalSecret("argocd-repo-server-tls"),
      optionalSecret("argocd-repo-server-mtls"),
      emptyDir("tmp"),
      emptyDir("helm-working-dir"),
      emptyDir("plugins"),
    ],
  ];
  return {
    metadata: labels("argocd-repo-server"),
    spec: { serviceAccountName: "argocd-repo-server", automountServiceAccountToken: false, containers: [container], volumes },
  };
}

function redisPod(): object {
  const container = {
    name: "redis",
    image: "public.ecr.aws/docker/library/redis:8.2.3-alpine",
    args: ["--save", "", "--appendonly", "no", "--requirepass $(REDIS_PASSWORD)"],
    env: [redisPassword],
    ports: [{ containerPort: 6379 }],
    securityContext: restricted,
  };
  return {
    metadata: labels("argocd-redis"),
    spec: {
      serviceAccountName: "argocd-redis",
      automountServiceAccountToken: false,
      securityContext: { runAsUser: 999 },
      containers: [container],
    },
  };
}
