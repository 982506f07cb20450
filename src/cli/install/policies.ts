import { FORBIDDEN_CORE, FORBIDDEN_GROUPS } from "../../domain/deployable-kinds.ts";
import {
  ACCOUNTS_NAMESPACE,
  CLASS_LABELS,
  CLASS_LABELS_POLICY,
  DEPLOYER_ROLE,
  LABEL_INSTANCE,
  READER_ROLE,
  SYSTEM_NAMESPACE,
} from "../../domain/names.ts";
import { CONTROLLER_RULES } from "../../instance-provisioner/manifests/access.ts";
import { CONTROLLER } from "../../instance-provisioner/manifests/names.ts";
import { DEPLOYER_VERBS, HARMLESS_SUBRESOURCES } from "../../shard/deployer-rules.ts";
import { READER_VERBS } from "../../shard/reader-rules.ts";
import { type InstallObject, installLabels } from "./install-object.ts";

const ADMISSION = "admissionregistration.k8s.io/v1";

interface Policy {
  readonly name: string;
  readonly resources: readonly { readonly group: string; readonly resources: readonly string[] }[];
  readonly operations: readonly string[];
  /** Who is asked; absent: Argosy's own accounts. */
  readonly asks?: "everybody";
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

/**
 * What Argosy's own accounts may not do although RBAC lets them, and who may give a namespace the labels that decide its class: RBAC knows no right to bind a role to some subjects only, to create some
 * Secrets only, or to write in namespaces with a label. Each policy names what Argosy does, and refuses everything else of that kind;
 * only the one for labels asks others than accounts of its own namespace. They need Kubernetes 1.30.
 *
 * They keep whoever took over one of these processes from giving itself or others more than the process has. They do not keep it from
 * deleting bindings, or from what the process itself may do.
 */
export function renderPolicies(): readonly InstallObject[] {
  return [clusterRoleBindings, roleBindings, roles, clusterRoles, namespaces, definitions, namespacedObjects, tokens, classLabels].flatMap(
    policyObjects,
  );
}

/** A list of texts, as CEL has it. Texts that are put into expressions are names from this code: none has a quote. */
const listed = (texts: Iterable<string>): string => `[${[...texts].map((text) => `'${text}'`).join(", ")}]`;

const ACCOUNTS = `'${ACCOUNTS_NAMESPACE}'`;

const SUBJECTS = [
  { name: "subjects", expression: "has(object.subjects) ? object.subjects : []" },
  { name: "before", expression: "oldObject != null && has(oldObject.subjects) ? oldObject.subjects : []" },
  { name: "added", expression: "variables.subjects.filter(s, !(s in variables.before))" },
  // Its role cannot change, so that it gives nothing which it did not give before.
  { name: "givesNothing", expression: "oldObject != null && variables.added.size() == 0" },
];

/** Whether all subjects that are added are accounts of the accounts namespace: `u` those of units, `read` those of instances. */
const addsAccounts = (kind: "u" | "read"): string =>
  "variables.added.all(s, s.kind == 'ServiceAccount' && has(s.namespace) && " +
  `s.namespace == ${ACCOUNTS} && s.name.startsWith('${kind}-'))`;

const hasInstanceLabel = (object: string): string => `has(${object}.metadata.labels) && '${LABEL_INSTANCE}' in ${object}.metadata.labels`;
const IN_INSTANCE = { name: "isInstance", expression: hasInstanceLabel("namespaceObject") };

const clusterRoleBindings: Policy = {
  name: "argosy-cluster-role-bindings",
  resources: [{ group: "rbac.authorization.k8s.io", resources: ["clusterrolebindings"] }],
  operations: ["CREATE", "UPDATE"],
  variables: SUBJECTS,
  validations: [
    {
      expression: `variables.givesNothing || (object.roleRef.kind == 'ClusterRole' && object.roleRef.name == '${READER_ROLE}' && ${addsAccounts("read")})`,
      message: `Argosy binds ${READER_ROLE} alone in the whole cluster, and to instances' accounts in ${ACCOUNTS_NAMESPACE} alone`,
    },
  ],
};

const roleBindings: Policy = {
  name: "argosy-role-bindings",
  resources: [{ group: "rbac.authorization.k8s.io", resources: ["rolebindings"] }],
  operations: ["CREATE", "UPDATE"],
  variables: [
    ...SUBJECTS,
    IN_INSTANCE,
    {
      // All but the names that are no workspaces' (workspace-policy.ts).
      name: "isWorkspace",
      expression: "!variables.isInstance && !request.namespace.startsWith('argosy-') && !request.namespace.startsWith('kube-')",
    },
    {
      name: "isOwnerBinding",
      expression: `variables.isWorkspace && object.roleRef.kind == 'ClusterRole' && object.roleRef.name == '${DEPLOYER_ROLE}' && ${addsAccounts("u")}`,
    },
    {
      name: "isReader",
      expression: `variables.isWorkspace && object.roleRef.kind == 'ClusterRole' && object.roleRef.name == '${READER_ROLE}' && ${addsAccounts("u")}`,
    },
    {
      name: "isImpersonation",
      expression: `request.namespace == ${ACCOUNTS} && object.roleRef.kind == 'Role' && object.roleRef.name.startsWith('read-') && ${addsAccounts("read")}`,
    },
    {
      name: "isController",
      expression: `variables.isInstance && object.roleRef.kind == 'Role' && object.roleRef.name == '${CONTROLLER}' && variables.added.all(s, s.kind == 'ServiceAccount' && has(s.namespace) && s.namespace == request.namespace && s.name == '${CONTROLLER}')`,
    },
  ],
  validations: [
    {
      expression:
        "variables.givesNothing || variables.isOwnerBinding || variables.isReader || variables.isImpersonation || variables.isController",
      message: `Argosy binds ${DEPLOYER_ROLE} and ${READER_ROLE} in workspaces to units' accounts, instances' Roles in ${ACCOUNTS_NAMESPACE} to instances' accounts, the controller's Role in an instance's namespace to its controller, and nothing else`,
    },
  ],
};

const controllerRule = CONTROLLER_RULES.map(
  ({ apiGroups = [], resources = [], verbs }) =>
    `(rule.apiGroups.all(g, g in ${listed(apiGroups)}) && rule.resources.all(r, r in ${listed(resources)}) && rule.verbs.all(v, v in ${listed(verbs)}))`,
).join(" || ");

const roles: Policy = {
  name: "argosy-roles",
  resources: [{ group: "rbac.authorization.k8s.io", resources: ["roles"] }],
  operations: ["CREATE", "UPDATE"],
  variables: [
    IN_INSTANCE,
    { name: "rules", expression: "has(object.rules) ? object.rules : []" },
    {
      name: "isPlain",
      expression: "variables.rules.all(rule, has(rule.apiGroups) && has(rule.resources) && !has(rule.nonResourceURLs))",
    },
    {
      name: "isImpersonation",
      // A rule without resource names would allow every account.
      expression: `request.namespace == ${ACCOUNTS} && object.metadata.name.startsWith('read-') && variables.rules.all(rule, rule.apiGroups.all(g, g == '') && rule.resources.all(r, r == 'serviceaccounts') && rule.verbs.all(v, v == 'impersonate') && has(rule.resourceNames) && rule.resourceNames.size() > 0 && rule.resourceNames.all(n, n.startsWith('u-')))`,
    },
    {
      name: "isController",
      expression: `variables.isInstance && object.metadata.name == '${CONTROLLER}' && variables.rules.all(rule, ${controllerRule})`,
    },
  ],
  validations: [
    {
      expression: "variables.isPlain && (variables.isImpersonation || variables.isController)",
      message: `Argosy's Roles let an instance act as units' accounts, named one by one, or its controller work in the instance's namespace, and nothing else`,
    },
  ],
};

const isReader = `object.metadata.name == '${READER_ROLE}'`;

const clusterRoles: Policy = {
  name: "argosy-cluster-roles",
  resources: [{ group: "rbac.authorization.k8s.io", resources: ["clusterroles"] }],
  operations: ["CREATE", "UPDATE"],
  variables: [{ name: "rules", expression: "has(object.rules) ? object.rules : []" }],
  validations: [
    {
      expression: `object.metadata.name == '${DEPLOYER_ROLE}' || ${isReader}`,
      message: `Argosy writes no ClusterRole but ${DEPLOYER_ROLE} and ${READER_ROLE}`,
    },
    {
      expression:
        "!has(object.aggregationRule) && (!has(object.metadata.labels) || object.metadata.labels.all(l, !l.startsWith('rbac.authorization.k8s.io/')))",
      message: `${DEPLOYER_ROLE} and ${READER_ROLE} take their rules from no other role and give them to none`,
    },
    {
      expression: `variables.rules.all(rule, has(rule.apiGroups) && has(rule.resources) && !has(rule.nonResourceURLs) && rule.apiGroups.all(g, g != '*' && !(g in ${listed(FORBIDDEN_GROUPS)})) && rule.resources.all(r, !r.startsWith('*') && !(r.split('/')[0] in ${listed(FORBIDDEN_CORE)}) && (!r.contains('/') || r.split('/')[1] in ${listed(HARMLESS_SUBRESOURCES)})) && rule.verbs.all(v, v in ${listed(DEPLOYER_VERBS)}))`,
      message: `${DEPLOYER_ROLE} and ${READER_ROLE} hold no right over RBAC, tokens, impersonation, quotas or limits, and no wildcard`,
    },
    {
      // Who may get a subresource of pods, nodes or services by it runs commands: exec, port-forward and proxy are reads to RBAC.
      expression: `!(${isReader}) || variables.rules.all(rule, rule.verbs.all(v, v in ${listed(READER_VERBS)}) && rule.resources.all(r, !r.contains('/') && r != 'nodes'))`,
      message: `${READER_ROLE} reads objects and nothing else`,
    },
  ],
};

const namespaces: Policy = {
  name: "argosy-namespaces",
  resources: [{ group: "", resources: ["namespaces"] }],
  operations: ["CREATE", "UPDATE", "DELETE"],
  validations: [
    {
      expression: `(oldObject == null || (${hasInstanceLabel("oldObject")})) && (object == null || (${hasInstanceLabel("object")}))`,
      message: `Argosy writes and deletes namespaces of instances alone, which carry the label ${LABEL_INSTANCE}`,
    },
  ],
};

const definitions: Policy = {
  name: "argosy-definitions",
  resources: [{ group: "apiextensions.k8s.io", resources: ["customresourcedefinitions"] }],
  operations: ["CREATE", "UPDATE"],
  validations: [
    {
      // Whoever changes a definition can have its objects converted by a server of his own.
      expression: "object.spec.group == 'argoproj.io'",
      message: "Argosy writes no definitions but Argo CD's",
    },
  ],
};

const namespacedObjects: Policy = {
  name: "argosy-instance-objects",
  resources: [
    {
      group: "",
      resources: ["configmaps", "secrets", "serviceaccounts", "services", "resourcequotas", "limitranges", "pods"],
    },
    { group: "apps", resources: ["deployments", "statefulsets"] },
    { group: "networking.k8s.io", resources: ["networkpolicies"] },
    { group: "argoproj.io", resources: ["applications", "applicationsets", "appprojects"] },
  ],
  operations: ["CREATE", "UPDATE", "DELETE"],
  variables: [IN_INSTANCE],
  validations: [
    {
      // A Secret can ask for the token of any account of its namespace, and a pod can run as any.
      expression: `variables.isInstance || (request.namespace == ${ACCOUNTS} && (request.resource.resource == 'serviceaccounts' || (request.resource.resource == 'secrets' && request.operation == 'DELETE')))`,
      message: `Argosy writes and deletes these objects in instances' namespaces alone, and accounts in ${ACCOUNTS_NAMESPACE}, where it deletes Secrets too`,
    },
  ],
};

const tokens: Policy = {
  name: "argosy-tokens",
  resources: [{ group: "", resources: ["serviceaccounts/token"] }],
  operations: ["CREATE"],
  validations: [
    {
      // By its own name a process would be whoever reads its Secret.
      expression: `request.namespace == ${ACCOUNTS} && (request.name.startsWith('read-') || request.name.startsWith('u-'))`,
      message: `Argosy asks for tokens of instances' and units' accounts in ${ACCOUNTS_NAMESPACE} alone`,
    },
  ],
};

const labelsOf = (object: string): string => `has(${object}.metadata.labels) ? ${object}.metadata.labels : {}`;
const isOther = `!k.startsWith('${CLASS_LABELS}')`;

/** Users may have the right to label their own namespaces: the class is not theirs to choose. */
const classLabels: Policy = {
  name: CLASS_LABELS_POLICY,
  // Labels can be written through the subresources too.
  resources: [{ group: "", resources: ["namespaces", "namespaces/status", "namespaces/finalize"] }],
  operations: ["CREATE", "UPDATE"],
  asks: "everybody",
  variables: [
    { name: "now", expression: labelsOf("object") },
    { name: "before", expression: `oldObject == null ? {} : (${labelsOf("oldObject")})` },
    {
      name: "isSame",
      expression: `variables.now.all(k, ${isOther} || (k in variables.before && variables.before[k] == variables.now[k])) && variables.before.all(k, ${isOther} || k in variables.now)`,
    },
  ],
  validations: [
    {
      expression: "variables.isSame || authorizer.group('argosy.dev').resource('classes').check('assign').allowed()",
      message: `Labels that begin with ${CLASS_LABELS} decide on which instances a workspace lives: whoever sets them needs the verb assign on classes of argosy.dev`,
    },
  ],
};

function policyObjects({ name, resources, operations, asks, variables = [], validations }: Policy): readonly InstallObject[] {
  return [
    {
      apiVersion: ADMISSION,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name, labels: installLabels },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: resources.map(({ group, resources: names }) => ({
            apiGroups: [group],
            apiVersions: ["*"],
            operations,
            resources: names,
          })),
        },
        ...(asks === "everybody"
          ? {}
          : {
              matchConditions: [
                { name: "argosy", expression: `request.userInfo.username.startsWith('system:serviceaccount:${SYSTEM_NAMESPACE}:')` },
              ],
            }),
        ...(variables.length === 0 ? {} : { variables }),
        validations: validations.map(({ expression, message }) => ({ expression, message, reason: "Forbidden" })),
      },
    },
    {
      apiVersion: ADMISSION,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name, labels: installLabels },
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ];
}
