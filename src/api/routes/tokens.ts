import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { RefusedError } from "../../domain/errors.ts";
import { CLASS_KEY, WORKSPACE_PATTERN } from "../../domain/scope.ts";
import { TOKEN_ROLES } from "../../store/token/port.ts";
import { mayMakeToken } from "../auth.ts";
import type { ApiDeps } from "../port.ts";
import { tokenViewSchema } from "../schema.ts";
import { LONGEST_LIFETIME_S, MOST_IN_SCOPE, makeToken, revokeToken, scopeOf, TOKEN_NAME, USUAL_LIFETIME_S } from "../token-orders.ts";
import { tokenView } from "../views.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
const name = z.string().regex(TOKEN_NAME).describe("up to 63 lower-case letters, digits, dots and dashes");
const body = z.strictObject({
  name,
  role: z.enum(TOKEN_ROLES),
  scope: z
    .strictObject({
      classes: z.array(z.string().regex(CLASS_KEY)).min(1).max(MOST_IN_SCOPE).optional().describe("class keys, such as eu/shared/public"),
      workspaces: z
        .array(z.string().regex(WORKSPACE_PATTERN))
        .min(1)
        .max(MOST_IN_SCOPE)
        .optional()
        .describe("namespaces; one may end in *. Nothing but workspaces is seen or changed then"),
    })
    .nullish()
    .describe("what the role is limited to: classes, workspaces, or both, which then have to hold together. By default the whole fleet"),
  owner: z.string().trim().min(1).max(200).nullish().describe("whom to ask about it; by default whoever makes it"),
  expiresInSeconds: z
    .number()
    .int()
    .min(60)
    .max(LONGEST_LIFETIME_S)
    .nullable()
    .optional()
    .describe(`when it ends; null: never. By default ${USUAL_LIFETIME_S / 86_400} days`),
});
const made = tokenViewSchema
  .extend({ token: z.string().describe("the token itself, which is shown here and never again") })
  .meta({ id: "NewToken" });

export function addTokenList(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/tokens",
    {
      schema: {
        operationId: "listTokens",
        summary: "Tokens of this API, by name: whose they are, when they end and when they were used last",
        security,
        response: { 200: z.object({ items: z.array(tokenViewSchema) }) },
      },
    },
    async () => ({ items: (await deps.store.tokens.list(deadline())).map(tokenView) }),
  );
}

/** What only approvers do: tokens are what everything else is allowed by. */
export function addTokenRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const parts = { tokens: deps.store.tokens, clock: deps.clock };
  app.post(
    "/v1/tokens",
    {
      schema: {
        operationId: "createToken",
        summary: "Makes a token, or replaces the one of that name; the answer is the only place it can be read",
        ...{ security, body, response: { 201: made } },
      },
    },
    async ({ body: asked, actor, role }, reply) => {
      if (!mayMakeToken(role, asked.role))
        throw new RefusedError(`${actor} has role ${role}, and may not make a token with role ${asked.role}`, { code: "api.token-role" });
      const { owner, scope, ...rest } = asked;
      const order = { ...rest, owner: owner ?? undefined, scope: scope ? scopeOf(scope) : undefined, actor };
      const { secret, record } = await makeToken(parts, order, deadline());
      return reply
        .code(201)
        .header("cache-control", "no-store")
        .send({ ...tokenView(record), token: secret });
    },
  );
  app.delete(
    "/v1/tokens/:name",
    {
      schema: {
        operationId: "revokeToken",
        summary: "Refuses a token from now on; a process may accept it for five seconds more",
        ...{ security, params: z.object({ name }), response: { 200: z.object({ name: z.string() }) } },
      },
    },
    async ({ params, actor }) => {
      await revokeToken(parts, { name: params.name, actor }, deadline());
      return { name: params.name };
    },
  );
}
