import { expect, it } from "vitest";
import { createHealthRegistry, renderHealth } from "./health.ts";

it("is well when every check is, and lists them by name", () => {
  const registry = createHealthRegistry();
  registry.register({ name: "watches", check: () => ({ ok: true, detail: "synced" }) });
  registry.register({ name: "database", check: () => ({ ok: true, detail: "connected" }) });
  expect(registry.report().ok).toBe(true);
  expect(renderHealth(registry.report())).toBe("ok   database: connected\nok   watches: synced\n");
});

it("is not well when one check is not, or throws", () => {
  const registry = createHealthRegistry();
  const remove = registry.register({ name: "database", check: () => ({ ok: false, detail: "no answer for 12 s" }) });
  registry.register({
    name: "odd",
    check() {
      throw new Error("oops");
    },
  });
  expect(registry.report().ok).toBe(false);
  expect(renderHealth(registry.report())).toBe("fail database: no answer for 12 s\nfail odd: the check itself failed: oops\n");
  remove();
  expect(registry.report().checks.map((check) => check.name)).toEqual(["odd"]);
});

it("is well without any check", () => {
  expect(createHealthRegistry().report()).toEqual({ ok: true, checks: [] });
});
