import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { nearest } from "../domain/nearest.ts";
import { pageQuery } from "./schema.ts";

/** Whoever asks for a list asks for it page by page, also where it is given whole. */
const OF_ANY_LIST = Object.keys(pageQuery.shape);

/**
 * Refuses requests with a parameter that their route does not know. Ignored, it would give an answer to another question: a list
 * of everything to whoever asked for one workspace.
 */
export function refuseUnknownParameters(app: FastifyInstance): void {
  app.addHook("preValidation", async ({ caller, query, routeOptions: { schema } }) => {
    // Probes are nobody's, and some bring parameters of their own.
    if (caller === undefined || schema === undefined) return;
    const { querystring } = schema;
    const named = querystring instanceof z.ZodObject ? Object.keys(querystring.shape) : [];
    const known = new Set([...named, ...OF_ANY_LIST]);
    const unknown = Object.keys(query as object).filter((name) => !known.has(name));
    if (unknown.length === 0) return;
    const validation = unknown.map((name) => ({
      instancePath: `/${name}`,
      message: `is no parameter of this request${takes(name, named)}`,
    }));
    throw Object.assign(new Error("unknown parameters"), { validation });
  });
}

function takes(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `: did you mean ${meant}?`;
  return known.length === 0 ? ", which takes none" : `, which takes ${known.join(", ")}`;
}
