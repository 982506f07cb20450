import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { connectionSettings } from "./connection-settings.ts";
import { instants, numbers, sortedBy, texts } from "./sql-values.ts";

let server: TestServer;
let client: pg.Client;
beforeAll(async () => {
  server = await startTestServer();
  client = new pg.Client(connectionSettings(server.url));
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await server.stop();
});

const column = async (type: string, value: string): Promise<readonly unknown[]> =>
  (await client.query(`select v from unnest($1::${type}[]) with ordinality as i (v, place) order by place`, [value])).rows.map(
    (row) => row.v,
  );

describe("arrays of a batch", () => {
  it("bring every text to the database and back; what no text there can hold becomes a replacement character", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fc.string({ unit: "binary" }))), async (values) => {
        const expected = values.map((value) => value?.replaceAll("\0", "\u{fffd}").toWellFormed() ?? null);
        expect(await column("text", texts(values.map((value) => value ?? undefined)))).toEqual(expected);
      }),
    );
    expect(await column("text", texts(["null", "NULL", "", " ", "{}", '"', "\\", "a,b", "\ud800"]))).toEqual([
      "null",
      "NULL",
      "",
      " ",
      "{}",
      '"',
      "\\",
      "a,b",
      "\u{fffd}",
    ]);
  });

  it("bring whole numbers and times to the millisecond", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.maxSafeInteger()), fc.array(fc.integer({ min: 0, max: 4_102_444_800_000 })), async (whole, times) => {
        expect(await column("bigint", numbers(whole))).toEqual(whole.map((value) => (Object.is(value, -0) ? 0 : value)));
        expect(await column("timestamptz", instants(times.map(millis)))).toEqual(times);
      }),
    );
    expect(await column("bigint", numbers([1, undefined]))).toEqual([1, null]);
    expect(await column("timestamptz", instants([undefined]))).toEqual([null]);
    expect(
      (
        await client.query(
          "select array[1, 9007199254740991]::bigint[] as a, '{}'::bigint[] as b, '2026-01-02 03:04:05.6789+00'::timestamptz as c",
        )
      ).rows[0],
    ).toEqual({ a: [1, 9007199254740991], b: [], c: Date.UTC(2026, 0, 2, 3, 4, 5, 678) });
  });

  it("are sorted as the database sorts, part by part", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string({ unit: "grapheme-ascii" }), fc.string({ unit: "grapheme-ascii" }))), async (rows) => {
        const sorted = await client.query(
          `select a, b from unnest($1::text[], $2::text[]) as i (a, b) order by a collate "C", b collate "C"`,
          [texts(rows.map(([a]) => a)), texts(rows.map(([, b]) => b))],
        );
        expect(
          sortedBy(
            rows,
            ([a]) => a,
            ([, b]) => b,
          ),
        ).toEqual(sorted.rows.map(({ a, b }) => [a, b]));
      }),
    );
  });
});
