import type { ResourceType } from "../resource.ts";
import type { JsonMap } from "./json.ts";

/** A refusal as an API server words it. Thrown inside the fake only; its HTTP layer turns it into an answer. */
export class StatusAnswer extends Error {
  readonly status: number;
  readonly body: JsonMap;

  constructor(status: number, body: JsonMap) {
    super(String(body["message"]));
    this.status = status;
    this.body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...body, code: status };
  }
}

const qualified = (type: ResourceType): string => (type.group === "" ? type.plural : `${type.plural}.${type.group}`);

const details = (type: ResourceType, name: string): JsonMap => ({
  name,
  kind: type.plural,
  ...(type.group === "" ? {} : { group: type.group }),
});

export function notFound(type: ResourceType, name: string): StatusAnswer {
  return new StatusAnswer(404, { message: `${qualified(type)} "${name}" not found`, reason: "NotFound", details: details(type, name) });
}

export function alreadyExists(type: ResourceType, name: string, isDeleting: boolean): StatusAnswer {
  const message = `${isDeleting ? "object is being deleted: " : ""}${qualified(type)} "${name}" already exists`;
  return new StatusAnswer(409, { message, reason: "AlreadyExists", details: details(type, name) });
}

export function conflict(
  type: ResourceType,
  name: string,
  why = "the object has been modified; please apply your changes to the latest version and try again",
): StatusAnswer {
  return new StatusAnswer(409, {
    message: `Operation cannot be fulfilled on ${qualified(type)} "${name}": ${why}`,
    reason: "Conflict",
    details: details(type, name),
  });
}

export function invalid(type: ResourceType, name: string, cause: { readonly field: string; readonly message: string }): StatusAnswer {
  const causes = [{ reason: "FieldValueInvalid", message: cause.message, field: cause.field }];
  return new StatusAnswer(422, {
    message: `${type.kind} "${name}" is invalid: ${cause.field}: ${cause.message}`,
    reason: "Invalid",
    details: { ...details(type, name), kind: type.kind, causes },
  });
}

/** What a patch gets that does not apply, be it for a failed `test` or a missing parent: the server names neither. */
export function patchDoesNotApply(): StatusAnswer {
  return new StatusAnswer(422, {
    message: "the server rejected our request due to an error in our request",
    reason: "Invalid",
    details: {},
  });
}

export function applyConflict(fields: readonly string[]): StatusAnswer {
  const causes = fields.map((field) => ({ reason: "FieldManagerConflict", message: "conflict with another manager", field }));
  return new StatusAnswer(409, { message: `Apply failed with ${fields.length} conflicts`, reason: "Conflict", details: { causes } });
}

export function badRequest(message: string): StatusAnswer {
  return new StatusAnswer(400, { message, reason: "BadRequest" });
}

export function expired(message: string): StatusAnswer {
  return new StatusAnswer(410, { message, reason: "Expired" });
}
