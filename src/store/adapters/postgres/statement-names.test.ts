import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** A connection prepares a name once: a second text under it is refused, in the first process that sends both. */
it("no two statements have the same name", () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const places = files.flatMap((file) =>
    [...readFileSync(join(import.meta.dirname, file), "utf8").matchAll(/\bname: "([a-z0-9_]+)",?\s+text:/g)].map(([, name]) => ({
      file,
      name,
    })),
  );
  const twice = [...Map.groupBy(places, ({ name }) => name).values()].filter((same) => same.length > 1);
  expect(places.length).toBeGreaterThan(150);
  expect(twice).toEqual([]);
});
