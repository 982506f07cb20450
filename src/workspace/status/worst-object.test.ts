import { describe, expect, it } from "vitest";
import type { EngineStatus, HealthState, ResourceStatus } from "../../domain/status.ts";
import { anEngineStatus } from "../testing/builders.ts";
import { worstObjectText } from "./worst-object.ts";

const object = (name: string, status?: string, message?: string, namespace = "jane"): ResourceStatus => ({
  ...{ group: "apps", version: "v1", kind: "Deployment", namespace, name, status: "Synced" },
  ...(status === undefined ? {} : { health: { status, ...(message === undefined ? {} : { message }) } }),
});
const text = (status: HealthState, ...resources: readonly ResourceStatus[]) =>
  worstObjectText(anEngineStatus({ health: { status, message: "" }, resources }) as EngineStatus);

describe("the object that makes an application's health what it is", () => {
  it.each([
    [
      "is named with what it says of itself",
      text("Degraded", object("a", "Healthy"), object("b", "Degraded", "crash loop"), object("c")),
      "Deployment b is Degraded: crash loop",
    ],
    [
      "is the worst of several, and the others are counted",
      text("Degraded", object("a", "Progressing", "0 of 1"), object("b", "Degraded", "no"), object("c", "Degraded", "no")),
      "Deployment b is Degraded: no; 2 more objects are not healthy: see status.resources",
    ],
    [
      "is rather one that says why",
      text("Degraded", object("a", "Degraded"), object("b", "Degraded", "no")),
      "Deployment b is Degraded: no; 1 more object is not healthy: see status.resources",
    ],
    ["is named without a reason where it gives none", text("Missing", object("a", "Missing")), "Deployment a is Missing"],
    [
      "says where it is, if that is elsewhere",
      text("Degraded", object("a", "Degraded", "no", "other")),
      "Deployment a in namespace other is Degraded: no",
    ],
    [
      "is not joined by what is only suspended",
      text("Progressing", object("a", "Progressing", "0 of 1"), object("b", "Suspended")),
      "Deployment a is Progressing: 0 of 1",
    ],
    [
      "may be what is suspended",
      text("Suspended", object("a", "Suspended", "paused"), object("b", "Healthy")),
      "Deployment a is Suspended: paused",
    ],
    ["is nobody while the objects do not bear it out", text("Degraded", object("a", "Healthy"), object("b")), undefined],
  ])("%s", (_what, said, expected) => {
    expect(said).toBe(expected);
  });
});
