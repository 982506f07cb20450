import type { DeployedStanding, Photograph } from "../history.ts";
import { unfinished } from "./moves.ts";

/**
 * Everything that does not agree in a photograph, sorted; empty if the fleet is as it should be. Each deployment's objects are as Git has
 * them and its status says Ready; there are no other objects; there is a row for each resource, and an Application on the owner for each
 * row; owner bindings name the owners' accounts under their epochs; units have the class that labels ask for.
 */
export function disagreements(photograph: Photograph): readonly string[] {
  return [
    ...photograph.deployments.flatMap((each) => ofDeployment(photograph, each)),
    ...orphans(photograph),
    ...ofRows(photograph),
    ...ofApplications(photograph),
    ...ofOwnerBindings(photograph),
    ...ofClasses(photograph),
    ...unfinished(photograph),
    ...stale(photograph),
  ].sort();
}

function ofDeployment({ objects }: Photograph, deployment: DeployedStanding): readonly string[] {
  const { namespace, name, isDeleting, isReady, wanted } = deployment;
  const what = `deployment ${namespace}/${name}`;
  if (isDeleting) return [`${what} is still being deleted`];
  const missing = Object.entries(wanted).filter(
    ([object, content]) => !objects.some((each) => each.namespace === namespace && each.name === object && each.content === content),
  );
  return [...missing.map(([object]) => `${what} misses ${object} as Git has it`), ...(isReady ? [] : [`${what} is not said to be ready`])];
}

function orphans({ objects, deployments }: Photograph): readonly string[] {
  const wanted = new Set(deployments.flatMap(({ namespace, wanted: files }) => Object.keys(files).map((file) => `${namespace}/${file}`)));
  return objects.flatMap(({ namespace, name }) => (wanted.has(`${namespace}/${name}`) ? [] : [`nobody wants object ${namespace}/${name}`]));
}

function ofRows({ rows, deployments }: Photograph): readonly string[] {
  const [recorded, standing] = [new Set(rows.map(({ uid }) => uid)), new Set(deployments.map(({ uid }) => uid))];
  return [
    ...deployments.flatMap(({ namespace, name, uid }) =>
      recorded.has(uid) ? [] : [`deployment ${namespace}/${name} has no row with an owner`],
    ),
    ...rows.flatMap(({ uid, argoName }) => (standing.has(uid) ? [] : [`row ${argoName} has no deployment`])),
  ];
}

function ofApplications({ rows, applications }: Photograph): readonly string[] {
  const wanted = new Set(rows.map(({ argoName, owner }) => `${owner}/${argoName}`));
  const standing = new Set(applications.map(({ instance, name }) => `${instance}/${name}`));
  return [
    ...[...wanted].flatMap((each) => (standing.has(each) ? [] : [`there is no Application ${each}`])),
    ...applications.flatMap(({ instance, name, isDeleting }) => [
      ...(wanted.has(`${instance}/${name}`) ? [] : [`nobody wants Application ${instance}/${name}`]),
      ...(isDeleting ? [`Application ${instance}/${name} is still being deleted`] : []),
    ]),
  ];
}

/** I6: edits that did not reach the owner. */
export function stale({ applications, deployments, rows }: Photograph): readonly string[] {
  return deployments.flatMap(({ uid, path, namespace, name, isDeleting }) => {
    const row = rows.find((each) => each.uid === uid);
    const found = applications.find((each) => each.instance === row?.owner && each.name === row?.argoName);
    if (isDeleting || found === undefined || found.path === path) return [];
    return [`deployment ${namespace}/${name} wants ${path}, and its Application deploys ${found.path}`];
  });
}

function ofOwnerBindings({ ownerBindings, units, rows }: Photograph): readonly string[] {
  const wrong = ownerBindings.flatMap(({ namespace, subjects, epoch }) => {
    const unit = units.find((each) => each.namespace === namespace && subjects.includes(each.account));
    const isRight = unit !== undefined && subjects.length === 1 && unit.epoch === epoch;
    return isRight ? [] : [`the owner binding of ${namespace} names ${subjects.join(", ") || "nobody"} under epoch ${epoch}`];
  });
  const missing = [...new Set(rows.map(({ namespace }) => namespace))].filter(
    (namespace) => !ownerBindings.some((each) => each.namespace === namespace),
  );
  return [...wrong, ...missing.map((namespace) => `there is no owner binding in ${namespace}`)];
}

/** A unit lives on an instance of its class, and that is the one its namespace asks for. */
function ofClasses({ units }: Photograph): readonly string[] {
  return units.flatMap(({ namespace, class: own, ownerClass, askedClass = own }) => [
    ...(own === ownerClass ? [] : [`the unit of ${namespace} is of class ${own}, and lives on an instance of ${ownerClass}`]),
    ...(own === askedClass ? [] : [`${namespace} asks for class ${askedClass}, and has ${own}`]),
  ]);
}
