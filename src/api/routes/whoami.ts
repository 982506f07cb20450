import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { rfc3339 } from "../../domain/clock.ts";
import { TOKEN_ROLES } from "../../store/token/port.ts";
import type { Caller } from "../identity/port.ts";
import { grantsOf } from "../identity/scope.ts";

const role = z.enum(TOKEN_ROLES);
const grant = z.object({
  role,
  classes: z.array(z.string()).nullable().describe("class keys it is limited to; null: not by class"),
  workspaces: z.array(z.string()).nullable().describe("workspaces it is limited to, where * stands for any end; null: not by workspace"),
});
const whoami = z
  .object({
    actor: z.string().describe("as the journal has it"),
    way: z.enum(["token", "oidc", "kubernetes"]).describe("token: one of Argosy's own; oidc: of an issuer; kubernetes: of the API cluster"),
    role: role.describe("the highest it has"),
    grants: z.array(grant).describe("every role it has, and where"),
    until: z.iso.datetime().nullable().describe("when its token expires; null: not known here, or never"),
  })
  .meta({ id: "Whoami" });
export type WhoamiView = z.infer<typeof whoami>;

/** Who a caller is for the server. */
export function addWhoamiRoute(server: FastifyInstance): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/whoami",
    {
      schema: {
        operationId: "readWhoami",
        summary: "Who the caller is for the server, by which way, and what it may do",
        security: [{ token: [] }],
        response: { 200: whoami },
      },
    },
    async ({ caller, actor, role: highest }) => viewOf(caller ?? { name: actor, role: highest }),
  );
}

function viewOf(caller: Caller): WhoamiView {
  const { name, way = "token", role: highest, until } = caller;
  const grants = grantsOf(caller).map(({ role: given, scope }) => ({
    role: given,
    classes: scope?.classes === undefined ? null : [...scope.classes],
    workspaces: scope?.workspaces === undefined ? null : [...scope.workspaces],
  }));
  return { actor: name, way, role: highest, grants, until: until === undefined ? null : rfc3339(until) };
}
