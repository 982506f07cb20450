import { rfc3339 } from "../../../domain/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import { API_GROUP, API_VERSION, EVENT_MANAGER } from "../../api/names.ts";
import type { EventRecorder, UserEvent } from "../../events/port.ts";

export const EVENTS: ResourceType = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

/** Longest message that an API server takes in an Event. */
const LONGEST = 1024;

/**
 * Writes Events (core/v1) by server-side apply: one request whether it is new or happened again, under a name that is the same for
 * the same Event whoever writes it. They are gone after the API server's time for Events, an hour by default.
 */
export function createEventRecorder(client: KubeClient): EventRecorder {
  return {
    async record(event, signal) {
      await client.apply(EVENTS, objectOf(event), { fieldManager: EVENT_MANAGER }, signal);
    },
  };
}

function objectOf({ about, type, reason, message, digest, count, firstAt, lastAt }: UserEvent): KubeObject {
  const { kind, namespace, name, uid } = about;
  return {
    ...{ apiVersion: "v1", kind: "Event", metadata: { namespace, name: `${nameOf(name)}.${digest}` } },
    ...{ type, reason, message: message.slice(0, LONGEST).toWellFormed(), count },
    ...{ firstTimestamp: rfc3339(firstAt), lastTimestamp: rfc3339(lastAt) },
    involvedObject: { apiVersion: `${API_GROUP}/${API_VERSION}`, kind, namespace, name, uid },
    source: { component: "argosy" },
    reportingComponent: "argosy",
  } as KubeObject;
}

/** Of at most 200 characters, with a letter or digit at its end. */
function nameOf(name: string): string {
  return name.slice(0, 200).replace(/[^a-z0-9]+$/, "");
}
